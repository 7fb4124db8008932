//! Which pages do links lead to, and what are they worth?
//!
//! Reads the links of pages ([`messages::PageOutLinks`]). Keeps an account for every page that has links or is linked to
//! ([`importance::opic`]): a page that is looked at hands its cash on to those that it links to. Sends the scheduler pages
//! that are new, and the weight of a known page when it has changed enough.
//!
//! A link to a site of another partition is followed there, so that each page has one account: the cash travels
//! as a message ([`messages::LinkCash`]). The partitions split the cash of the virtual page by their numbers of pages, which
//! they broadcast ([`messages::RankTotals`]).
//!
//! Where the crawl has a focus, the relevance of a page and the promise of the links to it count, too
//! ([`::focus::FocusWeight`]).
//!
//! It never reads a page, and never decides what is fetched.

mod accounts;
mod focus;
mod forms;
mod ledger;
mod links;
mod neighbours;
mod outputs;
mod rules;
mod site_values;
mod state;

pub use crate::accounts::{AccountColumns, Accounts, AccountsKey, LinkedPage};
pub use crate::focus::{FOCUS, FOCUS_TOTALS, FocusTotals, FocusedPage};
pub use crate::rules::{RankerRules, check_trusted};
pub use crate::state::{
    ACCOUNTS, FORMS, FormKey, FormYield, NEIGHBOURS, NeighbourKey, NeighbourSites, SITES, ShardTotals, SiteValue,
    SiteValueKey, TOTALS, TotalsKey,
};

use crate::focus::Focus;
use crate::forms::FormShares;
use crate::ledger::Ledger;
use crate::links::{ArrivingLink, LinkSource};
use crate::neighbours::Neighbours;
use crate::rules::LEAST_WEIGHT;
use crate::site_values::SiteValues;
use importance::link_value::LinkValue;
use messages::topics::{ANSWERS, RANK_TOTALS, RANKER_EVENTS, SCHEDULER_EVENTS, TopicName};
use messages::{LinkCash, PageOutLinks, Question, QuestionDesk, QuestionKind, RankTotals, RankedPage, RankerEvent};
use metrics::{Figure, ranker as figure};
use page::{CanonicalUrl, PageId, SiteKey};
use settings::{RankMethod, Settings};
use spam::SpamShape;
use std::collections::BTreeMap;
use stream::partitioner::partition_for;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec, StageTopology, StageWork};
use topology::LogNames;

/// The share of its worth that a page keeps if it is a copy of another, or not to be indexed.
const UNWANTED_SHARE: f64 = 0.1;

/// The topics and tables of the stage.
pub fn topology() -> StageTopology {
    let tables = StageTopology::new("ranker", RANKER_EVENTS).keeps(ACCOUNTS).keeps(TOTALS).keeps(FORMS).keeps(SITES);
    let tables = tables.keeps(NEIGHBOURS).keeps(FOCUS).keeps(FOCUS_TOTALS);
    tables
        .writes(SCHEDULER_EVENTS)
        .writes(RANKER_EVENTS)
        .writes(RANK_TOTALS)
        .writes(ANSWERS)
        .takes_broadcasts_of(RANK_TOTALS)
}

/// The stage, ready to run. `partitions` is the number of partitions of the loop's topics.
pub fn stage(settings: &Settings, names: &LogNames, partitions: u32) -> StageSpec {
    let rules = RankerRules::new(settings, partitions);
    let work = StageWork::Processors(Box::new(move |task| Box::new(Ranker::new(rules.clone(), task.partition))));
    names.stage(&topology(), settings.ranker.interval, work)
}

/// One partition of the ranker.
pub struct Ranker {
    rules: RankerRules,
    ledger: Ledger,
    accounts: Accounts,
    form_shares: FormShares,
    site_values: SiteValues,
    neighbours: Neighbours,
    focus: Focus,
    counts: RankerCounts,
    questions: QuestionDesk,
}

/// Counts of a ranker since its start.
#[derive(Debug, Default)]
struct RankerCounts {
    looks: u64,
    links: u64,
    found: u64,
    opened: u64,
    reported: u64,
    pruned: u64,
    given_up: u64,
}

impl Ranker {
    /// A partition without accounts.
    pub fn new(rules: RankerRules, partition: u32) -> Self {
        Self {
            ledger: Ledger::new(rules.clone(), partition),
            accounts: Accounts::default(),
            form_shares: FormShares::default(),
            site_values: SiteValues::default(),
            neighbours: Neighbours::new(&rules),
            focus: Focus::new(rules.tunnel_depth),
            rules,
            counts: RankerCounts::default(),
            questions: QuestionDesk::default(),
        }
    }

    fn answer(&mut self, question: &Question, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let task = context.task();
        let answer = self.questions.open(question, &task.stage, task.partition, context.now());
        let Some(mut answer) = answer else { return Ok(()) };
        match (question.about, &question.url) {
            (QuestionKind::Page | QuestionKind::Explanation, Some(url)) => {
                answer.add(FOCUS.name(), context.get(FOCUS, &url.page_id())?.as_ref());
                answer.add(NEIGHBOURS.name(), self.neighbours.record(&url.site_key(), context)?.as_ref());
            }
            (QuestionKind::Figures, _) => {
                answer.set_figures(&self.figures()).map_err(ProcessError::SetAside)?;
            }
            _ => return Err(ProcessError::SetAside(QuestionDesk::refusal(question))),
        }
        context.emit(ANSWERS, answer);
        Ok(())
    }

    /// A look at a page found the links of the last one. Each adds to the value of its site again, and the page's own weight is
    /// that of its site today.
    fn take_repeated_links(&mut self, found: PageOutLinks, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if self.rules.method != RankMethod::LinkValue {
            return Ok(());
        }
        self.counts.looks += 1;
        let site = found.source_url.site_key();
        let number = self.place(found.source_page_id, 0, context)?;
        let mut page = self.accounts.get(number);
        let value = self.site_values.of(&site);
        let source = LinkSource {
            page_id: found.source_page_id,
            given_value: value.given(),
            site: site.clone(),
            depth: page.depth,
            found_at: found.found_at,
            is_news: false,
            focus: None,
        };
        for linked in found.repeated_sites {
            self.counts.links += u64::from(linked.links.max(0).unsigned_abs());
            if partition_for(linked.site.as_str().as_bytes(), self.rules.partitions) == self.ledger.partition() {
                self.receive_value(&source, &linked.site, linked.links, context);
            } else {
                outputs::send_repeated_links(&source, linked, context);
            }
        }
        let shape = self.neighbours.take_linked(&site, &[], context)?;
        let by_links = self.weight_by_links(&page, value, &shape);
        let share = if found.is_unwanted { UNWANTED_SHARE } else { 1.0 };
        let own = self.focus.weight(found.source_page_id, by_links, context)? * share;
        let own = self.report(&mut page, own * self.form_shares.of(&found.source_url), &found.source_url);
        self.accounts.set(number, &page);
        outputs::notify_scheduler(&source, &site, own.into_iter().collect(), context);
        Ok(())
    }

    /// Links of another site add to the value of a site of this partition.
    fn receive_value(&mut self, source: &LinkSource, site: &SiteKey, links: i32, context: &mut Context<'_>) {
        if let Ok(links) = usize::try_from(links)
            && links > 0
            && *site != source.site
        {
            self.site_values.receive(site, source.given_value, links, self.rules.max_accounts, context);
        }
    }

    /// A page with links was looked at.
    fn take_links(&mut self, found: PageOutLinks, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if found.is_repeated {
            return self.take_repeated_links(found, context);
        }
        let id = found.source_page_id;
        let source_site = found.source_url.site_key();
        if found.is_first_look {
            let most = self.rules.max_accounts;
            self.form_shares.take_look(&found.source_url, found.text_hash, most, context)?;
        }
        // From here on nothing may set the record aside: what is in memory stays. After a failed read of a table the
        // processor is built anew.
        self.counts.looks += 1;
        self.counts.links += found.links.len() as u64;
        let number = self.place(id, 0, context)?;
        let mut page = self.accounts.get(number);
        self.ledger.mark(&mut page, &found.source_url);
        let targets: Vec<PageId> = found.links.iter().map(|link| link.url.page_id()).collect();
        let mut given = self.ledger.visit(id, &mut page, &targets);
        let mut focus = self.focus.take_page(id, found.focus, context)?;
        let promises = focus.as_mut().map(|focus| std::mem::take(&mut focus.promises)).unwrap_or_default();
        let value = self.site_values.of(&source_site);
        let source = LinkSource {
            page_id: id,
            given_value: value.given(),
            site: source_site,
            depth: page.depth,
            found_at: found.found_at,
            is_news: !found.is_first_look,
            focus,
        };
        let share = if found.is_unwanted { UNWANTED_SHARE } else { 1.0 };
        let shape = self.neighbours.take_linked(&source.site, &found.links, context)?;
        let by_links = self.weight_by_links(&page, value, &shape);
        let own = self.focus.weight(id, by_links, context)? * share * self.form_shares.of(&found.source_url);
        let mut own = self.report(&mut page, own, &found.source_url);
        self.accounts.set(number, &page);
        let mut by_site: BTreeMap<SiteKey, Vec<ArrivingLink>> = BTreeMap::new();
        let mut inside = Vec::new();
        for (number, (target, link)) in targets.into_iter().zip(found.links).enumerate() {
            // A link that is repeated counts once.
            let Ok(place) = given.binary_search_by_key(&target, |(to, _)| *to) else { continue };
            let Some(given) = given[place].1.take() else { continue };
            let link = ArrivingLink { target, url: link.url, given, promise: promises.get(number).copied() };
            match link.url.origin() == found.source_url.origin() {
                true => inside.push(link),
                false => by_site.entry(link.url.site_key()).or_default().push(link),
            }
        }
        by_site.entry(source.site.clone()).or_default().extend(inside);
        for (site, links) in by_site {
            let is_own = site == source.site;
            if !is_own && partition_for(site.as_str().as_bytes(), self.rules.partitions) != self.ledger.partition() {
                outputs::send_cash(&source, &site, links, context);
                continue;
            }
            let mut ranked = self.arrive(&source, &site, links, context)?;
            if is_own {
                ranked.extend(own.take());
            }
            outputs::notify_scheduler(&source, &site, ranked, context);
        }
        Ok(())
    }

    /// Links of a page of another partition lead here.
    fn take_cash(&mut self, given: LinkCash, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let site = given.target_site.clone();
        let repeated = given.repeated_links;
        let (source, links) = links::received(given);
        if self.rules.method == RankMethod::LinkValue {
            self.receive_value(&source, &site, repeated, context);
        }
        let ranked = self.arrive(&source, &site, links, context)?;
        outputs::notify_scheduler(&source, &site, ranked, context);
        Ok(())
    }

    /// Links lead to pages of a site of this partition. Returns the pages to report to the scheduler.
    fn arrive(
        &mut self,
        source: &LinkSource,
        site: &SiteKey,
        links: Vec<ArrivingLink>,
        context: &mut Context<'_>,
    ) -> Result<Vec<RankedPage>, ProcessError> {
        if self.rules.method == RankMethod::LinkValue && *site != source.site {
            let most = self.rules.max_accounts;
            self.site_values.receive(site, source.given_value, links.len(), most, context);
        }
        let value = self.site_values.of(site);
        let shape = self.neighbours.take_linking(site, &source.site, context)?;
        self.credit(source, value, &shape, links, context)
    }

    /// The number of a page's account. One that is new is opened, at the limit in place of one of the poorest.
    fn place(&mut self, id: PageId, depth: i32, context: &mut Context<'_>) -> Result<u32, ProcessError> {
        if let Some(number) = self.accounts.find(&id) {
            return Ok(number);
        }
        self.counts.opened += 1;
        let poorest = if self.accounts.len() < self.rules.max_accounts { None } else { self.accounts.poorest() };
        let Some(number) = poorest else { return Ok(self.accounts.add(id, &self.ledger.open(depth))) };
        let (given_up, page) = (self.accounts.id(number), self.accounts.get(number));
        self.counts.given_up += 1;
        self.focus.remove(given_up, context)?;
        self.ledger.close(page);
        self.accounts.replace(number, id, &self.ledger.open(depth));
        Ok(number)
    }

    /// Pages of a site of this value and shape receive cash. Returns those that are new and those whose weight changed.
    fn credit(
        &mut self,
        source: &LinkSource,
        value: LinkValue,
        shape: &SpamShape,
        links: Vec<ArrivingLink>,
        context: &mut Context<'_>,
    ) -> Result<Vec<RankedPage>, ProcessError> {
        let (before, mut ranked) = (self.counts.opened, Vec::new());
        for ArrivingLink { target, url, given, promise } in links {
            let number = self.place(target, source.depth.saturating_add(1), context)?;
            let mut page = self.accounts.get(number);
            self.ledger.mark(&mut page, &url);
            page.account.receive(given.cash);
            page.trust.receive(given.trust);
            let by_links = self.weight_by_links(&page, value, shape);
            match self.focus.take_link(target, source.focus.as_ref(), promise, by_links, context)? {
                Some(weight) => {
                    let weight = weight * self.form_shares.of(&url);
                    ranked.extend(self.report(&mut page, weight, &url));
                }
                None if page.sent_importance > 0.0 => ranked.extend(self.report(&mut page, LEAST_WEIGHT, &url)),
                None => self.counts.pruned += 1,
            }
            self.accounts.set(number, &page);
        }
        self.counts.found += self.counts.opened - before;
        Ok(ranked)
    }

    /// The weight of a page by its links, or by the value of its site, and by the shape of its site.
    fn weight_by_links(&self, page: &LinkedPage, value: LinkValue, shape: &SpamShape) -> f64 {
        let weight = match self.rules.method {
            RankMethod::LinkValue => value.weight(self.site_values.reference_ln()),
            RankMethod::None | RankMethod::Opic | RankMethod::PageRank | RankMethod::TrustRank => {
                self.ledger.weight(page)
            }
        };
        // A trusted page keeps its weight.
        if page.trust.is_trusted() { weight } else { shape.weight(weight) }
    }

    /// Notes the weight of a page, and returns it if it has changed enough to be sent to the scheduler.
    fn report(&mut self, page: &mut LinkedPage, importance: f64, url: &CanonicalUrl) -> Option<RankedPage> {
        let ratio = importance / page.sent_importance;
        if page.sent_importance > 0.0 && ratio < self.rules.least_ratio && ratio > 1.0 / self.rules.least_ratio {
            return None;
        }
        self.counts.reported += 1;
        // Rounded as the account keeps it.
        page.sent_importance = f64::from(importance as f32);
        Some(RankedPage { url: url.clone(), depth: page.depth, importance: page.sent_importance })
    }
}

impl Processor for Ranker {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if let Some(totals) = context.get(TOTALS, &TotalsKey)? {
            self.ledger.restore(&totals, context.task().partition);
        }
        context.scan(FORMS, b"", &mut |form, shown| {
            self.form_shares.restore(form, &shown);
            Ok(())
        })?;
        self.focus.restore(context)?;
        self.neighbours.restore(context)?;
        context.scan(SITES, b"", &mut |site, value| {
            self.site_values.restore(site, &value);
            Ok(())
        })?;
        let damaged = |what| ProcessError::Damaged(format!("the ranker's accounts are damaged: {what}"));
        context.scan(ACCOUNTS, b"", &mut |key, columns| self.accounts.restore(key, &columns).map_err(damaged))?;
        self.accounts.restored();
        let (held, counted) = (self.accounts.len() as u64, self.ledger.pages().0);
        if held != counted {
            return Err(damaged(format!("there are {held}, and {counted} were counted")));
        }
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        match record.read(RANKER_EVENTS)? {
            RankerEvent::Links(links) => self.take_links(links, context)?,
            RankerEvent::Cash(cash) => self.take_cash(cash, context)?,
            RankerEvent::Virtual(given) => self.ledger.receive(&given),
            // Its account stays: the graph's cash is in it, and it says nothing of the page.
            RankerEvent::Removal(removal) => self.focus.remove(removal.url.page_id(), context)?,
            RankerEvent::Question(question) => self.answer(&question, context)?,
        }
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if self.ledger.pages().0 == 0 {
            return Ok(());
        }
        for given in self.ledger.empty_purses() {
            context.emit(RANKER_EVENTS, given);
        }
        let totals = RankTotals {
            valued_sites: self.site_values.totals().0,
            site_values_ln: self.site_values.totals().1,
            ..self.ledger.news(context.now())
        };
        context.emit(RANK_TOTALS, totals);
        Ok(())
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        for (key, columns) in self.accounts.unwritten() {
            match columns {
                Some(columns) => context.put(ACCOUNTS, &key, &columns),
                None => context.delete(ACCOUNTS, &key),
            }
        }
        if let Some(totals) = self.ledger.changed_totals() {
            context.put(TOTALS, &TotalsKey, &totals);
        }
        self.focus.flush(context);
        Ok(())
    }

    fn broadcast(&mut self, _: TopicName, record: &InputRecord, _: &mut Context<'_>) -> Result<(), ProcessError> {
        match record.read(RANK_TOTALS) {
            Ok(totals) => {
                self.ledger.learn(&totals);
                self.site_values.learn(&totals, self.ledger.partition());
            }
            Err(error) => tracing::warn!(%error, "cannot read the totals of a partition; they are ignored"),
        }
        Ok(())
    }

    fn figures(&self) -> Vec<Figure> {
        let (pages, trusted) = self.ledger.pages();
        let own = [
            (figure::LINKED_PAGES, pages as f64),
            (figure::LINKED_PAGES_LIMIT, self.rules.max_accounts as f64),
            (figure::ACCOUNTS_GIVEN_UP, self.counts.given_up as f64),
            (figure::TRUSTED_PAGES, trusted as f64),
            (figure::LINK_LOOKS, self.counts.looks as f64),
            (figure::LINKS, self.counts.links as f64),
            (figure::PAGES_FOUND, self.counts.found as f64),
            (figure::WEIGHTS_SENT, self.counts.reported as f64),
            (figure::LINKS_PRUNED, self.counts.pruned as f64),
            (figure::JUDGED_PAGES, self.focus.totals.judged as f64),
            (figure::PAGES_IN_FOCUS, self.focus.totals.in_focus as f64),
            (figure::TARGETS_FOUND, self.focus.totals.targets as f64),
        ];
        own.into_iter().chain(self.questions.figures()).collect()
    }
}
