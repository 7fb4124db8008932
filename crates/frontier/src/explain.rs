//! Explains why a page is due or not, with the code that decides: in the running frontier, or from records read beside it.

mod answer;
mod explanation;
mod reasons;

pub use crate::explain::explanation::{Explanation, HintQuality, Hints, HostCap, RateRange, SweepHazard};

use crate::frontier::Frontier;
use crate::hint_kinds::{kind_of as hint_kind_of, record_of};
use crate::host_numbers::Hosts;
use crate::hosts::HostSchedule;
use crate::page_index::{PageIndex, place_of};
use crate::page_record::ScheduledPage;
use crate::request::WantedReason;
use crate::rules::FrontierRules;
use crate::ties::weight_of;
use change_rate::Gamma;
use page::{CanonicalUrl, PageId, Timestamp};
use revisit::PlanStanding;
use revisit::columns::{Index, Slot, Worth};
use revisit::hints::{HintRecord, KINDS, value_with_hints};
use sweeps::{GroupKind, GroupOutlook, Outlook};

/// No policy plans further ahead.
const HORIZON_DAYS: f64 = 3_650.0;

/// A page and everything that decides about it: all pages of its site at least, their outlook, and the hints of its
/// host.
struct ExplainedPage<'a> {
    pages: &'a PageIndex,
    outlook: &'a Outlook,
    slot: Slot,
    page: &'a ScheduledPage,
    index: Index,
    hints: HintRecord,
    /// The price assumed where none was computed.
    price: f64,
    /// Where it stands in the policy's plan, and when it is due by it.
    plan: Option<(PlanStanding, Option<f64>)>,
}

/// Explains the decision about a page.
///
/// `pages` are all pages of its site, including itself: siblings share groups and the last look at them. `schedule` is
/// the schedule of its host, `price` the last published price. Returns `None` when the page is not known.
pub fn explain(
    rules: &FrontierRules,
    url: &CanonicalUrl,
    outlook: Outlook,
    pages: &[(PageId, ScheduledPage)],
    schedule: Option<HostSchedule>,
    price: Option<f64>,
    now: Timestamp,
) -> Option<Explanation> {
    let hints = schedule.as_ref().map(record_of).unwrap_or_default();
    let (mut index, mut hosts) = (PageIndex::default(), Hosts::new(rules));
    if !rules.values_hints() {
        index.received.ignore_silence();
    }
    let host = hosts.of(url);
    *hosts.gate_mut(host).hints_mut() = hints.clone();
    let mut found = None;
    for (id, page) in pages {
        let slot = index.set(*id, page, &mut hosts, rules, &outlook);
        if *id == url.page_id() {
            found = Some((slot, page));
        }
    }
    let (slot, page) = found?;
    index.resolve_lists(&hosts);
    index.columns.refresh(&outlook, usize::MAX);
    let (pages, outlook, price_now) = (&index, &outlook, price.unwrap_or(0.0));
    let known = ExplainedPage { pages, outlook, slot, page, index: rules.index, hints, price: price_now, plan: None };
    Some(known.explain(rules, schedule, price, now))
}

impl Frontier {
    /// Explains the decision about a page from what is known now. `schedule` is the schedule of its host. Returns
    /// `None` when the page is not known.
    pub fn explain(&self, page: &ScheduledPage, schedule: Option<HostSchedule>, now: Timestamp) -> Option<Explanation> {
        let price = self.demand.known_price();
        let slot = self.pages.slot(page.url.page_id())?;
        let planner = self.planner.as_ref();
        let known = ExplainedPage {
            pages: &self.pages,
            outlook: &self.outlook,
            slot,
            plan: planner.and_then(|planner| Some((planner.standing(slot)?, planner.due_days(slot)))),
            page,
            index: self.rules.index,
            hints: schedule.as_ref().map(record_of).unwrap_or_default(),
            price: price.unwrap_or(0.0),
        };
        Some(known.explain(&self.rules, schedule, price, now))
    }
}

impl ExplainedPage<'_> {
    fn worth(&self, at: Timestamp) -> Option<Worth> {
        self.pages.columns.worth(self.slot, &self.index, self.outlook, at)
    }

    /// The value the page competes with at a time.
    fn value(&self, at: Timestamp) -> f64 {
        if let Some(value) = self.pages.columns.first_copy_value(self.slot, &self.index, self.outlook, at) {
            return value;
        }
        self.worth(at).map_or(0.0, |worth| {
            let own = if self.page.hint_hazard > 0.0 {
                value_with_hints(&worth, &self.index, self.page.hint_hazard)
            } else {
                worth.value
            };
            let listed = self
                .pages
                .received
                .list(self.slot)
                .filter(|_| self.price > 0.0)
                .map_or(0.0, |list| list.value(own, worth.days, |kind| self.hints.precision(kind), self.price));
            (own + worth.sentinel_value).max(listed)
        })
    }

    /// Days until the page is worth the price, from what is known now. `None` when that takes more than ten years.
    fn due_after_days(&self, price: f64, now: Timestamp) -> Option<f64> {
        if self.value(now) >= price {
            return Some(0.0);
        }
        let reached = |days: f64| self.value(now.plus_days(days)) >= price;
        let (mut low, mut high) = (0.0, 1.0 / 1_440.0);
        while !reached(high) {
            (low, high) = (high, high * 2.0);
            if low > HORIZON_DAYS {
                return None;
            }
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if reached(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    fn qualities(&self) -> Vec<HintQuality> {
        let received = (0..KINDS).filter(|kind| self.hints.has_received(*kind));
        let quality = |kind: usize| HintQuality {
            kind: hint_kind_of(kind),
            precision: self.hints.precision(kind),
            recall: self.hints.recall(kind),
        };
        received.map(quality).collect()
    }

    fn sweep_hazards(&self, last: Timestamp, now: Timestamp) -> Vec<SweepHazard> {
        let place = place_of(&self.page.url);
        let groups = self.outlook.groups_of(&place);
        let shown = |group: &GroupOutlook| SweepHazard {
            group: kind_of(&place.groups, group.group).into(),
            pages: group.pages,
            hazard: group.hazard.between(last.as_days(), now.as_days()),
            per_day: group.hazard.per_day(),
        };
        groups.as_slice().iter().filter_map(|group| self.outlook.group(*group)).map(shown).collect()
    }

    fn explain(
        &self,
        rules: &FrontierRules,
        schedule: Option<HostSchedule>,
        price: Option<f64>,
        now: Timestamp,
    ) -> Explanation {
        let page = self.page;
        let worth = self.worth(now);
        let live = matches!(self.index, Index::Live { .. });
        let belief = crate::siblings::belief_of(page, place_of(&page.url).cell, rules, self.outlook);
        let believed = match &worth {
            Some(worth) if live => worth.plain,
            _ => belief,
        };
        let held_until = page.request.held_until();
        let state = match page {
            page if page.request.is_in_flight() => "in_flight",
            page if !rules.allows(page.url.page_id(), &page.url) => "excluded",
            _ if held_until.is_some_and(|until| until > now) => "held",
            page if page.last_look_at.is_none() => "never_fetched",
            _ => "ready",
        };
        let scored = rules.scores_pages();
        let due_days = match (page.last_look_at, price) {
            _ if page.request.wanted != WantedReason::No => Some(0.0),
            (None, _) if !scored => Some(0.0),
            (_, Some(price)) if scored => self.due_after_days(price, now),
            _ if !scored => self.plan.and_then(|(_, due_days)| Some((due_days? - now.as_days()).max(0.0))),
            _ => None,
        };
        let permitted_at = schedule.as_ref().map(|schedule| schedule.next_permitted_at);
        let waits = [held_until, permitted_at].into_iter().flatten().max();
        // Whatever it is worth, a page is fetched once its longest interval is over.
        let longest = page.last_look_at.map_or(Timestamp::MAX, |last| last + rules.max_interval_of(&page.url));
        let due_at = due_days.map(|days| {
            let worth_it = now.plus_days(days).min(longest);
            worth_it.max(waits.unwrap_or(Timestamp::MIN)).max(now)
        });
        let sweep_hazards = match page.last_look_at {
            Some(last) if live => self.sweep_hazards(last, now),
            _ => Vec::new(),
        };
        let probability = -(-page.hint_hazard).exp_m1();
        let ties = page.ties.as_ref().filter(|_| rules.mirrors);
        let mut explanation = Explanation {
            url: page.url.to_string(),
            policy: rules.policy.name().to_owned(),
            state: state.into(),
            plan: self.plan.map(|(standing, _)| standing.to_string()),
            due_at: due_at.map(|at| at.to_string()),
            crawl_value: scored.then(|| self.value(now)),
            price,
            weight: weight_of(page, rules),
            weight_from: rules.weight_from(page).into(),
            importance: page.importance,
            change_rate_per_day: RateRange {
                mean: believed.mean(),
                p05: believed.quantile(0.05),
                p95: believed.quantile(0.95),
            },
            mean_extent: (rules.extent_share > 0.0 && page.last_look_at.is_some())
                .then(|| f64::from(page.belief.mean_extent)),
            expected_freshness: worth.map(|worth| worth.fresh_probability * (-page.hint_hazard).exp()),
            days_since_look: worth.map(|worth| worth.days + self.pages.received.silence(self.slot)),
            own_hazard: worth.map(|worth| hazard(worth.own, worth.days)),
            sweep_hazards,
            sentinel_value: worth.filter(|_| live).map(|worth| worth.sentinel_value),
            trust: worth.filter(|_| live).map(|worth| worth.trust),
            host: HostCap {
                name: page.url.host_name().to_owned(),
                next_permitted_at: permitted_at.filter(|at| *at > Timestamp::MIN).map(|at| at.to_string()),
                crawl_delay_ms: schedule.as_ref().map(|schedule| schedule.crawl_delay_ms),
                paused: schedule.as_ref().is_some_and(|schedule| schedule.paused),
                blocked: schedule.as_ref().is_some_and(|schedule| schedule.blocked),
            },
            hints: Hints { kinds: page.hinted.count_ones(), probability, host: self.qualities(), listed: page.listed },
            mirror_of: ties.and_then(|ties| ties.canonical.as_ref()).map(|canonical| canonical.rank.url.to_string()),
            mirrors: ties.map_or(0, |ties| ties.followers.len()),
            reasons: Vec::new(),
            answer: String::new(),
        };
        if explanation.state == "excluded" || explanation.host.blocked || explanation.host.paused {
            // Until an operator says otherwise.
            explanation.due_at = None;
        }
        explanation.answer = self.answer(&explanation, rules, schedule.as_ref(), now);
        explanation.reasons = self.reasons(&explanation, rules, schedule.as_ref(), now);
        explanation
    }
}

/// Expected number of the page's own changes.
fn hazard(own: Gamma, days: f64) -> f64 {
    own.alpha() * (days / own.beta_days()).ln_1p()
}

fn kind_of(groups: &[u64], hash: u64) -> &'static str {
    let kind = GroupKind::ALL.into_iter().zip(groups).find(|(_, group)| **group == hash);
    match kind.map(|(kind, _)| kind) {
        Some(GroupKind::Site) => "site",
        Some(GroupKind::Host) => "host",
        Some(GroupKind::Directory) => "directory",
        Some(GroupKind::Subdirectory) => "subdirectory",
        Some(GroupKind::FileType) => "file type",
        Some(GroupKind::DirectoryFileType) => "directory and file type",
        Some(GroupKind::FileName) => "file name",
        None => "unknown",
    }
}
