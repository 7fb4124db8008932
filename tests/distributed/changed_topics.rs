//! Somebody changes the topics of a crawl: it is named with the next step, and the rest works.

use crate::services::{Distributed, PARTITIONS, SOON, Service, kafka};
use recrawl::stages::STAGES;
use simweb::SeededConfig;
use tests::{KafkaCluster, SimulatedWeb, wait_for};

const HOSTS: usize = 12;
const PAGES_PER_HOST: usize = 5;

fn web() -> SimulatedWeb {
    let seeded = SeededConfig { hosts: HOSTS, pages_per_host: PAGES_PER_HOST, ..SeededConfig::default() };
    SimulatedWeb::start_held(seeded, |config| config.page_bytes = 20_000)
}

/// Settings under which every page is asked for once, however long the web holds a request back.
const ONCE: [(&str, &str); 6] = [
    ("fetch.total_timeout", "1h"),
    ("fetch.idle_timeout", "1h"),
    ("budget.fetches_per_second", "1000"),
    ("politeness.crawl_delay", "0s"),
    ("policy.min_interval", "10d"),
    ("policy.lease_timeout", "6h"),
];

fn topic(distributed: &Distributed, name: &str) -> String {
    format!("{}{name}", distributed.crawl.settings().kafka.topic_prefix)
}

fn fetcher(services: &[Service]) -> &Service {
    services.iter().find(|service| service.stage == "fetcher").unwrap()
}

/// The most pages that a fetcher asks for once more: those under way while partitions were taken from it, which the web holds
/// back. That happens if Kafka's client sees the new partitions of its topic before the web is open.
fn asked_again(said: &str) -> usize {
    said.matches("task closed").count().div_ceil(PARTITIONS as usize) * HOSTS
}

fn stop_all(services: Vec<Service>) {
    services.into_iter().for_each(|service| drop(service.stop()));
}

/// Waits until a process says this of a topic, in its status, its figures, and its log.
fn wait_until_named(service: &Service, what: &str) {
    wait_for(&format!("the {} says: {what}", service.stage), SOON, || {
        let problems = service.status()["topic_problems"].to_string();
        problems.contains(what) && service.said().contains(what) && service.metric("recrawl_topic_problems") > Some(0.0)
    });
}

#[test]
fn partitions_that_somebody_adds_are_named_and_left_alone() {
    if kafka().is_none() {
        return;
    }
    let (cluster, web) = (KafkaCluster::with_nodes(1), web());
    let distributed = Distributed::of(&web, cluster.brokers(), &ONCE);
    let services = distributed.start_all();
    web.let_through(HOSTS * PAGES_PER_HOST / 3);
    for name in ["fetch-requests", "page-observations"] {
        cluster.add_partitions(&topic(&distributed, name), PARTITIONS + 2);
    }
    let named = format!("has {} partitions, and {PARTITIONS} are used", PARTITIONS + 2);
    services
        .iter()
        .filter(|of| ["fetcher", "estimator"].contains(&of.stage))
        .for_each(|of| wait_until_named(of, &named));
    web.open();
    distributed.wait_until_idle(&services);
    // They come back to topics that are not what they were.
    let (first_said, asked) = (fetcher(&services).said(), web.page_requests());
    stop_all(services);
    let services = distributed.start_all();
    let urls = web.urls();
    let refetch = ["refetch"].into_iter().chain(urls.iter().step_by(PAGES_PER_HOST).map(String::as_str));
    distributed.ask(&refetch.collect::<Vec<_>>()).exits_with(0);
    wait_for("a page of each host is asked for again", SOON, || web.page_requests() >= urls.len() + HOSTS);
    distributed.wait_until_idle(&services);
    for service in &services {
        assert_eq!(service.partitions(), u64::from(PARTITIONS), "{}", service.said());
        assert_eq!(service.get("/readyz").map(|(status, _)| status), Some(200), "{}", service.said());
    }
    let said = distributed.ask(&["status"]).exits_with(0).json()["topic_problems"].to_string();
    assert!(said.contains(&named), "{said}");
    let said = fetcher(&services).said();
    stop_all(services);
    distributed.books("0");
    for (count, expected, said) in [(asked, urls.len(), first_said), (web.page_requests() - asked, HOSTS, said)] {
        assert!((expected..=expected + asked_again(&said)).contains(&count), "{count}, {expected} wanted\n{said}");
    }
}

#[test]
fn a_page_that_a_topic_takes_no_more_is_a_failed_look_and_the_rest_works() {
    if kafka().is_none() {
        return;
    }
    let (cluster, web) = (KafkaCluster::with_nodes(1), web());
    let distributed = Distributed::of(&web, cluster.brokers(), &ONCE);
    let services = distributed.start_all();
    web.let_through(HOSTS * PAGES_PER_HOST / 3);
    // Packed pages are about as large.
    cluster.limit_records(&topic(&distributed, "fetch-results"), 9_000);
    wait_until_named(fetcher(&services), "has max.message.bytes=9000");
    web.open();
    distributed.wait_until_idle(&services);
    let listed = distributed.ask(&["pages", "--top", "0"]).exits_with(0).json();
    let outcomes: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|page| page["outcome"].as_str()).collect();
    assert_eq!(outcomes.len(), HOSTS * PAGES_PER_HOST, "{listed:#}");
    let count = |outcome: &str| outcomes.iter().filter(|other| **other == outcome).count();
    assert!(count("fetched") > 0 && count("too_large") > 0, "{outcomes:?}");
    stop_all(services);
    distributed.books("0");
    // Those of the transaction that was refused are asked for once more, and none without end.
    let again = web.pages_asked_for_again();
    assert!(again <= HOSTS * PAGES_PER_HOST, "{again}");
}

#[test]
fn a_deleted_changelog_is_written_anew_from_the_state_and_nothing_goes_on_without_it() {
    if kafka().is_none() {
        return;
    }
    let (cluster, web) = (KafkaCluster::with_nodes(1), web());
    let distributed = Distributed::of(&web, cluster.brokers(), &ONCE);
    web.open();
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    stop_all(services);
    let before = distributed.books("0");

    cluster.delete_topic(&topic(&distributed, "scheduler-pages-changelog"));
    wait_for("the topic is made anew", SOON, || distributed.ask(&["topics", "create"]).status.code() == Some(0));
    // Neither one with the old state nor one without any.
    for instance in ["0", "1"] {
        let scheduler = distributed.start("scheduler", instance);
        wait_for("the scheduler says what is missing", SOON, || {
            scheduler.status()["stages"][0]["last_error"].to_string().contains("recrawl state publish --data DIR")
        });
        assert_eq!(scheduler.get("/readyz").map(|(status, _)| status), Some(503));
        scheduler.stop();
    }
    let data = distributed.data("scheduler", "0").display().to_string();
    let rows = distributed.ask(&["state", "publish", "--data", &data]).exits_with(0).json();
    let entries = rows.as_array().unwrap().iter().map(|row| row["entries"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(entries, (HOSTS * PAGES_PER_HOST) as u64, "{rows:#}");
    assert_eq!(distributed.ask(&["state", "publish", "--data", &data]).exits_with(0).json(), serde_json::json!([]));

    // Those without any state have it all.
    let services: Vec<_> = STAGES.iter().map(|stage| distributed.start(stage.name(), "2")).collect();
    for service in &services {
        wait_for(&format!("the {} is restored", service.stage), SOON, || service.partitions() == u64::from(PARTITIONS));
    }
    let running = distributed.ask(&["state", "publish", "--data", &data]).exits_with(2);
    running.says(&["1 process of the scheduler run; stop all of them first"]);
    stop_all(services);
    let restored = distributed.books("2");
    for (id, page) in &before {
        assert_eq!(format!("{page:?}"), format!("{:?}", restored[id]));
    }
    assert_eq!(web.pages_asked_for_again(), 0);
}
