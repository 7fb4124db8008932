//! A web of sites with sitemaps and dates, lived through by the real scheduler, detector and estimator, and by the
//! simulator.

use crate::lived_web::{LivedWeb, changes_days, get, simulated_pages};
use change_rate::EstimatorChoice;
use messages::{Validators, topics};
use page::{CanonicalUrl, Timestamp};
use policies::{PolicyKind, PolicyOptions};
use simulate::changes::RecordedChanges;
use simulate::engine::{self, Run};
use simulate::lists::{ShownDates, SiteLists};
use simulate::{learner, setup};
use simweb::{
    ChangeRates, ChangeTrace, HostDials, HostSitemap, Looks, PageDates, SeededConfig, SimWebConfig, TimeWindow, Web,
    WebSource,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::time::Duration;
use stream::TaskId;

const START: Timestamp = Timestamp::from_secs(1_700_000_000);
pub(crate) const PAGES_PER_HOST: usize = 40;
/// A look at every page in this many days.
const FETCH_EVERY_DAYS: f64 = 8.0;
pub(crate) const DAYS: f64 = 160.0;
/// Start of the scored time, in days. The time before it is for learning.
const SETTLED_DAYS: f64 = 60.0;
const TICK: Duration = Duration::from_secs(3_600);
/// Long enough that one changed passage is plainly a change: no looks are spent to make sure.
const PAGE_BYTES: usize = 6_000;

/// A web of hosts with these sitemaps, one each.
pub(crate) struct ListedWeb {
    pub(crate) sitemaps: Vec<HostSitemap>,
    /// Share of the pages of each host that state when they last changed.
    pub(crate) dated_share: f64,
    /// Hosts from this on date every page now.
    pub(crate) lying_dates_from: usize,
}

/// The result of running the services on it.
pub(crate) struct Lived {
    /// Share of the scored time during which copies were stale.
    pub(crate) stale: f64,
    pub(crate) fetches_per_day: f64,
    /// Looks at lists.
    pub(crate) list_looks: u32,
    /// Pages that the scheduler knows, lists among them.
    pub(crate) known_pages: usize,
    /// Bytes of the longest record for the scheduler.
    pub(crate) longest_record: usize,
}

impl ListedWeb {
    pub(crate) fn of(sitemaps: Vec<HostSitemap>) -> Self {
        Self { lying_dates_from: sitemaps.len(), sitemaps, dated_share: 0.0 }
    }

    fn trace(&self) -> ChangeTrace {
        let seeded = SeededConfig {
            hosts: self.sitemaps.len(),
            pages_per_host: PAGES_PER_HOST,
            rates: ChangeRates::LogNormal { median_per_day: 0.05, log_deviation: 1.0 },
            start: START,
            days: DAYS,
            ..SeededConfig::default()
        };
        seeded.trace()
    }

    /// By host.
    fn dials(&self) -> BTreeMap<String, HostDials> {
        let dials = |number: usize| HostDials {
            sitemap: self.sitemaps[number],
            dates: match number < self.lying_dates_from {
                true => PageDates::True { share: self.dated_share },
                false => PageDates::Now,
            },
            ..HostDials::default()
        };
        let hosts = self.trace().hosts();
        hosts.iter().enumerate().map(|(number, host)| (host.to_string(), dials(number))).collect()
    }

    /// The services live through it.
    pub(crate) fn live(&self) -> Lived {
        let web = self.web();
        let seeds = &web.trace().pages;
        let crawled = LivedWeb::crawl(&web, seeds, START, DAYS, TICK, FETCH_EVERY_DAYS, &[]);
        let LivedWeb { driver, names, .. } = &crawled;
        let store = driver.stores.snapshot(&TaskId { stage: "scheduler".to_owned(), partition: 0 }).unwrap();
        let mut known_pages = 0;
        let mut count = |_: &[u8], _: &[u8]| {
            known_pages += 1;
            ControlFlow::Continue(())
        };
        stream::StateStore::scan(&store, 0, b"", &mut count).unwrap();
        let records = driver.contents(&names.topic(topics::SCHEDULER_EVENTS)).unwrap();
        let lengths = records.iter().filter_map(|record| Some(record.value.as_ref()?.len()));
        let longest_record = lengths.max().unwrap();
        let trace = web.trace();
        let scored = TimeWindow { start: START.plus_days(SETTLED_DAYS), end: START.plus_days(DAYS) };
        let weights = vec![1.0; trace.pages.len()];
        let fetches = crawled.ledger.iter().filter(|entry| scored.start <= entry.started_at).count();
        Lived {
            stale: Looks::of_ledger(trace, &crawled.ledger).stale_share(trace, &weights, scored),
            fetches_per_day: fetches as f64 / scored.days(),
            list_looks: crawled.list_looks.values().sum(),
            known_pages,
            longest_record,
        }
    }

    fn web(&self) -> Web {
        let source = WebSource::Trace(self.trace());
        let config = SimWebConfig { host_dials: self.dials(), page_bytes: PAGE_BYTES, ..SimWebConfig::new(source) };
        Web::open(config).unwrap()
    }

    /// The file that lists each page, by address. All pages exist from the start.
    fn files(&self) -> HashMap<String, String> {
        let web = self.web();
        let mut files = HashMap::new();
        let mut unread: Vec<String> = self.dials().keys().filter_map(|host| web.sitemap_url(host)).collect();
        while let Some(file) = unread.pop() {
            let url = CanonicalUrl::parse(&file).unwrap();
            let text = String::from_utf8(get(&web, &url, &Validators::default(), START.plus_days(10.0)).body.to_vec());
            let text = text.unwrap();
            let addresses = text.split("<loc>").skip(1).filter_map(|rest| Some(rest.split_once('<')?.0.to_owned()));
            match text.contains("<sitemapindex") {
                true => unread.extend(addresses),
                false => files.extend(addresses.map(|address| (address, file.clone()))),
            }
        }
        files
    }

    /// Share of the scored time during which copies were stale in the simulator.
    pub(crate) fn simulate(&self, policy: PolicyKind, fetches_per_day: f64) -> f64 {
        let (trace, dials, files) = (self.trace(), self.dials(), self.files());
        let pages = simulated_pages(&trace);
        let lists = SiteLists::showing(trace.pages.iter().map(|page| {
            let reported = |late_days| ShownDates::Reported { dates: changes_days(page, START), late_days };
            let shown = match dials[&*page.host].sitemap {
                HostSitemap::Stale { days } => reported(days),
                HostSitemap::Lying => ShownDates::Now,
                _ => reported(0.0),
            };
            files.get(&page.url()).map(|file| (file, shown))
        }));
        let mut changes = RecordedChanges::new(trace.pages.iter().map(|page| changes_days(page, START))).unwrap();
        let mut policy = setup::build(policy, &PolicyOptions::default());
        let mut learner =
            learner::learner(EstimatorChoice::Sweeps, &pages, change_rate::EstimatorOptions::default()).unwrap();
        let truthful = self.lying_dates_from as f64 / self.sitemaps.len() as f64;
        let run = Run {
            last_modified_share: self.dated_share * truthful,
            tick_days: TICK.as_secs_f64() / 86_400.0,
            ..Run::new(SETTLED_DAYS, DAYS, fetches_per_day)
        };
        let mut go_on = |_| ControlFlow::Continue(());
        let (policy, learner) = (policy.as_mut(), learner.as_mut());
        let scores = engine::run_with_lists(&pages, &lists, &mut changes, policy, learner, &run, &mut go_on);
        1.0 - scores.unwrap().freshness
    }
}
