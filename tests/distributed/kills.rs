//! A killed service comes back with its state, and no due page is lost.

use crate::services::{Distributed, kafka};
use simweb::{SeededConfig, politeness};
use std::time::Duration;
use tests::SimulatedWeb;

/// Requests wait for the test, and no limit ends that.
pub(crate) const PATIENT: [(&str, &str); 7] = [
    ("budget.fetches_per_second", "200"),
    ("budget.burst", "1s"),
    ("budget.in_flight", "100"),
    ("politeness.crawl_delay", "20ms"),
    ("fetch.total_timeout", "1h"),
    ("fetch.idle_timeout", "1h"),
    ("policy.lease_timeout", "6h"),
];

/// A web that lets the crawl get as far as the test wants it to.
pub(crate) fn web() -> SimulatedWeb {
    let seeded = SeededConfig { hosts: 16, pages_per_host: 40, ..SeededConfig::default() };
    SimulatedWeb::start_held(seeded, |config| config.dials.latency = Duration::from_millis(5))
}

/// Requests seen between two kills.
const STRIDE: usize = 40;

#[test]
fn a_service_that_is_killed_comes_back_with_its_state_and_nothing_due_is_forgotten() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &PATIENT);
    let mut services = distributed.start_all();
    // Which stage, and whether its disk is lost with it.
    let kills = [
        ("scheduler", false),
        ("detector", false),
        ("estimator", false),
        ("matcher", false),
        ("ranker", false),
        ("fetcher", false),
        ("scheduler", true),
        ("detector", true),
        ("estimator", true),
        ("matcher", true),
        ("ranker", true),
    ];
    for (stage, disk_is_lost) in kills {
        web.let_through(STRIDE);
        let place = services.iter().position(|service| service.stage == stage).unwrap();
        services.remove(place).kill();
        if disk_is_lost {
            std::fs::remove_dir_all(distributed.data(stage, "0")).unwrap();
        }
        services.push(distributed.start(stage, "0"));
    }
    web.open();
    distributed.wait_until_idle(&services);
    for service in services {
        let stage = service.stage;
        let said = service.stop();
        if stage != "fetcher" {
            assert!(restored_records(&said) > 0, "the {stage} restored nothing from its changelog:\n{said}");
        }
    }
    for page in distributed.books("0").values() {
        let page = &page.scheduler;
        assert_eq!((page.fetches, page.status), (1, Some(200)), "{page:?}");
    }
    let report = politeness(&web.ledger());
    assert_eq!((report.robots_violations, report.max_in_flight_per_host), (0, 1), "{report:#?}");
    assert!(report.min_gap_s.unwrap() >= 0.020, "{report:#?}");
}

/// Number of changelog records replayed, from a service's log.
fn restored_records(said: &str) -> u64 {
    let counts = said.split("replayed=").skip(1).filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    counts.sum()
}
