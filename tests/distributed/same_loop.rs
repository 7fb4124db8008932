//! Four services reach what one process reaches.

use crate::services::{Distributed, Service, kafka};
use page::PageId;

use simweb::{ChangeRates, FaultRule, FaultScope, SeededConfig, WebFault};
use std::collections::BTreeMap;
use std::time::Duration;
use tests::{Crawl, SimulatedWeb, books};

/// A web that does not change while it is looked at, with pages that are missing, fail, break off, and lie elsewhere.
fn web() -> SimulatedWeb {
    let rates = ChangeRates::Same(0.0);
    let seeded = SeededConfig { hosts: 8, pages_per_host: 25, rates, ..SeededConfig::default() };
    SimulatedWeb::start(seeded, 1.0, |config| {
        let page = |number: u32, fault| {
            let path = format!("/section-{}/page-{number:05}.html", number % 10);
            FaultRule::everywhere(FaultScope::Path(path), fault)
        };
        config.faults = vec![
            page(3, WebFault::Status { code: 404, retry_after_s: None }),
            page(4, WebFault::Status { code: 503, retry_after_s: None }),
            page(5, WebFault::Redirect { code: 301, hops: 1 }),
            page(6, WebFault::ResetMidBody),
            page(7, WebFault::Status { code: 410, retry_after_s: None }),
        ];
        config.dials.latency = Duration::from_millis(1);
    })
}

/// Short back-off from hosts in trouble, so that the rest of their pages need not wait long.
const SHORT_PAUSES: [(&str, &str); 2] = [("politeness.backoff_base", "50ms"), ("politeness.backoff_max", "200ms")];

/// The parts of each page's state that are the same in every run over the same web: all but times and what follows from
/// them.
fn outcomes(pages: &BTreeMap<PageId, books::Entry>) -> BTreeMap<String, String> {
    let outcome = |entry: &books::Entry| {
        let page = &entry.scheduler;
        let answer = (page.status, &page.outcome, &page.verdict, page.request.failures);
        let content =
            (page.validators.content_digest, page.body_length, &page.validators.etag, &page.validators.last_modified);
        let counts = (page.fetches, page.changes, entry.detector_fetches, entry.estimator_fetches);
        // How many requests a refusal stopped on their way depends on when it came; each of them was answered.
        let kept = (page.weight, page.depth, page.request.attempt - page.request.answered);
        format!("{answer:?} {content:?} {counts:?} {kept:?}")
    };
    pages.values().map(|entry| (entry.scheduler.url.to_string(), outcome(entry))).collect()
}

#[test]
fn four_services_over_kafka_reach_the_same_page_states_as_the_embedded_run() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &SHORT_PAUSES);
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(Service::stop(service)));
    let over_kafka = outcomes(&distributed.books("0"));

    let mut embedded = Crawl::of(&web);
    for (key, value) in SHORT_PAUSES {
        embedded = embedded.with(key, value);
    }
    embedded.run(&["--until-idle"]).finish().exits_with(0);
    let in_one_process = outcomes(&books::read(&embedded));

    assert_eq!(over_kafka, in_one_process);
    for (kind, count) in [("Some(404)", 8), ("Some(410)", 8), ("Some(503)", 8), ("Some(200)", 200 - 4 * 8)] {
        let found = over_kafka.values().filter(|outcome| outcome.contains(kind)).count();
        assert_eq!(found, count, "{kind} among {over_kafka:#?}");
    }
}
