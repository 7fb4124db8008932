//! Policies that keep their own account of pages, and the waits that they know nothing of.

use crate::rules::Rules;
use change_rate::{Gamma, Outcome};
use messages::Verdict;
use page::Timestamp;
use revisit::allocate::{AccessTime, Objective, PartitionKey};
use revisit::columns::Slot;
use revisit::demand_curve::DemandCurve;
use revisit::planned::{Planned, RatePlan};
use revisit::systems::adaptive::{Adaptive, AdaptiveOptions};
use revisit::systems::chile::{Chile, ChileOptions};
use revisit::systems::classified;
use revisit::systems::site_ranks::{Phases, SiteRanks};
use revisit::systems::tianwang::{CycleOptions, Tianwang, TianwangOptions};
use revisit::systems::webfountain::{WebFountain, WebFountainOptions};
use revisit::{PolicyLook, PolicyPage, RevisitPolicy, Tick};
use settings::PolicyName;
use std::collections::BTreeSet;

/// Groups of the partitioned policy, and rounds that refine them.
const PARTITIONS: (usize, u32) = (50, 20);

/// A policy at work, and the pages it has given out: they are under way, or wait here for a moment it knows nothing of.
pub(crate) struct Planner {
    policy: Box<dyn RevisitPolicy>,
    out: BTreeSet<Slot>,
}

impl Planner {
    /// The policy of this name; `None` for those that score every page afresh.
    pub(crate) fn new(rules: &Rules) -> Option<Self> {
        let planned = |plan: RatePlan| Planned::new(plan, rules.replan_days);
        let optimal = |objective: Objective| planned(RatePlan::optimal(objective));
        let adaptive = |options: AdaptiveOptions| -> Box<dyn RevisitPolicy> { Box::new(Adaptive::new(options)) };
        let policy: Box<dyn RevisitPolicy> = match rules.policy {
            PolicyName::Live | PolicyName::CrawlValue | PolicyName::Uniform => return None,
            PolicyName::Proportional => Box::new(planned(RatePlan::Proportional)),
            PolicyName::Classified => Box::new(planned(RatePlan::Rule(classified::rates))),
            PolicyName::ClassifiedTuned => Box::new(planned(RatePlan::Rule(classified::tuned_rates))),
            PolicyName::SiteRanks => Box::new(SiteRanks::new(Phases::Hashed)),
            PolicyName::Tianwang => {
                let cycle = CycleOptions { new_share: rules.new_page_share, ..TianwangOptions::default().cycle };
                Box::new(Tianwang::new(TianwangOptions { cycle_days: rules.replan_days, cycle }))
            }
            PolicyName::Chile => {
                Box::new(Chile::new(ChileOptions { period_days: rules.replan_days, ..ChileOptions::default() }))
            }
            PolicyName::Webfountain => Box::new(WebFountain::new(WebFountainOptions::default())),
            PolicyName::OptimalFreshness => Box::new(optimal(Objective::FRESHNESS)),
            PolicyName::OptimalAge => Box::new(optimal(Objective::Age)),
            PolicyName::OptimalHarmonic => Box::new(optimal(Objective::HARMONIC)),
            PolicyName::Polling => Box::new(planned(RatePlan::Polling(AccessTime::Constant))),
            PolicyName::MarkedPoint => Box::new(planned(RatePlan::MarkedPoint)),
            PolicyName::Partitioned => {
                let (groups, rounds) = PARTITIONS;
                Box::new(planned(RatePlan::Partitioned { key: PartitionKey::PerceivedFreshness, groups, rounds }))
            }
            PolicyName::Azar => Box::new(planned(RatePlan::Azar).with_chairman()),
            PolicyName::LambdaCrawl => Box::new(optimal(Objective::RandomHarmonic)),
            PolicyName::LambdaCrawlApprox => Box::new(planned(RatePlan::ByWeight)),
            PolicyName::HostCapped => {
                let curve = DemandCurve::new(Objective::Mixed { theta: rules.theta });
                Box::new(planned(RatePlan::HostCapped { curve, host_limit_per_day: rules.host_limit_per_day }))
            }
            PolicyName::Stormcrawler => adaptive(AdaptiveOptions::STORMCRAWLER),
            PolicyName::Nutch => adaptive(AdaptiveOptions::NUTCH),
            PolicyName::NutchNosync => adaptive(AdaptiveOptions::NUTCH_NO_SYNC),
            PolicyName::NewsCrawl => adaptive(AdaptiveOptions::NEWS_CRAWL),
        };
        Some(Self { policy, out: BTreeSet::new() })
    }

    /// A page has become known, or is another one than it was (its weight).
    pub(crate) fn insert(&mut self, slot: Slot, page: &PolicyPage, now: Timestamp) {
        self.remove(slot);
        self.policy.insert(slot, page, days(now));
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        self.policy.remove(slot);
        self.out.remove(&slot);
    }

    pub(crate) fn begin(&mut self, now: Timestamp, tick_days: f64, budget_per_day: f64) {
        self.policy.begin(&Tick { now_days: days(now), days: tick_days, budget_per_day });
    }

    /// The next page. One that is held, or under way for another reason, stays out until it is freed or looked at.
    pub(crate) fn next(&mut self, now: Timestamp) -> Option<Slot> {
        let slot = self.policy.next(days(now))?;
        self.out.insert(slot);
        Some(slot)
    }

    /// It may be chosen again though nobody has looked at it.
    pub(crate) fn freed(&mut self, slot: Slot) {
        if self.out.remove(&slot) {
            self.policy.put_back(slot);
        }
    }

    pub(crate) fn looked(&mut self, slot: Slot, look: &PolicyLook) {
        self.out.remove(&slot);
        self.policy.looked(slot, look);
    }

    pub(crate) fn due_days(&self, slot: Slot) -> Option<f64> {
        self.policy.due_days(slot)
    }
}

/// What a look has found. A first look has nothing to compare with.
pub(crate) fn look_of(
    verdict: Verdict,
    fetched_at: Timestamp,
    previous: Option<Timestamp>,
    belief: Gamma,
) -> PolicyLook {
    let outcome = match verdict {
        Verdict::Unchanged | Verdict::Cosmetic | Verdict::First => Some(Outcome::Unchanged),
        Verdict::Minor | Verdict::Major | Verdict::Gone | Verdict::Returned => Some(Outcome::Changed),
        Verdict::Unknown => None,
    };
    let interval_days = previous.filter(|_| verdict != Verdict::First).map(|previous| fetched_at.days_since(previous));
    PolicyLook { at_days: days(fetched_at), interval_days: interval_days.map(|days| days.max(0.0)), outcome, belief }
}

/// Days since 1970.
pub(crate) fn days(moment: Timestamp) -> f64 {
    moment.as_micros() as f64 / 86_400e6
}
