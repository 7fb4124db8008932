//! Which pages do links lead to, and what are they worth?
//!
//! Reads the links of pages ([`messages::PageOutLinks`]). Keeps an account for every page that has links or is linked to
//! ([`importance::opic`]): a page that is looked at hands its cash on to those that it links to. Tells the scheduler pages
//! that are new, and the weight of a known page when it has changed enough.
//!
//! A link to another site is followed in the partition of that site, so that each page has one account: the cash travels there
//! as a message ([`messages::LinkCash`]). The partitions split the cash of the virtual page by their numbers of pages, which
//! they broadcast ([`messages::RankTotals`]).
//!
//! It never reads a page, and never decides what is fetched.

mod forms;
mod state;

pub use crate::state::{FORMS, FormKey, FormYield, LinkedPage, PAGES, ShardTotals, TOTALS, TotalsKey};

use importance::Link;
use importance::opic::{Account, Shard, ShardNews, Window};
use importance::weight::WeightMap;
use messages::topics::{RANK_TOTALS, RANKER_EVENTS, SCHEDULER_EVENTS};
use messages::{CashLink, LinkCash, PageOutLinks, RankTotals, RankedPage, RankedPages, RankerEvent, VirtualCash};
use page::{CanonicalUrl, PageId, SiteKey, Timestamp};
use settings::{RankMethod, Settings};
use std::collections::{BTreeMap, HashMap};
use stream::partitioner::partition_for;
use stream::{Context, InputRecord, ProcessError, Processor, StageSpec, StageTopology, StageWork};
use topology::LogNames;

/// What a page keeps of its worth that is a copy of another, or not to be indexed.
const UNWANTED_SHARE: f64 = 0.1;
/// A score above this many times the mean counts as so much, …
const LARGEST_SCORE: f64 = 1_000.0;
/// … and no weight is below this.
const LEAST_WEIGHT: f64 = 0.05;
/// All cash of the system.
const ALL_CASH: f64 = 1.0;

/// The topics and tables of the stage.
pub fn topology() -> StageTopology {
    let tables = StageTopology::new("ranker", RANKER_EVENTS).keeps(PAGES).keeps(TOTALS).keeps(FORMS);
    tables.writes(SCHEDULER_EVENTS).writes(RANKER_EVENTS).writes(RANK_TOTALS).hears(RANK_TOTALS)
}

/// The stage, ready to run. `partitions` is the number of partitions of the loop's topics.
pub fn stage(settings: &Settings, names: &LogNames, partitions: u32) -> StageSpec {
    let rules = RankerRules::new(settings, partitions);
    let work = StageWork::Processors(Box::new(move |task| Box::new(Ranker::new(rules, task.partition))));
    names.stage(&topology(), settings.ranker.interval, work)
}

/// The ranker's settings.
#[derive(Clone, Copy, Debug)]
pub struct RankerRules {
    method: RankMethod,
    map: WeightMap,
    /// Least change of a weight that is told, as a ratio.
    least_ratio: f64,
    partitions: u32,
}

impl RankerRules {
    /// Extracts the ranker's part of the settings.
    pub fn new(settings: &Settings, partitions: u32) -> Self {
        Self {
            method: settings.ranker.importance,
            map: WeightMap::new(settings.ranker.exponent, LARGEST_SCORE, LEAST_WEIGHT)
                .expect("the settings keep the exponent in range"),
            least_ratio: 1.0 + settings.ranker.min_change,
            partitions,
        }
    }
}

/// One partition of the ranker.
pub struct Ranker {
    rules: RankerRules,
    shard: Shard,
    /// Whether the totals differ from those that are stored.
    is_changed: bool,
    counts: RankerCounts,
}

/// What a ranker has done so far.
#[derive(Debug, Default)]
struct RankerCounts {
    looks: u64,
    links: u64,
    found: u64,
    told: u64,
}

/// The page that links are found on.
struct LinkSource {
    page_id: PageId,
    site: SiteKey,
    depth: i32,
    found_at: Timestamp,
    is_news: bool,
}

impl Ranker {
    /// A partition without accounts.
    pub fn new(rules: RankerRules, partition: u32) -> Self {
        let shard = Shard::new(partition, ALL_CASH / f64::from(rules.partitions));
        Self { rules, shard, is_changed: false, counts: RankerCounts::default() }
    }

    /// A page with links was looked at.
    fn take_links(&mut self, found: PageOutLinks, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let id = found.source_page_id;
        let source_site = found.source_url.site_key();
        let mut page = match context.get(PAGES, &id)? {
            Some(page) => page,
            None => self.open(0),
        };
        self.counts.looks += 1;
        self.counts.links += found.links.len() as u64;
        let form = FormKey::of(&found.source_url);
        if found.is_first_look {
            let mut seen = context.get(FORMS, &form)?.unwrap_or_default();
            seen.note(found.text_hash);
            context.put(FORMS, &form, &seen);
        }
        let mut cash = self.visit(id, &mut page.account, &found.links);
        let source = LinkSource {
            page_id: id,
            site: source_site.clone(),
            depth: page.depth,
            found_at: found.found_at,
            is_news: !found.is_first_look,
        };
        let share = if found.is_unwanted { UNWANTED_SHARE } else { 1.0 };
        let own = self.worth(&page, share * context.get(FORMS, &form)?.unwrap_or_default().share());
        let own = self.tell(&mut page, own, &found.source_url);
        context.put(PAGES, &id, &page);
        let mut by_site: BTreeMap<SiteKey, Vec<CashLink>> = BTreeMap::new();
        for link in found.links {
            let target = link.url.page_id();
            if target != id {
                // Once, should the link be repeated.
                let cash = cash.remove(&target).unwrap_or(0.0);
                by_site.entry(link.url.site_key()).or_default().push(CashLink { url: link.url, cash });
            }
        }
        let inside = by_site.remove(&source_site).unwrap_or_default();
        let mut ranked = self.credit(&source, inside, context)?;
        ranked.extend(own);
        emit(&source, source_site, ranked, context);
        for (target_site, links) in by_site {
            let LinkSource { page_id, site, depth, found_at, is_news } = &source;
            let (source_page_id, source_site, source_depth) = (*page_id, site.clone(), *depth);
            let (found_at, is_news) = (*found_at, *is_news);
            let cash = LinkCash { target_site, source_page_id, source_site, source_depth, found_at, is_news, links };
            context.emit(RANKER_EVENTS, cash);
        }
        Ok(())
    }

    /// Links of a page of another site lead here.
    fn take_cash(&mut self, given: LinkCash, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let source = LinkSource {
            page_id: given.source_page_id,
            site: given.source_site,
            depth: given.source_depth,
            found_at: given.found_at,
            is_news: given.is_news,
        };
        let ranked = self.credit(&source, given.links, context)?;
        emit(&source, given.target_site, ranked, context);
        Ok(())
    }

    /// The account of a page that is new.
    fn open(&mut self, depth: i32) -> LinkedPage {
        self.is_changed = true;
        LinkedPage { account: self.shard.open(), depth, told_importance: 0.0 }
    }

    /// Visits a page. Returns what each of its links is given.
    fn visit(&mut self, id: PageId, account: &mut Account, links: &[messages::Link]) -> HashMap<PageId, f64> {
        if self.rules.method == RankMethod::None {
            return HashMap::new();
        }
        self.is_changed = true;
        let mut links: Vec<_> = links.iter().map(|link| Link::plain(link.url.page_id())).collect();
        let mut given = HashMap::with_capacity(links.len());
        self.shard.visit(id, account, &mut links, Window::Everything, |cash| {
            given.insert(cash.to, cash.amount);
        });
        given
    }

    /// Pages receive cash. Returns those that are new and those whose weight changed.
    fn credit(
        &mut self,
        source: &LinkSource,
        links: Vec<CashLink>,
        context: &mut Context<'_>,
    ) -> Result<Vec<RankedPage>, ProcessError> {
        let mut shares: HashMap<u64, f64> = HashMap::new();
        let mut ranked = Vec::new();
        for CashLink { url, cash } in links {
            let id = url.page_id();
            let mut page = match context.get(PAGES, &id)? {
                Some(page) => page,
                None => {
                    self.counts.found += 1;
                    self.open(source.depth.saturating_add(1))
                }
            };
            page.account.receive(cash);
            let form = FormKey::of(&url);
            let share = match shares.get(&form.0) {
                Some(share) => *share,
                None => {
                    let share = context.get(FORMS, &form)?.unwrap_or_default().share();
                    shares.insert(form.0, share);
                    share
                }
            };
            let worth = self.worth(&page, share);
            ranked.extend(self.tell(&mut page, worth, &url));
            context.put(PAGES, &id, &page);
        }
        Ok(ranked)
    }

    /// The weight of a page by its links, and what its form leaves of it.
    fn worth(&self, page: &LinkedPage, share: f64) -> f64 {
        let weight = match self.rules.method {
            RankMethod::None => 1.0,
            RankMethod::Opic => {
                let score = page.account.importance(&self.shard, Window::Everything);
                self.rules.map.weight(score, ALL_CASH / self.shard.pages().max(1) as f64)
            }
        };
        weight * share
    }

    /// Notes the weight of a page, and returns it if it has changed enough to be told.
    fn tell(&mut self, page: &mut LinkedPage, importance: f64, url: &CanonicalUrl) -> Option<RankedPage> {
        let ratio = importance / page.told_importance;
        if page.told_importance > 0.0 && ratio < self.rules.least_ratio && ratio > 1.0 / self.rules.least_ratio {
            return None;
        }
        self.counts.told += 1;
        page.told_importance = importance;
        Some(RankedPage { url: url.clone(), depth: page.depth, importance })
    }

    /// The virtual page's cash for the pages here.
    fn take_virtual(&mut self, given: &VirtualCash) {
        self.shard.receive(given.cash);
        self.is_changed = true;
    }
}

impl Processor for Ranker {
    fn restored(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if let Some(totals) = context.get(TOTALS, &TotalsKey)? {
            self.shard = Shard::restore(totals.kept(context.task().partition));
        }
        Ok(())
    }

    fn process(&mut self, record: &InputRecord, context: &mut Context<'_>) -> Result<(), ProcessError> {
        match record.read(RANKER_EVENTS)? {
            RankerEvent::Links(links) => self.take_links(links, context)?,
            RankerEvent::Cash(cash) => self.take_cash(cash, context)?,
            RankerEvent::Virtual(cash) => self.take_virtual(&cash),
        }
        Ok(())
    }

    fn punctuate(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if self.shard.own().pages == 0 {
            return Ok(());
        }
        let partitions = self.rules.partitions;
        self.shard.empty_purse(|share| {
            let routing_key = routing_key(share.to, partitions);
            context.emit(RANKER_EVENTS, VirtualCash { routing_key, cash: share.amount });
        });
        let ShardNews { shard, number, pages, noted } = self.shard.news();
        self.is_changed = true;
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let totals = RankTotals {
            stage_partition: shard as i32,
            published_at: context.now(),
            number: whole(number),
            pages: whole(pages),
            noted,
        };
        context.emit(RANK_TOTALS, totals);
        Ok(())
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<(), ProcessError> {
        if std::mem::take(&mut self.is_changed) {
            context.put(TOTALS, &TotalsKey, &ShardTotals::of(&self.shard.kept()));
        }
        Ok(())
    }

    fn broadcast(&mut self, record: &InputRecord, _context: &mut Context<'_>) -> Result<(), ProcessError> {
        match record.read(RANK_TOTALS) {
            Ok(RankTotals { stage_partition, number, pages, noted, .. }) => self.shard.hear(ShardNews {
                shard: stage_partition.max(0).unsigned_abs(),
                number: number.max(0).unsigned_abs(),
                pages: pages.max(0).unsigned_abs(),
                noted,
            }),
            Err(error) => tracing::warn!(%error, "cannot read the totals of a partition; they are ignored"),
        }
        Ok(())
    }

    fn figures(&self, _now: Timestamp) -> Vec<(&'static str, f64)> {
        vec![
            ("linked_pages", self.shard.own().pages as f64),
            ("link_looks_total", self.counts.looks as f64),
            ("links_total", self.counts.links as f64),
            ("pages_found_total", self.counts.found as f64),
            ("weights_told_total", self.counts.told as f64),
        ]
    }
}

/// Sends the scheduler of a site its pages.
fn emit(source: &LinkSource, site_key: SiteKey, pages: Vec<RankedPage>, context: &mut Context<'_>) {
    if pages.is_empty() {
        return;
    }
    let ranked = RankedPages {
        site_key,
        source_page_id: Some(source.page_id),
        source_site: Some(source.site.clone()),
        found_at: source.found_at,
        is_news: source.is_news,
        pages,
    };
    context.emit(SCHEDULER_EVENTS, ranked);
}

/// A text that the partitioner sends to a partition.
fn routing_key(partition: u32, partitions: u32) -> String {
    // One number of as many as there are partitions fits, on average.
    let mut keys = (0_u64..).map(|number| format!("ranker-{number}"));
    keys.find(|key| partition_for(key.as_bytes(), partitions) == partition).unwrap_or_default()
}
