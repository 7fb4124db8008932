//! Every policy that keeps a plan of its own, by its name in the configuration: for the simulator and the running
//! scheduler alike.

use crate::adaptive::{Adaptive, AdaptiveOptions};
use crate::allocate::{AccessTime, PartitionKey};
use crate::chile::{Chile, ChileOptions};
use crate::classified;
use crate::planned::{Planned, RatePlan};
use crate::site_ranks::{Phases, SiteRanks};
use crate::tianwang::{CycleOptions, Tianwang, TianwangOptions};
use crate::webfountain::{WebFountain, WebFountainOptions};
use revisit::allocate::Objective;
use revisit::demand_curve::DemandCurve;
use revisit::{Policy, RevisitPolicy};

/// How policies are set; each reads what concerns it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyOptions {
    /// Share of the harmonic penalty in the objective of the live default, of crawl-value and of host-capped.
    pub theta: f64,
    /// Time between two plans; the cycle of tianwang and the period of chile.
    pub replan_days: f64,
    /// Share of a cycle of tianwang for pages never fetched.
    pub new_page_share: f64,
    /// Budget that host-capped spends on one host at most, per day.
    pub host_limit_per_day: f64,
}

/// The running system's theta, plans of a day, a fifth for new pages, a fetch every five seconds from one host.
impl Default for PolicyOptions {
    fn default() -> Self {
        Self {
            theta: Policy::DEFAULT_THETA,
            replan_days: Planned::REPLAN_DAYS,
            new_page_share: TianwangOptions::default().cycle.new_share,
            host_limit_per_day: 17_280.0,
        }
    }
}

/// The policy of this name, without pages yet; `None` for those that score every page afresh on the packed columns
/// (live, crawl-value), and for a name that is no policy's.
pub fn planning_policy(name: &str, options: &PolicyOptions) -> Option<Box<dyn RevisitPolicy>> {
    let replan_days = options.replan_days;
    let planned = |plan: RatePlan| -> Box<dyn RevisitPolicy> { Box::new(Planned::new(plan, replan_days)) };
    let optimal = |objective: Objective| planned(RatePlan::optimal(objective));
    let adaptive = |options: AdaptiveOptions| -> Box<dyn RevisitPolicy> { Box::new(Adaptive::new(options)) };
    Some(match name {
        "uniform" => planned(RatePlan::Uniform),
        "proportional" => planned(RatePlan::Proportional),
        "classified" => planned(RatePlan::Rule(classified::rates)),
        "classified-tuned" => planned(RatePlan::Rule(classified::tuned_rates)),
        "site-ranks" => Box::new(SiteRanks::new(Phases::Hashed)),
        "tianwang" => {
            let cycle = CycleOptions { new_share: options.new_page_share, ..TianwangOptions::default().cycle };
            Box::new(Tianwang::new(TianwangOptions { cycle_days: replan_days, cycle }))
        }
        "chile" => Box::new(Chile::new(ChileOptions { period_days: replan_days, ..ChileOptions::default() })),
        "webfountain" => Box::new(WebFountain::new(WebFountainOptions::default())),
        "optimal-freshness" => optimal(Objective::FRESHNESS),
        "optimal-age" => optimal(Objective::Age),
        "optimal-harmonic" => optimal(Objective::HARMONIC),
        "polling" => planned(RatePlan::Polling(AccessTime::Constant)),
        "marked-point" => planned(RatePlan::MarkedPoint),
        "partitioned" => {
            planned(RatePlan::Partitioned { key: PartitionKey::PerceivedFreshness, groups: 50, rounds: 20 })
        }
        "azar" => Box::new(Planned::new(RatePlan::Azar, replan_days).with_chairman()),
        "lambda-crawl" => optimal(Objective::RandomHarmonic),
        "lambda-crawl-approx" => planned(RatePlan::ByWeight),
        "host-capped" => planned(RatePlan::HostCapped {
            curve: DemandCurve::new(Objective::Mixed { theta: options.theta }),
            host_limit_per_day: options.host_limit_per_day,
        }),
        "stormcrawler" => adaptive(AdaptiveOptions::STORMCRAWLER),
        "nutch" => adaptive(AdaptiveOptions::NUTCH),
        "nutch-nosync" => adaptive(AdaptiveOptions::NUTCH_NO_SYNC),
        "news-crawl" => adaptive(AdaptiveOptions::NEWS_CRAWL),
        _ => return None,
    })
}
