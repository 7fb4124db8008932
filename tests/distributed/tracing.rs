//! One page's loop over Kafka is one trace, exported to a collector.

use crate::services::{Distributed, SOON, kafka};
use daemon::WebClock;
use messages::{Command, CommandKind, topics};
use page::CanonicalUrl;
use simweb::SeededConfig;
use stream::{Clock, Log, OutputRecord, TopicPartition, TraceContext};
use tests::traces::{TraceCollector, reported_loops};
use tests::{SimulatedWeb, wait_for};
use topology::LogNames;

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn the_loop_of_a_page_over_kafka_is_one_trace() {
    let Some(brokers) = kafka() else { return };
    let web = SimulatedWeb::start(SeededConfig { hosts: 4, pages_per_host: 5, ..SeededConfig::default() }, 1.0, |_| ());
    let collector = TraceCollector::start();
    let endpoint = collector.endpoint();
    let sets = [("trace.sample_ratio", "1"), ("trace.otlp_endpoint", endpoint.as_str())];
    let distributed = Distributed::of(&web, &brokers, &sets);

    // A producer that is not ours sends a command and an unreadable record, both of one trace of its own.
    let settings = distributed.crawl.settings();
    let (names, log) = (LogNames::new(&settings), daemon::connect(&settings, "test").unwrap());
    let now = WebClock::new(&settings.clock).now();
    let trace = TraceContext::parse(CALLER.as_bytes()).map(Box::new);
    let url = CanonicalUrl::parse(&web.urls()[0]).unwrap();
    let command = Command { url: Some(url), ..Command::new(CommandKind::Seed, now) };
    let seed = OutputRecord {
        trace: trace.clone(),
        ..OutputRecord::of(&command, names.topic(topics::SCHEDULER_EVENTS), 4, now)
    };
    let to = TopicPartition::new(names.topic(topics::FETCH_RESULTS), 0);
    let unreadable = OutputRecord {
        to,
        timestamp: now,
        key: b"host".to_vec(),
        value: Some("not avro".into()),
        trace: trace.clone(),
    };
    log.append(&[seed, unreadable]).unwrap();

    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    wait_for("the first loop of every page is told", SOON, || {
        let pages = reported_loops(&collector.spans());
        web.urls().iter().all(|url| pages.contains(url))
    });
    wait_for("each service counts what it sent", SOON, || {
        let sent = |service: &crate::services::Service| service.metric("recrawl_trace_spans_sent_total");
        services.iter().filter(|service| service.stage != "matcher").all(|service| sent(service) > Some(0.0))
    });
    for service in &services {
        assert_eq!(service.metric("recrawl_trace_spans_dropped_total"), Some(0.0), "{}", service.stage);
    }
    services.into_iter().for_each(|service| drop(service.stop()));

    let caller = trace.unwrap();
    let spans = collector.spans();
    let continued: Vec<_> = spans.iter().filter(|span| span.trace == caller.trace_id.to_string()).collect();
    assert!(continued.iter().all(|span| span.parent == caller.span_id.to_string()), "{continued:#?}");
    let of = |service: &str| continued.iter().find(|span| span.service == service).expect("it continued the trace");
    assert_eq!((of("recrawl-scheduler").kind, &of("recrawl-scheduler").error), ("consumer", &None));
    let refused = of("recrawl-detector");
    assert!(refused.error.as_ref().is_some_and(|error| !error.is_empty()), "{refused:?}");
    let characters = TopicPartition::new(names.topic(topics::DEAD_LETTERS), 0);
    let (characters, _) = log.reader().unwrap().read(&characters, 0, 10).unwrap();
    let of_characters: Vec<_> =
        characters.iter().map(|character| character.trace.as_deref().map(ToString::to_string)).collect();
    assert_eq!(of_characters, [Some(format!("00-{}-{}-01", refused.trace, refused.id))]);
}
