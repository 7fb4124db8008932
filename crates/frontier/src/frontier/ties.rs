//! Mirrors: their messages, the effect of looks on them, and the turns passed over.

use super::Frontier;
use crate::page_record::ScheduledPage;
use crate::request::WantedReason;
use crate::ties::{FAILURES_BORNE, can_be_passed, read_message, with_ties, write_message};
use messages::{ChangeEstimate, FetchOutcome, MirrorMessage, Verdict};
use mirrors::{Message, MirrorPeer, Saying};
use page::{PageId, SiteKey, Timestamp};
use revisit::columns::Slot;

impl Frontier {
    /// Whether pages with the same text share fetches here.
    pub fn shares_fetches(&self) -> bool {
        self.rules.mirrors
    }

    /// Takes in a message to a page of ours, from another page or from the matcher. Returns the answers.
    ///
    /// # Errors
    /// When the message cannot be read.
    pub fn take_message(
        &mut self,
        message: &MirrorMessage,
        page: &mut ScheduledPage,
    ) -> Result<Vec<MirrorMessage>, String> {
        let about = MirrorPeer { page_id: message.about, site: message.about_site.clone() };
        let saying = read_message(message)?;
        // A follower was found changed. This page has most likely changed too, and a look at it brings the two together
        // again.
        if let Saying::Leave { changed_at: Some(changed_at), .. } = saying {
            let was_follower =
                page.ties.iter().flat_map(|ties| &ties.followers).any(|known| known.peer.page_id == message.about);
            let is_older = page.last_look_at.is_some_and(|last| last < changed_at);
            if was_follower && is_older {
                page.request = page.request.want(WantedReason::Probe);
            }
        }
        let messages = with_ties(message.to, page, |ties, me, rank| ties.receive(me, rank, &about, saying));
        let before = self.pages.weight(message.to);
        let slot = self.set(message.to, page);
        if before != self.pages.weight(message.to) {
            self.plan_by_weight(slot, page);
        }
        Ok(messages)
    }

    /// Answers a message to an unknown page of `site`: a page that wants to follow it must not wait.
    ///
    /// # Errors
    /// When the message cannot be read.
    pub fn answer_for_unknown(
        &mut self,
        message: &MirrorMessage,
        site: SiteKey,
    ) -> Result<Option<MirrorMessage>, String> {
        self.count_unknown_page();
        let saying = match read_message(message)? {
            Saying::Follow { .. } => Saying::Release,
            Saying::Accept { epoch, .. } => Saying::Leave { epoch, changed_at: None },
            Saying::Candidate { .. } | Saying::Release | Saying::Leave { .. } => return Ok(None),
        };
        let to = MirrorPeer { page_id: message.about, site: message.about_site.clone() };
        Ok(Some(write_message(Message { to, about: MirrorPeer { page_id: message.to, site }, saying })))
    }

    /// Updates a page's ties after a look. The caller stores the page.
    pub(crate) fn judge_ties(&mut self, page: &mut ScheduledPage, estimate: &ChangeEstimate) -> Vec<MirrorMessage> {
        let Some(ties) = &mut page.ties else { return Vec::new() };
        ties.fetched();
        let ChangeEstimate { look, judgement, .. } = estimate;
        let changed = judgement.verdict.is_change() == Some(true);
        let is_lost = judgement.verdict == Verdict::Gone
            || look.outcome == FetchOutcome::RobotsDisallowed
            || page.request.failures >= FAILURES_BORNE;
        if is_lost {
            with_ties(look.page_id, page, |ties, me, _| ties.dissolve(me))
        } else if changed {
            with_ties(look.page_id, page, |ties, me, _| ties.changed(me, look.fetched_at))
        } else {
            Vec::new()
        }
    }

    /// Passes a page over if its content is looked at through a mirror. Returns `false` when the page must be fetched.
    pub(crate) fn pass_over(&mut self, slot: Slot, id: PageId, page: &mut ScheduledPage, now: Timestamp) -> bool {
        if !can_be_passed(page, &self.rules, now) {
            return false;
        }
        let Some(ties) = &mut page.ties else { return false };
        ties.passed(now);
        self.counts.spared += 1;
        self.set(id, page);
        self.plan_after_look(slot, page, Verdict::Unknown, now, None);
        true
    }
}
