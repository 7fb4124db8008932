//! Looks at a page as the running detector does, by the same code ([`KnownBody`]).
//!
//! A recorded history can be looked at only when it was. An invented one can be fetched again at once, so there the
//! second look that the detector asks for is made, and noise is proven by it. The tests of the detector compare the two,
//! look by look (`services/detector/tests/integration/live.rs`).
//!
//! Only one page is known here. The detector also knows the page's host, where several pages may turn into one error page
//! at once, and the pages that a sitemap or feed lists.

use change::{Judgement, KnownBody, PageState, Version};
use document::{Body, content_digest};
use page::UrlRules;

/// Seconds until a second look is made. The scheduler asks at once; a polite fetcher takes about this long.
const SECOND_LOOK_S: i64 = 60;
/// The most looks at a page without time between them.
const MAX_LOOKS_IN_A_ROW: usize = 3;

/// A page and the detector's memory of it.
#[derive(Clone)]
pub struct LivePage<'a> {
    urls: &'a UrlRules,
    content_type: &'a str,
    address: &'a str,
    state: PageState,
    known: KnownBody,
}

impl<'a> LivePage<'a> {
    /// A page that was never looked at.
    pub fn new(urls: &'a UrlRules, content_type: &'a str, address: &'a str) -> Self {
        Self { urls, content_type, address, state: PageState::default(), known: KnownBody::default() }
    }

    /// Judges one fetched body.
    pub fn look(&mut self, body: &[u8], now_s: i64) -> Judgement {
        let Self { urls, content_type, address, state, known } = self;
        let digest = content_digest(body);
        let judge = |state: &mut PageState, since_last_look_s| {
            let body = Body::new(body, Some(content_type), Some(address)).with_digest(digest);
            (state.observe(&Version::of_body(&body, urls).seen_at(now_s), since_last_look_s), ())
        };
        known.look(state, Some(digest), now_s, judge).0
    }

    /// Judges an answer that the page is gone for good.
    pub fn gone(&mut self, now_s: i64) -> Judgement {
        self.known = KnownBody::gone(now_s);
        self.state.observe_gone()
    }

    /// Fetches and judges a page, again and again while the detector wants a second look, and shows each judgement.
    pub fn visit(&mut self, now_s: i64, mut fetch: impl FnMut() -> String, mut see: impl FnMut(&Judgement, &str)) {
        for look in 0..MAX_LOOKS_IN_A_ROW {
            let body = fetch();
            let judgement = self.look(body.as_bytes(), now_s + look as i64 * SECOND_LOOK_S);
            see(&judgement, &body);
            if judgement.look_again_after_s() != Some(0) {
                break;
            }
        }
    }
}
