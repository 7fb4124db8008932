//! Two builds side by side over Kafka: every instance of every stage is upgraded, one after the other, and then taken
//! back.

use crate::counts::{are_distinct, count};
use messages::{
    ChangeEstimate, Command, FetchRequest, FetchResult, Message, PageBand, PageChange, PageObservation, PageOutLinks,
    topics,
};
use page::PageId;
use recrawl::stages::{STAGES, StageEntry};
use simweb::{ChangeRates, RequestKind, SeededConfig};
use std::collections::BTreeMap;
use std::time::Duration;
use stream::TableSpec;
use tests::next_build::{self, SUFFIX};
use tests::services::{Distributed, PARTITIONS, SOON, Service, kafka};
use tests::topics::Topics;
use tests::{SimulatedWeb, wait_for};

/// Pages are looked at again and again, so that their state is read and written by both versions.
const SETS: [(&str, &str); 5] = [
    ("budget.fetches_per_second", "60"),
    ("budget.burst", "1s"),
    ("budget.in_flight", "60"),
    ("politeness.crawl_delay", "20ms"),
    ("policy.min_interval", "1s"),
];
/// Requests between two replacements.
const STRIDE: usize = 30;
const INSTANCES: [&str; 2] = ["0", "1"];

/// Records that each stage reads from the stage before it in the loop. If only the stage before is of the other version,
/// the stage has to meet records of that version.
const INPUTS: [(&str, &str); 6] = [
    ("scheduler", ChangeEstimate::NAME),
    ("fetcher", FetchRequest::NAME),
    ("detector", FetchResult::NAME),
    ("estimator", PageObservation::NAME),
    ("matcher", PageBand::NAME),
    ("ranker", PageOutLinks::NAME),
];
/// State that an instance finds as the other version left it. The second one may find it already written anew.
const STATES: [(&str, &str); 2] = [("scheduler", "ScheduledPage"), ("estimator", "PageBelief")];

fn web() -> SimulatedWeb {
    let seeded = SeededConfig {
        hosts: 12,
        pages_per_host: 20,
        // Every 20 seconds, for longer than the test takes.
        rates: ChangeRates::Same(4_320.0),
        days: 0.05,
        ..SeededConfig::default()
    };
    SimulatedWeb::start(seeded, 1.0, |config| config.dials.latency = Duration::from_millis(5))
}

/// The instances of all stages, of whichever build.
struct Fleet<'a> {
    web: &'a SimulatedWeb,
    /// Above the directory they write to: when a test fails they end first.
    services: BTreeMap<(&'static str, &'static str), Service>,
    distributed: Distributed,
}

impl Fleet<'_> {
    fn start(&mut self, stage: &'static str, instance: &'static str, suffix: &str) {
        let program = format!("recrawl{suffix}");
        let service = self.distributed.start_program(&program, stage, instance);
        self.services.insert((stage, instance), service);
    }

    /// Stops an instance in good order and starts one of the other build in its place, on its disk or on an empty one.
    fn replace(&mut self, stage: &'static str, instance: &'static str, suffix: &str, disk_is_lost: bool) {
        self.stop(stage, instance);
        if disk_is_lost && stage != "fetcher" {
            std::fs::remove_dir_all(self.distributed.data(stage, instance)).unwrap();
        }
        self.start(stage, instance, suffix);
        self.wait_until_shared(stage);
        self.crawl_on();
    }

    /// Stops an instance that has been able to read whatever it met. That it still ran is seen from how it ends.
    fn stop(&mut self, stage: &'static str, instance: &'static str) -> String {
        let service = self.services.remove(&(stage, instance)).unwrap();
        for figure in ["set_aside_total", "waited_for_schema_total", "answers_left_out_total", "state_set_aside_total"]
        {
            let name = format!("recrawl_stage_{figure}{{stage=\"{stage}\"}}");
            assert_eq!(service.metric(&name), Some(0.0), "{name} of instance {instance}: {}", service.said());
        }
        let said = service.stop();
        for bad in ["ERROR", "panicked", "set aside", "waiting for a schema", "cannot read a ", "cannot be read"] {
            assert!(!said.contains(bad), "{stage} {instance} said {bad:?}:\n{said}");
        }
        said
    }

    fn wait_until_shared(&self, stage: &'static str) {
        wait_for(&format!("both instances of the {stage} have two partitions"), SOON, || {
            INSTANCES.iter().all(|instance| self.services[&(stage, *instance)].partitions() == 2)
        });
    }

    fn crawl_on(&self) {
        let wanted = self.web.page_requests() + STRIDE;
        wait_for("the crawl goes on", SOON, || self.web.page_requests() >= wanted);
    }

    /// Waits until `wanted` instances of a stage have read a record of this type that the other version wrote.
    fn wait_until_met(&self, stage: &'static str, record: &str, wanted: usize) {
        let figure = format!("recrawl_records_of_other_versions_total{{record=\"{record}\"}}");
        wait_for(&format!("{wanted} of the {stage}s have read a {record} of the other version"), SOON, || {
            let services = INSTANCES.iter().map(|instance| &self.services[&(stage, *instance)]);
            services.filter(|service| service.metric(&figure).is_some_and(|met| met > 0.0)).count() >= wanted
        });
    }

    /// Replaces all instances of all stages, one at a time; of each stage one instance loses its disk, and restores from
    /// the changelog what the other version wrote.
    fn roll(&mut self, suffix: &str, loses_its_disk: &str) {
        for (stage, input) in INPUTS {
            // The stage before the scheduler comes last.
            if stage != "scheduler" {
                self.wait_until_met(stage, input, INSTANCES.len());
            }
            for instance in INSTANCES {
                self.replace(stage, instance, suffix, instance == loses_its_disk);
            }
            if stage == "scheduler" {
                self.wait_until_met(stage, input, INSTANCES.len());
            }
            for (_, record) in STATES.iter().filter(|(of, _)| *of == stage) {
                self.wait_until_met(stage, record, 1);
            }
        }
    }

    /// The change ids that a build's `recrawl changes` prints, each once.
    fn changes(&self, program: &str) -> Vec<String> {
        let reported = self.distributed.ask_program(program, &["changes"]).exits_with(0);
        assert_eq!(reported.stderr, "", "{program} changes");
        let id = |line| serde_json::from_str::<serde_json::Value>(line).unwrap()["change_id"].to_string();
        let ids: Vec<_> = reported.stdout.lines().map(id).collect();
        assert!(are_distinct(&ids));
        ids
    }
}

#[test]
fn a_rolling_upgrade_and_a_rollback_lose_nothing_and_stop_nothing() {
    let Some(brokers) = kafka() else { return };
    next_build::build();
    let web = web();
    let next = format!("recrawl{SUFFIX}");
    let distributed = Distributed::without_seeds(&web, &brokers, &SETS);
    let mut fleet = Fleet { web: &web, services: BTreeMap::new(), distributed };
    for stage in STAGES.iter().map(StageEntry::name) {
        INSTANCES.iter().for_each(|instance| fleet.start(stage, instance, ""));
    }
    STAGES.iter().for_each(|stage| fleet.wait_until_shared(stage.name()));
    // Half of the seeds by a command of the next version, of which no stage is at work yet.
    for (half, program) in [(0, next.as_str()), (1, "recrawl")] {
        let urls: Vec<_> = web.urls().into_iter().skip(half).step_by(2).collect();
        let arguments: Vec<_> = ["seed"].into_iter().chain(urls.iter().map(String::as_str)).collect();
        fleet.distributed.ask_program(program, &arguments).exits_with(0);
    }
    fleet.wait_until_met("scheduler", Command::NAME, INSTANCES.len());
    fleet.crawl_on();

    fleet.roll(SUFFIX, "1");
    let before = fleet.changes("recrawl").len();
    fleet.roll("", "0");

    // Ours alone, one instance of each stage. With its hosts paused the crawl comes to rest.
    STAGES.iter().for_each(|stage| drop(fleet.stop(stage.name(), "1")));
    let (names, services): (Vec<_>, Vec<_>) = std::mem::take(&mut fleet.services).into_iter().unzip();
    fleet.distributed.rest(&services, &fleet.web.hosts());
    fleet.services = names.into_iter().zip(services).collect();
    STAGES.iter().for_each(|stage| drop(fleet.stop(stage.name(), "0")));

    let mut topics = Topics::of(&fleet.distributed);
    both_versions_have_written(&mut topics);
    nothing_is_lost(&fleet, &mut topics);
    let reported = fleet.changes("recrawl");
    assert_eq!((reported.len(), &reported), (topics.read(topics::PAGE_CHANGES).len(), &fleet.changes(&next)));
    assert!(before > 0 && reported.len() > before, "{before} and then {}", reported.len());
    for program in ["recrawl", &next] {
        let dead_letters = fleet.distributed.ask_program(program, &["dead-letters"]).exits_with(0);
        assert_eq!(dead_letters.json(), serde_json::json!([]));
    }
}

fn both_versions_have_written(topics: &mut Topics) {
    let pages = TableSpec::from(scheduler::PAGES).changelog("scheduler");
    let beliefs = TableSpec::from(estimator::PAGES).changelog("estimator");
    let versions = [
        topics.versions::<FetchRequest>(topics::FETCH_REQUESTS),
        topics.versions::<FetchResult>(topics::FETCH_RESULTS),
        topics.versions::<PageObservation>(topics::PAGE_OBSERVATIONS),
        topics.versions::<PageBand>(topics::PAGE_BANDS),
        topics.versions::<ChangeEstimate>(topics::SCHEDULER_EVENTS),
        topics.versions::<Command>(topics::SCHEDULER_EVENTS),
        topics.versions::<PageChange>(topics::PAGE_CHANGES),
        topics.versions::<scheduler::ScheduledPage>(pages),
        topics.versions::<estimator::PageBelief>(beliefs),
    ];
    println!("records by version: {versions:?}");
    assert!(versions.iter().all(|counts| counts.len() == 2), "{versions:?}");
}

/// Every request has one answer, and that has been through every stage once, and stands in everybody's books.
fn nothing_is_lost(fleet: &Fleet<'_>, topics: &mut Topics) {
    let attempts = |of: Vec<(PageId, i64)>| {
        assert!(are_distinct(&of), "something was done twice");
        count(of.into_iter().map(|(page, _)| page))
    };
    let requests = topics.of_type::<FetchRequest>(topics::FETCH_REQUESTS);
    let results = topics.of_type::<FetchResult>(topics::FETCH_RESULTS);
    let observations = topics.of_type::<PageObservation>(topics::PAGE_OBSERVATIONS);
    let estimates = topics.of_type::<ChangeEstimate>(topics::SCHEDULER_EVENTS);
    let urls: BTreeMap<_, _> = requests.iter().map(|one| (one.page_id, one.url.to_string())).collect();
    let requests = attempts(requests.iter().map(|one| (one.page_id, one.attempt)).collect());
    for (what, counts) in [
        ("results", attempts(results.iter().map(|one| (one.look.page_id, one.look.attempt)).collect())),
        ("observations", attempts(observations.iter().map(|one| (one.look.page_id, one.look.attempt)).collect())),
        ("estimates", attempts(estimates.iter().map(|one| (one.look.page_id, one.look.attempt)).collect())),
    ] {
        assert_eq!(counts, requests, "{what} and requests");
    }
    // What a pause stopped on its way counts as no look.
    let sent = estimates.iter().filter(|one| !one.look.was_not_sent());
    let looks = count(sent.map(|one| one.look.page_id));
    let books = fleet.distributed.books("0");
    let in_books: BTreeMap<_, _> = books.iter().map(|(id, page)| (*id, page.scheduler.fetches as usize)).collect();
    assert_eq!(in_books, looks, "books and looks");

    // A fetcher that gives partitions up leaves what is on the wire to the next one: that page is asked for again.
    let ledger = fleet.web.ledger();
    let served = ledger.iter().filter(|entry| entry.kind == RequestKind::Page);
    let served = count(served.map(|entry| format!("http://{}{}", entry.host, entry.path)));
    let (mut total, mut again) = (0, 0);
    for (id, wanted) in &looks {
        let seen = served.get(&urls[id]).copied().unwrap_or_default();
        assert!(seen >= *wanted, "{} was asked for {wanted} times and seen {seen} times", urls[id]);
        total += wanted;
        again += seen - wanted;
    }
    println!("{} pages, {total} looks, {again} requests made again, {PARTITIONS} partitions", looks.len());
    assert!(again * 20 <= total, "{again} of {total} requests were made again");
}
