//! Sums over the pages of each host: their number, fetches, changes and weight.

use crate::hosts::HostSchedule;
use crate::page_record::ScheduledPage;
use crate::rules::FrontierRules;
use change_rate::Gamma;
use messages::{HostOrder, HostSelection};
use page::{HostName, Timestamp};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::HashMap;

/// A host with the totals of its pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostReport {
    pub host: HostName,
    /// Number of known pages.
    pub pages: u64,
    /// Those without a copy.
    pub never_fetched: u64,
    /// Fetches of its pages so far.
    pub fetches: u64,
    /// Changes seen.
    pub changes: u64,
    /// Expected share of current copies, by weight; a page without a copy is not current.
    pub freshness: f64,
    /// Sum of the weights of its pages.
    pub value: f64,
    /// Share of all fetches so far.
    pub budget_share: f64,
    /// Pages that another page is fetched for, because they have the same text.
    pub mirrors: u64,
    /// Whether an operator paused it.
    pub paused: bool,
    /// Whether an operator blocked it.
    pub blocked: bool,
    /// Not asked before this time, because it failed or asked for it.
    pub left_alone_until: Option<Timestamp>,
}

/// The first hosts in some order, of one partition or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostListing {
    /// Number of known hosts, listed or not.
    pub known: u64,
    /// Fetches of the pages of all known hosts.
    pub fetches: u64,
    /// The hosts, the first in front.
    pub hosts: Vec<HostReport>,
}

impl HostListing {
    /// The first hosts of several listings in this order. A host must be in one of them only.
    pub fn merged(listings: impl IntoIterator<Item = Self>, selection: HostSelection) -> Self {
        let mut merged = Self::default();
        for listing in listings {
            merged.known += listing.known;
            merged.fetches += listing.fetches;
            merged.hosts.extend(listing.hosts);
        }
        let before = |a: &HostReport, b: &HostReport| {
            let order = match selection.order {
                HostOrder::Pages => b.pages.cmp(&a.pages),
                HostOrder::Fetches => b.fetches.cmp(&a.fetches),
                HostOrder::Value => b.value.total_cmp(&a.value),
                HostOrder::Freshness => a.freshness.total_cmp(&b.freshness),
                HostOrder::Name => Ordering::Equal,
            };
            order.then_with(|| a.host.cmp(&b.host))
        };
        merged.hosts.sort_by(before);
        merged.hosts.truncate(usize::try_from(selection.at_most).unwrap_or(0));
        for host in &mut merged.hosts {
            host.budget_share = share(host.fetches as f64, merged.fetches as f64);
        }
        merged
    }
}

/// Adds up the pages of hosts: first all pages, then the hosts.
pub struct HostTally<'a> {
    rules: &'a FrontierRules,
    now: Timestamp,
    hosts: HashMap<HostName, HostSums>,
}

/// Sums over the pages of a host, and its schedule.
#[derive(Clone, Debug, Default)]
struct HostSums {
    pages: u64,
    never_fetched: u64,
    fetches: u64,
    changes: u64,
    weight: f64,
    current_weight: f64,
    mirrors: u64,
    schedule: Option<HostSchedule>,
}

impl<'a> HostTally<'a> {
    pub fn new(rules: &'a FrontierRules, now: Timestamp) -> Self {
        Self { rules, now, hosts: HashMap::new() }
    }

    pub fn add_page(&mut self, page: &ScheduledPage) {
        let weight = self.rules.own_weight(page);
        let sums = self.hosts.entry(HostName::of(&page.url)).or_default();
        sums.pages += 1;
        sums.never_fetched += u64::from(page.last_look_at.is_none());
        sums.fetches += page.fetches.max(0).unsigned_abs();
        sums.changes += page.changes.max(0).unsigned_abs();
        sums.weight += weight;
        sums.mirrors += u64::from(page.ties.as_ref().is_some_and(|ties| ties.canonical.is_some()));
        if let Some(at) = page.last_look_at {
            let belief = Gamma::new(page.belief.alpha, page.belief.beta_days);
            let fresh = belief.map_or(0.0, |belief| belief.fresh_probability(self.now.days_since(at).max(0.0)));
            sums.current_weight += weight * fresh;
        }
    }

    /// Adds the schedule of a host. A host without pages is left out, unless it is blocked.
    pub fn add_host(&mut self, host: HostName, schedule: HostSchedule) {
        if schedule.blocked || self.hosts.contains_key(&host) {
            self.hosts.entry(host).or_default().schedule = Some(schedule);
        }
    }

    /// The first hosts in this order.
    pub fn listing(self, selection: HostSelection) -> HostListing {
        let now = self.now;
        let hosts: Vec<_> = self.hosts.into_iter().map(|(host, sums)| sums.report(host, now)).collect();
        let fetches = hosts.iter().map(|host| host.fetches).sum();
        HostListing::merged([HostListing { known: hosts.len() as u64, fetches, hosts }], selection)
    }
}

impl HostSums {
    fn report(self, host: HostName, now: Timestamp) -> HostReport {
        let schedule = self.schedule.as_ref();
        HostReport {
            host,
            pages: self.pages,
            never_fetched: self.never_fetched,
            fetches: self.fetches,
            changes: self.changes,
            freshness: share(self.current_weight, self.weight),
            value: self.weight,
            budget_share: 0.0,
            mirrors: self.mirrors,
            paused: schedule.is_some_and(|schedule| schedule.paused),
            blocked: schedule.is_some_and(|schedule| schedule.blocked),
            left_alone_until: schedule.map(|schedule| schedule.left_alone_until).filter(|until| *until > now),
        }
    }
}

fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}
