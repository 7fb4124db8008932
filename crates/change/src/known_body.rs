//! The digest and time of a page's last look, and their meaning for the next one.

use crate::judgement::Judgement;
use crate::page_state::PageState;
use document::ContentDigest;

/// Digest and time of the last look at a page. The running detector and every tool that measures it judge by these, each with
/// its own store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownBody {
    /// The digest of the body. `None` if none is known: the page is to come again with its body.
    pub digest: Option<ContentDigest>,
    /// When the page was last looked at, in UNIX seconds.
    pub looked_at_s: Option<i64>,
}

impl KnownBody {
    /// After an answer that the page is gone: no digest is known.
    pub fn gone(now_s: i64) -> Self {
        Self { digest: None, looked_at_s: Some(now_s) }
    }

    /// Looks at a body. If it is not known, `judge` reads and judges it. `judge` gets the seconds since the last look,
    /// for [`PageState::observe`], and may return what it has read.
    pub fn look<R>(
        &mut self,
        state: &mut PageState,
        digest: Option<ContentDigest>,
        now_s: i64,
        judge: impl FnOnce(&mut PageState, Option<i64>) -> (Judgement, R),
    ) -> (Judgement, Option<R>) {
        let is_known = digest.is_some() && digest == self.digest && !state.is_new();
        let since_last_look_s = self.looked_at_s.map(|last| now_s - last);
        let (judgement, read) = match is_known {
            true => (state.observe_unchanged(since_last_look_s), None),
            false => {
                let (judgement, read) = judge(state, since_last_look_s);
                (judgement, Some(read))
            }
        };
        // After an error in the page's place, the page is to come again with its body.
        *self = Self { digest: digest.filter(|_| !judgement.held), looked_at_s: Some(now_s) };
        (judgement, read)
    }
}
