//! Times of the last change that servers send, on their way to the scheduler of a running crawl.

use simweb::{ChangeRates, HostDials, SeededConfig, ValidatorSupport};
use std::collections::HashMap;
use tests::{Crawl, SimulatedWeb, books};

/// A host that sends no dates.
const SILENT_HOST: &str = "host-0002.test";

#[test]
fn dates_reported_at_the_first_look_teach_the_running_stages() {
    // Pages that have stood for months when the crawl begins, and stay as they are.
    let rates = ChangeRates::Same(0.004);
    let seeded = SeededConfig { hosts: 2, pages_per_host: 12, rates, days: 0.01, ..SeededConfig::default() };
    let start = seeded.start;
    let web = SimulatedWeb::start(seeded, 1.0, |config| {
        let validators = ValidatorSupport { etag: true, last_modified: false };
        config.host_dials.insert(SILENT_HOST.to_owned(), HostDials { validators, ..HostDials::default() });
    });
    let crawl = web.clock_settings().into_iter().fold(Crawl::of(&web), |crawl, (key, value)| crawl.with(key, &value));
    crawl.run(&["--until-idle"]).finish().exits_with(0);

    let ages: HashMap<String, f64> =
        web.trace().pages.iter().map(|page| (page.url(), start.days_since(page.states[0].since))).collect();
    let pages = books::read(&crawl);
    let (mut reported, mut silent) = (Vec::new(), Vec::new());
    for page in pages.values().map(|entry| &entry.scheduler) {
        assert!(page.fetches > 0, "{} was never fetched", page.url);
        let belief = &page.belief;
        let (days, age) = (f64::from(belief.plain_beta_days), ages[page.url.as_str()]);
        if page.url.host_name() == SILENT_HOST {
            assert!(days < 1.0, "{}: nobody told of {days} days", page.url);
            silent.push(belief.change_rate_per_day());
        } else {
            let counted = sweeps::rules::FIRST_DATE_WEIGHT * age.min(sweeps::rules::DATES_REACH_DAYS);
            assert!((days / counted - 1.0).abs() < 0.1, "{}: {days} days of {age} count", page.url);
            reported.push((age, belief.change_rate_per_day()));
        }
    }
    assert_eq!((reported.len(), silent.len()), (12, 12));
    let oldest = reported.iter().max_by(|one, other| one.0.total_cmp(&other.0)).expect("twelve").1;
    assert!(silent.iter().all(|rate| oldest < 0.5 * rate), "{oldest} against {silent:?}");
}
