//! Sites in three ranks, visited in every pass, every second, or every fourth (Ni et al.; C4 of the algorithm notes).
//!
//! Sites are sorted by value. The best third has rank 4, the next rank 2, the rest rank 1: visits per cycle of four
//! passes, so a pass costs on average 7/12 of a full one.

use super::pages::{NewPageQueue, SlotTable, sane};
use revisit::columns::Slot;
use revisit::{PlanStanding, PlanValues, PolicyLook, PolicyPage, PolicyTick, RevisitPolicy};
use std::collections::{BTreeMap, VecDeque};

/// The rank (4, 2 or 1) of the site at a 1-based position among `sites` sites, the most valuable first.
pub fn rank(position: usize, sites: usize) -> u8 {
    match 3 * position {
        thrice if thrice <= sites => 4,
        thrice if thrice <= 2 * sites => 2,
        _ => 1,
    }
}

/// The pass of a cycle of four in which the less valuable sites are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phases {
    /// All in the first pass, as published: the load of passes is n, n/3, 2n/3, n/3.
    AsPublished,
    /// A hashed pass per site, so that every pass costs about the same.
    Hashed,
}

impl Phases {
    fn of(self, site: u64) -> u64 {
        match self {
            Phases::AsPublished => 1,
            Phases::Hashed => 1 + site % 4,
        }
    }
}

/// Whether a site of this rank is visited in a pass (counted from 1).
pub fn visited(rank: u8, pass: u64, site: u64, phases: Phases) -> bool {
    // Four more, so that the difference is never negative.
    let since = pass + 4 - phases.of(site);
    match rank {
        4 => true,
        2 => since.is_multiple_of(2),
        _ => since.is_multiple_of(4),
    }
}

/// Visits of a page in four passes, over all ranks.
const MEAN_VISITS: f64 = 7.0 / 3.0;

/// The policy: one pass after another over the sites that are due in it, page by page. A site's value is the mean weight of
/// its pages: the ranker gives all of them the site's link value, at different times. Sites of other partitions take their
/// places in the order, so that a site has the same rank whichever partition holds it.
#[derive(Clone, Debug)]
pub struct SiteRanks {
    phases: Phases,
    pass: u64,
    sites: BTreeMap<u64, RankedSite>,
    pages: SlotTable<SiteRanksPage>,
    new: NewPageQueue,
    /// The rest of the current pass.
    queue: VecDeque<Slot>,
    /// Number of pages with [`SiteRanksStatus::Waiting`].
    waiting: usize,
    /// The values of the sites of other partitions.
    others: Vec<PlanValues>,
    /// Number of all sites at the last pass.
    sites_ranked: usize,
}

/// The pages of a site. Until the next pass, some may be removed or listed twice.
#[derive(Clone, Debug, Default)]
struct RankedSite {
    slots: Vec<Slot>,
    /// Its position among all sites at the last pass, from 1. 0: it was in none yet.
    position: usize,
}

#[derive(Clone, Copy, Debug)]
struct SiteRanksPage {
    site: u64,
    weight: f64,
    status: SiteRanksStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SiteRanksStatus {
    /// Without a copy: it is among the new pages.
    New,
    /// Waiting for a pass.
    Waiting,
    /// In the queue of the current pass.
    Queued,
    InFlight,
}

impl SiteRanks {
    pub fn new(phases: Phases) -> Self {
        Self {
            phases,
            pass: 0,
            sites: BTreeMap::new(),
            pages: SlotTable::default(),
            new: NewPageQueue::default(),
            queue: VecDeque::new(),
            waiting: 0,
            others: Vec::new(),
            sites_ranked: 0,
        }
    }

    fn next_pass(&mut self) {
        self.pass += 1;
        let pages = &self.pages;
        self.sites.retain(|key, site| {
            site.slots.sort_unstable();
            site.slots.dedup();
            site.slots.retain(|&slot| pages.get(slot).is_some_and(|page| page.site == *key));
            !site.slots.is_empty()
        });
        self.rank_sites();
        for (&key, site) in &self.sites {
            if !visited(rank(site.position, self.sites_ranked), self.pass, key, self.phases) {
                continue;
            }
            for &slot in &site.slots {
                if let Some(page) = self.pages.get_mut(slot).filter(|page| page.status == SiteRanksStatus::Waiting) {
                    page.status = SiteRanksStatus::Queued;
                    self.waiting -= 1;
                    self.queue.push_back(slot);
                }
            }
        }
    }

    /// Gives every site its position among the sites of all partitions.
    fn rank_sites(&mut self) {
        let mut by_value: Vec<(u64, f64)> = self.sites.iter().map(|(key, site)| (*key, self.value_of(site))).collect();
        // Ties by site, which is already the order.
        by_value.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.sites_ranked = by_value.len() + self.others.iter().map(PlanValues::count).sum::<usize>();
        let mut above = 0;
        for alike in by_value.chunk_by(|a, b| a.1.total_cmp(&b.1).is_eq()) {
            let value = alike[0].1;
            let (mut above_it, mut ties) = (above as f64, alike.len() as f64);
            for other in &self.others {
                // Sent as a 32-bit number.
                let (more, same) = other.above(f64::from(value as f32));
                (above_it, ties) = (above_it + more, ties + same);
            }
            for (place, (key, _)) in alike.iter().enumerate() {
                // Sites of one value are spread over the positions that they share.
                let position = above_it + (place as f64 + 0.5) / alike.len() as f64 * ties;
                if let Some(site) = self.sites.get_mut(key) {
                    site.position = (position.floor() as usize + 1).min(self.sites_ranked);
                }
            }
            above += alike.len();
        }
    }

    /// The mean weight of the site's pages.
    fn value_of(&self, site: &RankedSite) -> f64 {
        let weights = site.slots.iter().filter_map(|&slot| self.pages.get(slot)).map(|page| page.weight);
        let (sum, count) = weights.fold((0.0, 0.0), |(sum, count), weight| (sum + weight, count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    }

    fn take_queued(&mut self) -> Option<Slot> {
        while let Some(slot) = self.queue.pop_front() {
            if self.change_status(slot, SiteRanksStatus::Queued, SiteRanksStatus::InFlight) {
                return Some(slot);
            }
        }
        None
    }

    /// Moves a page from one status to another. Returns `false` when it did not have the first.
    fn change_status(&mut self, slot: Slot, from: SiteRanksStatus, to: SiteRanksStatus) -> bool {
        let Some(page) = self.pages.get_mut(slot).filter(|page| page.status == from) else { return false };
        page.status = to;
        true
    }
}

impl RevisitPolicy for SiteRanks {
    fn insert(&mut self, slot: Slot, page: &PolicyPage, now_days: f64) {
        self.remove(slot);
        let site = page.place.site;
        let status = if page.last_look_days.is_some() { SiteRanksStatus::Waiting } else { SiteRanksStatus::New };
        if status == SiteRanksStatus::New {
            self.new.discovered(slot, now_days);
        } else {
            self.waiting += 1;
        }
        self.sites.entry(site).or_default().slots.push(slot);
        self.pages.insert(slot, SiteRanksPage { site, weight: sane(page.weight), status });
    }

    fn weigh(&mut self, slot: Slot, weight: f64) {
        if let Some(page) = self.pages.get_mut(slot) {
            page.weight = sane(weight);
        }
    }

    fn remove(&mut self, slot: Slot) {
        self.new.remove(slot);
        if self.pages.remove(slot).is_some_and(|page| page.status == SiteRanksStatus::Waiting) {
            self.waiting -= 1;
        }
    }

    fn begin(&mut self, _tick: &PolicyTick) {}

    fn next(&mut self, _now_days: f64) -> Option<Slot> {
        if let Some(slot) = self.new.take().or_else(|| self.take_queued()) {
            return Some(slot);
        }
        // A site comes at least once in four passes, so with few sites a pass can be empty.
        while self.waiting > 0 {
            self.next_pass();
            if let Some(slot) = self.take_queued() {
                return Some(slot);
            }
        }
        None
    }

    fn put_back(&mut self, slot: Slot) {
        if !self.new.put_back(slot) && self.change_status(slot, SiteRanksStatus::InFlight, SiteRanksStatus::Queued) {
            self.queue.push_front(slot);
        }
    }

    fn looked(&mut self, slot: Slot, _look: &PolicyLook) {
        self.new.remove(slot);
        if let Some(page) = self.pages.get_mut(slot).filter(|page| page.status != SiteRanksStatus::Waiting) {
            page.status = SiteRanksStatus::Waiting;
            self.waiting += 1;
        }
    }

    fn standing(&self, slot: Slot) -> Option<PlanStanding> {
        let site = self.sites.get(&self.pages.get(slot)?.site).filter(|site| site.position > 0)?;
        Some(PlanStanding::SiteRank {
            rank: rank(site.position, self.sites_ranked),
            position: site.position,
            sites: self.sites_ranked,
            pass: self.pass,
        })
    }

    fn plan_values(&self) -> Option<PlanValues> {
        // Weights may have come since the last pass, or before the first one.
        Some(PlanValues::of(self.sites.values().map(|site| self.value_of(site))))
    }

    fn learn_plan_values(&mut self, others: &[PlanValues], _budget_per_day: f64) {
        self.others = others.to_vec();
    }

    /// Visits of all pages in four passes.
    fn plan_demand(&self) -> Option<f64> {
        let visits = |site: &RankedSite| match site.position {
            0 => MEAN_VISITS,
            position => f64::from(rank(position, self.sites_ranked)),
        };
        Some(self.sites.values().map(|site| visits(site) * site.slots.len() as f64).sum())
    }
}
