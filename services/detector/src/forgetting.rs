//! Deletes pages that an operator has forgotten, or that made room for others.

use crate::Detector;
use crate::bands::{self, BandedPage};
use crate::contents::note_bytes;
use crate::history;
use crate::state::{BLIND, CONTENTS, PAGES, PageSketch, VERSIONS};
use messages::topics::{PAGE_CHANGES, PAGE_OBSERVATIONS, RANKER_EVENTS};
use messages::{FetchResult, LookJudgement, PageChange, PageObservation, PageRemoval, Verdict};
use stream::{Context, ProcessError};

impl Detector {
    /// Deletes everything about a page, and sends its removal on. The number of the last request stays if an operator
    /// has forgotten the page: its answer may be under way, and would be taken for the first look at a new page.
    pub(crate) fn remove(&mut self, removal: PageRemoval, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let id = removal.url.page_id();
        // The matcher knows it from a time when mirrors were searched for, which need not be now.
        let sketch = context.get(PAGES, &id)?;
        if let Some(sketch) = &sketch {
            let page = BandedPage { id, host: removal.url.host(), version_at: removal.removed_at };
            bands::take_out(&page, sketch, context)?;
        }
        let copy_bytes = sketch.as_ref().map_or(0, |sketch| sketch.copy_bytes);
        match removal.last_attempt {
            Some(attempt) => {
                let forgotten_at = Some(removal.removed_at);
                // The same removal comes again behind an answer that was late.
                if sketch.is_none_or(|sketch| sketch.forgotten_at != forgotten_at) {
                    self.publish_removal(&removal, context);
                }
                let sketch = PageSketch { attempt, forgotten: true, forgotten_at, ..PageSketch::default() };
                context.put(PAGES, &id, &sketch);
            }
            None => context.delete(PAGES, &id),
        }
        context.delete(VERSIONS, &id);
        context.delete(CONTENTS, &id);
        history::delete(&id, &history::stored(&id, context)?, context);
        note_bytes(copy_bytes, 0, &removal.url.site_key(), &mut self.copies, context)?;
        if self.maybe_blind.contains(&id) && context.get(BLIND, &id)?.is_some() {
            self.blind_pages -= 1;
            context.delete(BLIND, &id);
        }
        self.counts.removed += 1;
        // The ranker, too, may keep the relevance of the page, from when links were followed.
        context.emit(RANKER_EVENTS, removal.clone());
        context.emit(PAGE_OBSERVATIONS, removal);
        Ok(())
    }

    /// Publishes that an operator has forgotten a page, also one that is not known here: changes of it may be published.
    fn publish_removal(&mut self, removal: &PageRemoval, context: &mut Context<'_>) {
        let id = context.output_id().expect("a removal is an input record");
        let change = PageChange::bare(id, removal.url.clone(), Verdict::Forgotten, removal.removed_at);
        self.counts.changes += 1;
        context.emit_encoded(PAGE_CHANGES, &change, self.rules.form.encode(&change));
    }

    /// Reports the answer to the last request for a forgotten page to the scheduler, which waits for it because the host was
    /// asked. Any other late answer is dropped.
    pub(crate) fn pass_over(result: FetchResult, forgotten: &PageSketch, context: &mut Context<'_>) {
        if result.look.attempt == forgotten.attempt {
            let judgement = LookJudgement::new(Verdict::Unknown);
            context.emit(PAGE_OBSERVATIONS, PageObservation { look: result.look, judgement });
        }
    }
}
