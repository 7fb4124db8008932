//! Looks at a page as the running detector does.
//!
//! A recorded history can be looked at only once. An invented one can be fetched again at once, so here the second look
//! that the detector asks for is made, and noise is proven by it. This is the one place of the lab that says which rule
//! is live. The tests of the detector compare the two, look by look (`services/detector/tests/live.rs`).
//!
//! Only one page is known here. The detector also knows the page's host, where several pages may turn into one error page
//! at once, and the pages that a sitemap or feed lists.

use change::{Judgement, Noise, PageState, Version};
use document::{Body, ContentDigest, content_digest};
use page::UrlRules;

/// Seconds until a second look is made. The scheduler asks at once; a polite fetcher takes about this long.
const SECOND_LOOK_S: i64 = 60;
/// The most looks at a page without time between them.
const MAX_LOOKS_IN_A_ROW: usize = 3;

/// A page with what the detector remembers of it.
#[derive(Clone)]
pub struct LivePage<'a> {
    urls: &'a UrlRules,
    content_type: &'a str,
    address: &'a str,
    state: PageState,
    digest: Option<ContentDigest>,
    last_look_s: Option<i64>,
}

impl<'a> LivePage<'a> {
    /// A page that was never looked at.
    pub fn new(urls: &'a UrlRules, content_type: &'a str, address: &'a str) -> Self {
        Self { urls, content_type, address, state: PageState::default(), digest: None, last_look_s: None }
    }

    /// Judges one fetched body.
    pub fn look(&mut self, body: &[u8], now_s: i64) -> Judgement {
        let since_last_look_s = self.last_look_s.replace(now_s).map(|last| now_s - last);
        let digest = content_digest(body);
        if self.digest == Some(digest) {
            return self.state.observe_unchanged();
        }
        let body = Body::new(body, Some(self.content_type), Some(self.address)).with_digest(digest);
        let judgement =
            self.state.observe(&Version::of_body(&body, self.urls), Noise::ByDoubleFetch { since_last_look_s });
        // As in the service: after an error in the page's place, the page is to come again with its body.
        self.digest = (!judgement.held).then_some(digest);
        judgement
    }

    /// Fetches and judges a page, again and again while the detector wants a second look, and shows each judgement.
    pub fn visit(&mut self, now_s: i64, mut fetch: impl FnMut() -> String, mut see: impl FnMut(&Judgement, &str)) {
        for look in 0..MAX_LOOKS_IN_A_ROW {
            let body = fetch();
            let judgement = self.look(body.as_bytes(), now_s + look as i64 * SECOND_LOOK_S);
            see(&judgement, &body);
            if !judgement.wants_second_look {
                break;
            }
        }
    }
}
