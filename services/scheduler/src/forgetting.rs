//! Pages that an operator has forgotten, until nothing more can come of them.

use crate::effects::Effect;
use crate::state::{FORGOTTEN, ForgottenPage, PAGES};
use crate::{Scheduler, load};
use frontier::PageSource;
use messages::topics::{FETCH_RESULTS, SCHEDULER_EVENTS};
use messages::{Command, CommandShare, Look, PageRemoval};
use page::{CanonicalUrl, Host};
use stream::{Context, ProcessError};

/// Pages of a site that are forgotten for one record.
const PAGES_AT_ONCE: usize = 500;
/// Pages that are read for one record, to find those that were found on a page or site.
const PAGES_READ_AT_ONCE: usize = 1_000;

impl Scheduler {
    /// Deletes a page in all stages, and lets nothing but a seed bring it back. Returns whether it was known.
    pub(crate) fn forget(&mut self, url: CanonicalUrl, context: &mut Context<'_>) -> Result<bool, ProcessError> {
        let (id, now) = (url.page_id(), context.now());
        let page = context.get(PAGES, &id)?;
        let was_known = page.is_some();
        let before = context.get(FORGOTTEN, &id)?;
        let (last_attempt, lease_until) = match (&page, before) {
            (Some(page), _) => (page.request.attempt, page.request.lease_until()),
            // Forgotten again: the answer is awaited as before.
            (None, Some(before)) => (before.last_attempt, before.lease_until),
            // It may have been known and made room for another. Its attempts were lower then.
            (None, None) => (self.frontier.first_attempt(&url, now), None),
        };
        let forgotten = ForgottenPage { forgotten_at: now, last_attempt, lease_until, deleted_at: None, gone_at: None };
        self.frontier.deny(id);
        self.answers_due.extend(lease_until.map(|until| (until, id)));
        context.put(FORGOTTEN, &id, &forgotten);
        self.remove(removal(url, &forgotten), page, context);
        Ok(was_known)
    }

    /// Forgets some pages of a host and of the hosts below it. While there are more, the command comes again as a record of
    /// its own: each batch stays small, and a crash in between loses nothing. The front page of the host is forgotten last,
    /// whether or not it is known: when it is gone, so are the others.
    pub(crate) fn forget_site(
        &mut self,
        host: &Host,
        command: &Command,
        context: &mut Context<'_>,
    ) -> Result<Effect, ProcessError> {
        let front =
            host.front_page().map_err(|error| ProcessError::SetAside(format!("{host} is not a host: {error}")))?;
        let front = self.frontier.canonical(&front);
        let mut ids = self.frontier.pages_at_or_below(&host.name(), PAGES_AT_ONCE + 1);
        ids.retain(|id| *id != front.page_id());
        let has_more = ids.len() >= PAGES_AT_ONCE;
        ids.truncate(PAGES_AT_ONCE);
        for id in &ids {
            let url = load(*id, context)?.url;
            self.forget(url, context)?;
        }
        if has_more {
            context.emit(SCHEDULER_EVENTS, command.clone());
            return Ok(Effect::Begun(ids.len()));
        }
        Ok(Effect::Pages(ids.len() + usize::from(self.forget(front, context)?)))
    }

    /// Forgets the pages that were found first on a source, and are no seeds. Reads some pages of the partition, in the order of
    /// their ids; while there are more, the command comes again as a record of its own, from the next id on.
    pub(crate) fn forget_discovered(
        &mut self,
        source: &PageSource,
        command: &Command,
        context: &mut Context<'_>,
    ) -> Result<Effect, ProcessError> {
        let Some(share) = &command.share else {
            let why = "a command to forget discovered pages names no share; each partition needs one of its own";
            return Err(ProcessError::SetAside(why.to_owned()));
        };
        let from = share.from.map_or([0; 16], |id| id.0);
        let mut pages = context.entries_from(PAGES, &from, PAGES_READ_AT_ONCE + 1)?;
        let next = (pages.len() > PAGES_READ_AT_ONCE).then(|| pages.pop()).flatten().map(|(id, _)| id);
        let mut forgotten = 0;
        for (_, page) in pages {
            if page.was_found_on(source) {
                forgotten += usize::from(self.forget(page.url, context)?);
            }
        }
        if next.is_some() {
            let share = Some(CommandShare { from: next, ..share.clone() });
            context.emit(SCHEDULER_EVENTS, Command { share, ..command.clone() });
            return Ok(Effect::Begun(forgotten));
        }
        Ok(Effect::Pages(forgotten))
    }

    /// An answer about a page that is not known: forgotten, or evicted for another, while it was being fetched. It has
    /// left traces in the stages between.
    pub(crate) fn take_stray(&mut self, look: &Look, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let id = look.page_id;
        let Some(mut forgotten) = context.get(FORGOTTEN, &id)? else {
            let evicted = PageRemoval { url: look.url.clone(), removed_at: context.now(), last_attempt: None };
            context.emit(FETCH_RESULTS, evicted);
            return Ok(());
        };
        if look.attempt >= forgotten.last_attempt
            && let Some(until) = forgotten.lease_until.take()
        {
            self.answers_due.remove(&(until, id));
            context.put(FORGOTTEN, &id, &forgotten);
        }
        context.emit(FETCH_RESULTS, removal(look.url.clone(), &forgotten));
        Ok(())
    }

    /// A removal has been round the loop: the detector and the estimator have deleted the page.
    pub(crate) fn take_removal(
        &mut self,
        removal: &PageRemoval,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let (id, now) = (removal.url.page_id(), context.now());
        let Some(mut forgotten) = context.get(FORGOTTEN, &id)? else { return Ok(()) };
        // An older one may be of an earlier life of the page.
        if removal.removed_at == forgotten.forgotten_at {
            forgotten.deleted_at.get_or_insert(now);
            if forgotten.lease_until.is_none() {
                forgotten.gone_at.get_or_insert(now);
            }
            context.put(FORGOTTEN, &id, &forgotten);
        }
        Ok(())
    }

    /// Waits no longer for answers to requests whose lease is over.
    pub(crate) fn give_up_answers(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        while let Some(&(until, id)) = self.answers_due.first().filter(|(until, _)| *until <= now) {
            self.answers_due.pop_first();
            // It may have been seeded and forgotten since.
            let Some(forgotten) = context.get(FORGOTTEN, &id)?.filter(|it| it.lease_until == Some(until)) else {
                continue;
            };
            let gone_at = forgotten.gone_at.or(forgotten.deleted_at.map(|_| now));
            context.put(FORGOTTEN, &id, &ForgottenPage { lease_until: None, gone_at, ..forgotten });
        }
        Ok(())
    }
}

/// Every removal of a forgotten page says when it was forgotten, so that it is known again when it comes back.
fn removal(url: CanonicalUrl, forgotten: &ForgottenPage) -> PageRemoval {
    PageRemoval { url, removed_at: forgotten.forgotten_at, last_attempt: Some(forgotten.last_attempt) }
}
