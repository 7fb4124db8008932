//! Deletes pages that an operator has forgotten, or that made room for others.

use crate::Detector;
use crate::bands::{self, BandedPage};
use crate::state::{CONTENTS, PAGES, PageSketch, VERSIONS};
use change::{LookMemory, PageState};
use messages::topics::{PAGE_OBSERVATIONS, RANKER_EVENTS};
use messages::{FetchResult, LookJudgement, PageObservation, PageRemoval, Verdict};
use stream::{Context, ProcessError};

impl Detector {
    /// Deletes everything about a page, and sends its removal on. Of a page that an operator has forgotten, the number of
    /// the last request stays: its answer may be under way, and would be taken for the first look at a new page.
    pub(crate) fn remove(&mut self, removal: PageRemoval, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let id = removal.url.page_id();
        // The matcher may keep bands from a time when mirrors were searched for, and the ranker what topics made of the page.
        let is_forgotten = removal.last_attempt.is_some();
        if (self.rules.mirrors || is_forgotten)
            && let Some(version) = context.get(VERSIONS, &id)?
        {
            let page = BandedPage { id, host: removal.url.host(), version_at: removal.removed_at };
            bands::tell(&page, &PageState::new(LookMemory::default(), version.0), &PageState::default(), context);
        }
        match removal.last_attempt {
            Some(attempt) => context.put(PAGES, &id, &PageSketch { attempt, forgotten: true, ..PageSketch::default() }),
            None => context.delete(PAGES, &id),
        }
        context.delete(VERSIONS, &id);
        context.delete(CONTENTS, &id);
        self.counts.removed += 1;
        if is_forgotten || self.rules.follows_links() {
            context.emit(RANKER_EVENTS, removal.clone());
        }
        context.emit(PAGE_OBSERVATIONS, removal);
        Ok(())
    }

    /// An answer to the last request for a forgotten page. The host was asked, and the scheduler waits to hear of it.
    /// Nothing else is.
    pub(crate) fn pass_over(result: FetchResult, forgotten: &PageSketch, context: &mut Context<'_>) {
        if result.look.attempt == forgotten.attempt {
            let judgement = LookJudgement::new(Verdict::Unknown);
            context.emit(PAGE_OBSERVATIONS, PageObservation { look: result.look, judgement });
        }
    }
}
