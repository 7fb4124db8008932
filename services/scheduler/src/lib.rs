//! Which page is worth the next fetch?
//!
//! Reads what the frontier needs, asks it, and writes the result: [`frontier::Frontier`] decides. This stage owns the
//! tables and the records that travel.
//!
//! It never opens a connection and never looks into a page.

mod answers;
mod commands;
mod effects;
pub mod explain;
mod forgetting;
mod outlook;
mod saved_rules;
mod state;

pub use crate::answers::MOST_LISTED_HOSTS;
pub use crate::state::{
    FORGOTTEN, ForgottenPage, HOSTS, OUTLOOK, OutlookCell, OutlookGroup, OutlookKey, OutlookRecord, OutlookSite, PAGES,
};
pub use frontier::{
    FrontierRules, HostListing, HostReport, HostSchedule, HostTally, ListedPage, ListedSeeds, PageListing, PageSource,
    ScheduledPage, is_selected, may_be_selected,
};

use crate::effects::Effects;
use crate::saved_rules::SavedRules;
use frontier::{ChosenPage, FoundOn, Frontier, HandOut};
use messages::topics::{
    ANSWERS, AUDIT, DEMAND, FETCH_REQUESTS, FETCH_RESULTS, HOST_STOPS, RULE_SETS, SCHEDULER_EVENTS, TopicName,
};
use messages::{
    ChangeEstimate, ChangeHint, MirrorMessage, PageLinks, PageRemoval, PagesShown, QuestionDesk, RankedPages,
    SchedulerEvent, SeedFailure, SiteListing, SweepForecast,
};
use metrics::Figure;
use page::{PageId, SiteKey, Timestamp};
use settings::Settings;
use std::collections::BTreeSet;
use std::time::Duration;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec, StageTopology, StageWork};
use topology::LogNames;

/// A look that is further in the future has the time of another clock.
const CLOCKS_MAY_DIFFER: Duration = Duration::from_secs(60);

/// The advice on a seed that lists pages which the crawl does not take in.
const LIST_AS_SEED: &str = "a seed is a sitemap or feed, and the pages that it lists are not crawled; to take them in once: \
                            recrawl sitemap URL --urls | recrawl seed --file -, and always: crawl.discover = \"same-host\"";

/// The stage's tables and topics.
pub fn topology() -> StageTopology {
    let tables =
        StageTopology::new("scheduler", SCHEDULER_EVENTS).keeps(PAGES).keeps(HOSTS).keeps(OUTLOOK).keeps(FORGOTTEN);
    let writes = tables.writes(FETCH_REQUESTS).writes(FETCH_RESULTS).writes(DEMAND).writes(SCHEDULER_EVENTS);
    let writes = writes.writes(HOST_STOPS).writes(ANSWERS).writes(AUDIT);
    writes.takes_broadcasts_of(DEMAND).takes_broadcasts_of(RULE_SETS).begins_traces_with(FETCH_REQUESTS)
}

/// The description of the stage. `partitions` is the number of partitions of the loop's topics, and `seeds` the list of
/// seeds that the crawl is started with, if there is one.
pub fn stage(settings: &Settings, names: &LogNames, partitions: u32, seeds: Option<ListedSeeds>) -> StageSpec {
    let rules = FrontierRules::new(settings, partitions).with_seeds(seeds);
    let work = StageWork::Processors(Box::new(move |_| Box::new(Scheduler::new(rules.clone()))));
    names.stage(&topology(), settings.policy.scan_interval, work)
}

/// One partition of the scheduler.
pub struct Scheduler {
    frontier: Frontier,
    /// Forgotten pages with a request under way, by the end of its lease.
    answers_due: BTreeSet<(Timestamp, PageId)>,
    questions: QuestionDesk,
    effects: Effects,
    saved_rules: SavedRules,
}

impl Scheduler {
    /// A scheduler without pages; [`Processor::restored`] fills it.
    pub fn new(rules: FrontierRules) -> Self {
        Self {
            frontier: Frontier::new(rules),
            answers_due: BTreeSet::new(),
            questions: QuestionDesk::default(),
            effects: Effects::default(),
            saved_rules: SavedRules::default(),
        }
    }

    fn take_estimate(&mut self, mut estimate: ChangeEstimate, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let (id, now) = (estimate.look.page_id, context.now());
        // Where the fetcher's clock is ahead, its page and host would wait for as long.
        if estimate.look.fetched_at.saturating_since(now) > CLOCKS_MAY_DIFFER {
            estimate.look.fetched_at = now;
        }
        let estimate = &estimate;
        // The read comes first: if it fails, the record is processed again, and the rest may be done only once.
        let page = self.find(id, context)?;
        // A look at a page that was forgotten meanwhile is paid for, too.
        self.frontier.pay_for(&estimate.look);
        if let Some(notice) = self.frontier.mind_hosts(&estimate.look, now) {
            context.emit(SCHEDULER_EVENTS, notice);
        }
        let Some(mut page) = page else {
            return self.take_stray(&estimate.look, context);
        };
        if page.depth == 0
            && !page.was_answered()
            && let Some(failure) = SeedFailure::of(&estimate.look)
        {
            context.emit(FETCH_RESULTS, failure);
        }
        let messages = self.frontier.take_estimate(estimate, &mut page);
        context.put(PAGES, &id, &page);
        send(messages, context);
        Ok(())
    }

    fn take_links(&mut self, links: &PageLinks, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let id = links.source_page_id;
        // The source is of the same site, so of this partition. Without it the depth of the links is unknown.
        let Some(mut source) = context.get(PAGES, &id)? else { return Ok(()) };
        let found = self.frontier.take_links(links, &mut source, context.now());
        if !found.is_empty() {
            context.put(PAGES, &id, &source);
        }
        for page in found {
            context.put(PAGES, &page.url.page_id(), &page);
        }
        Ok(())
    }

    fn take_ranked(&mut self, mut ranked: RankedPages, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let (mut found, now) = (0, context.now());
        let source_depth = self.depth_of_source(&ranked, context)?;
        let source = ranked.source_page_id.zip(ranked.source_site.clone());
        let found_on = source.map(|(page_id, site)| FoundOn { page_id, site });
        for ranked in &mut ranked.pages {
            let id = self.frontier.canonical(&ranked.url).page_id();
            match context.get(PAGES, &id)? {
                Some(mut page) => {
                    if self.frontier.take_importance(ranked.importance, id, &mut page) {
                        context.put(PAGES, &id, &page);
                    }
                }
                None => {
                    ranked.depth = source_depth.map_or(ranked.depth, |depth| depth.saturating_add(1));
                    if let Some(page) = self.frontier.take_found(ranked, found_on.clone(), now) {
                        found += 1;
                        context.put(PAGES, &id, &page);
                    }
                }
            }
        }
        if let (Some(page_id), Some(site_key), true) =
            (ranked.source_page_id, ranked.source_site, ranked.is_news && found > 0)
        {
            context.emit(SCHEDULER_EVENTS, PagesShown { page_id, site_key, pages: found });
        }
        Ok(())
    }

    /// The depth of the page with the links, if it is of the same site. The ranker does not know it if it has given up the
    /// page's account meanwhile.
    fn depth_of_source(&self, ranked: &RankedPages, context: &Context<'_>) -> Result<Option<i32>, ProcessError> {
        match ranked.source_page_id {
            Some(id) if ranked.source_site.as_ref() == Some(&ranked.site_key) => {
                Ok(context.get(PAGES, &id)?.map(|source| source.depth))
            }
            _ => Ok(None),
        }
    }

    fn take_listing(&mut self, listing: &SiteListing, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(mut list) = self.find(listing.list_page_id, context)? else { return Ok(()) };
        if let Some(pages) = self.frontier.pages_left_out(listing, &list) {
            tracing::info!(url = %list.url, pages, "{LIST_AS_SEED}");
        }
        let effects = self.frontier.take_listing(listing, &mut list);
        context.put(PAGES, &listing.list_page_id, &list);
        for id in effects.relisted {
            let mut page = load(id, context)?;
            self.frontier.note_list(id, &mut page);
            context.put(PAGES, &id, &page);
        }
        for id in effects.hinted {
            let mut page = load(id, context)?;
            if self.frontier.believe_hint(listing.kind, id, &mut page) {
                context.put(PAGES, &id, &page);
            }
        }
        Ok(())
    }

    fn take_hint(&mut self, hint: &ChangeHint, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let id = self.frontier.canonical(&hint.url).page_id();
        let Some(mut page) = self.find(id, context)? else { return Ok(()) };
        if self.frontier.take_hint(hint, id, &mut page) {
            context.put(PAGES, &id, &page);
        }
        Ok(())
    }

    fn take_forecast(&mut self, forecast: SweepForecast, context: &mut Context<'_>) -> Result<(), ProcessError> {
        outlook::delete(self.frontier.forget_parts(&forecast), context);
        let site_key = forecast.site_key.clone();
        let (known, taken) = self.frontier.take_forecast(forecast);
        outlook::write(known, context);
        if let Err(error) = taken {
            tracing::warn!(site = %site_key, %error, "part of a forecast is ignored");
        }
        Ok(())
    }

    fn take_message(
        &mut self,
        message: &MirrorMessage,
        key: &[u8],
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        if !self.frontier.shares_fetches() {
            return Ok(());
        }
        let messages = match context.get(PAGES, &message.to)? {
            Some(mut page) => {
                let answers = self.frontier.take_message(message, &mut page);
                let answers = answers.map_err(ProcessError::SetAside)?;
                context.put(PAGES, &message.to, &page);
                answers
            }
            None => {
                let site = SiteKey::from_domain(String::from_utf8_lossy(key));
                let answer = self.frontier.answer_for_unknown(message, site).map_err(ProcessError::SetAside)?;
                answer.into_iter().collect()
            }
        };
        send(messages, context);
        Ok(())
    }

    /// Takes back requests whose lease ran out, and ends waits that are over.
    fn free_pages(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let now = context.now();
        while let Some(id) = self.frontier.next_expired(now) {
            let mut page = load(id, context)?;
            self.frontier.expire(id, &mut page);
            context.put(PAGES, &id, &page);
        }
        while let Some(id) = self.frontier.next_released(now) {
            let mut page = load(id, context)?;
            self.frontier.release(id, &mut page);
            context.put(PAGES, &id, &page);
        }
        Ok(())
    }

    fn dispatch(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let Some(mut tick) = self.frontier.begin_tick(context.task().partition, context.now()) else { return Ok(()) };
        while let Some(choice) = self.frontier.next_choice(&mut tick) {
            self.hand_out(&choice, context)?;
        }
        Ok(())
    }

    fn hand_out(&mut self, choice: &ChosenPage, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let mut page = load(choice.page_id, context)?;
        match self.frontier.hand_out(choice, &mut page, context.now()) {
            HandOut::Request(request) => context.emit(FETCH_REQUESTS, *request),
            HandOut::PassedOver => {}
        }
        context.put(PAGES, &choice.page_id, &page);
        Ok(())
    }

    /// Forgets pages that made room for others.
    fn forget_evicted(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        for id in self.frontier.take_evicted() {
            let Some(page) = context.get(PAGES, &id)? else { continue };
            let removal = PageRemoval { url: page.url.clone(), removed_at: context.now(), last_attempt: None };
            self.remove(removal, Some(page), context);
        }
        Ok(())
    }

    /// Deletes a page, here and in the other stages.
    fn remove(&mut self, removal: PageRemoval, page: Option<ScheduledPage>, context: &mut Context<'_>) {
        let id = removal.url.page_id();
        let messages = self.frontier.forget(id, page);
        context.delete(PAGES, &id);
        send(messages, context);
        context.emit(FETCH_RESULTS, removal);
    }

    fn keep_hosts(&mut self, context: &mut Context<'_>) {
        for host in self.frontier.forget_hosts(context.now()) {
            context.delete(HOSTS, &host);
        }
        for (host, schedule) in self.frontier.changed_hosts() {
            context.put(HOSTS, &host, &schedule);
        }
    }

    /// Loads the page that a record is about. Counts it when it is not known.
    fn find(&mut self, id: PageId, context: &Context<'_>) -> Result<Option<ScheduledPage>, ProcessError> {
        let page = context.get(PAGES, &id)?;
        if page.is_none() {
            self.frontier.count_unknown_page();
        }
        Ok(page)
    }
}

impl Processor for Scheduler {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let frontier = &mut self.frontier;
        outlook::load(frontier, context)?;
        context.scan(HOSTS, b"", &mut |host, schedule| {
            frontier.restore_host(&host, &schedule);
            Ok(())
        })?;
        context.scan(FORGOTTEN, b"", &mut |id, forgotten| {
            frontier.deny(id);
            frontier.note_attempt(forgotten.last_attempt);
            self.answers_due.extend(forgotten.lease_until.map(|until| (until, id)));
            Ok(())
        })?;
        let now = context.now();
        context.scan(PAGES, b"", &mut |id, page| {
            frontier.restore_page(id, &page, now);
            Ok(())
        })?;
        frontier.restored();
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.heed_saved_rules();
        match record.read(SCHEDULER_EVENTS)? {
            SchedulerEvent::Estimate(estimate) => self.take_estimate(estimate, context)?,
            SchedulerEvent::Links(links) => self.take_links(&links, context)?,
            SchedulerEvent::Command(command) => self.take_command(&command, context)?,
            SchedulerEvent::Hint(hint) => self.take_hint(&hint, context)?,
            SchedulerEvent::Listing(listing) => self.take_listing(&listing, context)?,
            SchedulerEvent::Sweeps(forecast) => self.take_forecast(forecast, context)?,
            SchedulerEvent::Message(message) => self.take_message(&message, &record.key, context)?,
            SchedulerEvent::Ranked(pages) => self.take_ranked(pages, context)?,
            SchedulerEvent::Shown(shown) => {
                if let Some(mut page) = context.get(PAGES, &shown.page_id)?
                    && self.frontier.take_shown(shown.pages, shown.page_id, &mut page)
                {
                    context.put(PAGES, &shown.page_id, &page);
                }
            }
            SchedulerEvent::Removed(removal) => self.take_removal(&removal, context)?,
            SchedulerEvent::Question(question) => self.answer(&question, context)?,
            SchedulerEvent::Trouble(notice) => self.frontier.take_notice(&notice, context.now()),
        }
        self.forget_evicted(context)?;
        self.keep_hosts(context);
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        self.heed_saved_rules();
        self.renew_pages(context)?;
        self.frontier.teach_siblings();
        self.free_pages(context)?;
        self.give_up_answers(context)?;
        if context.has_room() {
            self.dispatch(context)?;
        }
        if let Some(demand) = self.frontier.publish_demand(context.task().partition, context.now()) {
            context.emit(DEMAND, demand);
        }
        self.frontier.estimate_freshness(context.now());
        self.keep_hosts(context);
        if let Some(undecided) = self.frontier.take_undecided() {
            tracing::warn!(undecided, "a page is not taken in because its rule is unknown; simplify the expression");
        }
        Ok(())
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        for effect in self.effects.take(context.task()) {
            context.emit(AUDIT, effect);
        }
        Ok(())
    }

    fn broadcast(
        &mut self,
        topic: TopicName,
        record: &InputRecord,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        if topic == RULE_SETS.name() {
            self.saved_rules.take(record);
            return Ok(());
        }
        match record.read(DEMAND) {
            Ok(demand) => self.frontier.take_demand(&demand, context.task().partition),
            Err(error) => tracing::warn!(%error, "cannot read a demand; it is ignored"),
        }
        Ok(())
    }

    fn figures(&self) -> Vec<Figure> {
        self.frontier.figures().into_iter().chain(self.questions.figures()).collect()
    }
}

fn load(id: PageId, context: &Context<'_>) -> Result<ScheduledPage, ProcessError> {
    context
        .get(PAGES, &id)?
        .ok_or_else(|| ProcessError::Stop(format!("page {id} is in the columns but not in the state store")))
}

fn send(messages: Vec<MirrorMessage>, context: &mut Context<'_>) {
    for message in messages {
        context.emit(SCHEDULER_EVENTS, message);
    }
}
