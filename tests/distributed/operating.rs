//! The state of the services as operators see it, and unreadable records, which are set aside.

use crate::services::{Distributed, SOON, kafka};
use daemon::WebClock;
use recrawl::stages::{STAGES, topologies};
use serde_json::Value;
use simweb::SeededConfig;
use std::collections::BTreeSet;
use std::time::Duration;
use stream::{Clock, Log, OutputRecord, StageTopology, TopicPartition};
use tests::monitoring::{Monitoring, scraped, unlisted};
use tests::{ObjectStorage, Process, SimulatedWeb, programs, wait_for};
use topology::LogNames;

fn web() -> SimulatedWeb {
    SimulatedWeb::start(SeededConfig { hosts: 4, pages_per_host: 5, ..SeededConfig::default() }, 1.0, |_| ())
}

#[test]
fn an_idle_loop_has_no_lag_and_every_service_says_how_it_is_doing() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &[]);
    assert!(distributed.lags()[0] >= 20, "the seeds wait: {:?}", distributed.lags());
    let services = distributed.start_all();
    for service in &services {
        let answers = |path: &str| service.get(path).map(|(status, _)| status);
        wait_for("it is healthy", SOON, || answers("/healthz") == Some(200));
        wait_for("it is ready", SOON, || answers("/readyz") == Some(200));
    }
    distributed.wait_until_idle(&services);
    let mut shown = Vec::new();
    for service in &services {
        let stage = service.stage;
        let metric = |name: &str| {
            let (status, text) = service.get("/metrics").expect("it answers");
            assert_eq!(status, 200);
            let wanted = format!("recrawl_stage_{name}");
            let found = scraped(&text).into_iter().find(|series| series.name == wanted);
            let found = found.unwrap_or_else(|| panic!("no {wanted} in\n{text}"));
            assert_eq!(found.labels.get("stage").map(String::as_str), Some(stage), "{found:?}");
            found.value
        };
        // Figures are some moments old.
        wait_for(&format!("the {stage} shows no lag"), SOON, || {
            let (_, text) = service.get("/metrics").expect("it answers");
            let of_stage = format!("{{stage=\"{stage}\"");
            let backlog: Vec<_> =
                text.lines().filter(|line| line.starts_with("recrawl_backlog_") && line.contains(&of_stage)).collect();
            // Records and seconds of four partitions.
            backlog.len() == 8 && backlog.iter().all(|line| line.ends_with(" 0.0"))
        });
        assert_eq!((metric("ready"), metric("partitions"), metric("set_aside_total")), (1.0, 4.0, 0.0), "{stage}");
        assert!(metric("processed_total") >= 20.0, "{stage}");
        assert!(metric("rebalances_total") >= 1.0, "{stage}");
        assert_eq!(metric("restore_seconds_count"), 4.0, "{stage}");
        shown.extend(scraped(&service.get("/metrics").expect("it answers").1));
    }
    assert_eq!(unlisted(&shown), [""; 0], "docs/METRICS.md has the others");
    let monitoring = Monitoring::read(tests::workspace()).unwrap();
    // There are few audits in so short a crawl, and no delivery; the test of the embedded loop waits for them.
    let used = monitoring.used.iter().filter(|used| !used.name.contains("calibrated_freshness"));
    let used = used.filter(|used| !used.selector().contains("delivery"));
    let missing: Vec<_> = used.filter(|used| !shown.iter().any(|series| used.selects(series))).collect();
    assert!(missing.is_empty(), "no service shows {missing:#?}");
    // Idle for good: whatever is written in passing must not come back as lag.
    let until = std::time::Instant::now() + Duration::from_secs(2);
    wait_for("two seconds without lag", SOON, || {
        assert_eq!(distributed.lags(), [0; STAGES.len()]);
        std::time::Instant::now() >= until
    });
    services.into_iter().for_each(|service| drop(service.stop()));
    distributed.books("0");
}

#[test]
fn what_the_services_fetched_is_exported_from_the_topic() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &[]);
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    services.into_iter().for_each(|service| drop(service.stop()));
    let ask = |arguments: &[&str]| -> Vec<Value> {
        let output = distributed.ask(&[&["export"], arguments].concat()).exits_with(0);
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = ask(&["jsonl"]);
    let fetched: BTreeSet<_> = all.iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect();
    assert_eq!(fetched, web.urls().into_iter().collect());
    let cursor = all[9]["cursor"].as_str().unwrap();
    assert_eq!(ask(&["jsonl", "--cursor", cursor]), all[10..], "nothing twice, nothing left out");
    let out = distributed.crawl.directory.path().join("archive");
    let reported = ask(&["warc", "--out", out.to_str().unwrap()]);
    // One record about the file, and two for every fetch.
    assert_eq!(
        reported.iter().map(|file| file["records"].as_u64()).collect::<Vec<_>>(),
        [Some(1 + 2 * all.len() as u64)]
    );
    assert_eq!(reported[0]["cursor"], all.last().unwrap()["cursor"]);

    let Some(storage) = ObjectStorage::start() else { return };
    let to_storage = |further: &[&str]| {
        let mut command = programs().command("recrawl");
        command
            .args(["export", "jsonl", "--to", "s3://archive/of/crawl"])
            .args(further)
            .args(distributed.crawl.flags());
        command.envs(storage.variables());
        Process::start(command, distributed.crawl.directory.path()).finish().exits_with(0).stderr
    };
    to_storage(&["--limit", "10"]);
    assert!(to_storage(&[]).contains(&format!("exporting to s3://archive/of/crawl after cursor {cursor}")));
    let file = distributed.crawl.directory.path().join("object");
    let objects = storage.list().objects.into_keys().filter(|key| key.ends_with(".jsonl"));
    let stored = objects.flat_map(|key| {
        storage.fetch(&key, &file);
        let text = std::fs::read_to_string(&file).unwrap();
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(stored.collect::<Vec<_>>(), all);
}

/// Nothing, text, and a tombstone. A record of a schema that is not published yet is not garbage: it waits.
const GARBAGE: [Option<&[u8]>; 3] = [Some(b""), Some(b"not avro"), None];

#[test]
fn wrong_bytes_on_a_kafka_topic_become_dead_letters_and_the_rest_goes_on() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &[]);
    let settings = distributed.crawl.settings();
    let (names, log) = (LogNames::new(&settings), daemon::connect(&settings, "test").unwrap());
    for StageTopology { input, .. } in topologies() {
        let records = GARBAGE.iter().map(|value| OutputRecord {
            to: TopicPartition::new(names.topic(input), 0),
            // Kafka would soon drop records of a time long past.
            timestamp: WebClock::new(&settings.clock).now(),
            key: b"host-0001.test".to_vec(),
            value: value.map(|value| value.to_vec().into()),
            trace: None,
        });
        log.append(&records.collect::<Vec<_>>()).unwrap();
    }
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    let dead_letters = distributed.ask(&["dead-letters"]).exits_with(0).json();
    let dead_letters = dead_letters.as_array().unwrap();
    for StageTopology { name: stage, input, .. } in topologies() {
        let of_stage: Vec<_> = dead_letters.iter().filter(|dead_letter| dead_letter["stage"] == stage).collect();
        assert_eq!(of_stage.len(), GARBAGE.len(), "{stage}: {of_stage:#?}");
        for dead_letter in of_stage {
            assert_eq!(dead_letter["topic"], names.topic(input));
            assert_eq!(dead_letter["key"], "host-0001.test");
            assert!(!dead_letter["reason"].as_str().unwrap().is_empty(), "{dead_letter:#}");
        }
    }
    assert_eq!(dead_letters.len(), STAGES.len() * GARBAGE.len());
    for service in services {
        let said = service.stop();
        assert_eq!(said.matches("record set aside").count(), GARBAGE.len(), "{said}");
    }
    distributed.books("0");
}
