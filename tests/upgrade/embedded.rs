//! A data directory is taken over by the other version and back, and every command reads what the other has written.

use messages::schemas::{SchemaRecord, learn};
use messages::{Message, PageChange, topics};
use page::Timestamp;
use serde_json::json;
use simweb::SeededConfig;
use stream::{Log, OutputRecord, SchemaTopic, TopicPartition};
use tests::next_build::{self, SUFFIX};
use tests::{Crawl, Process, SimulatedWeb, books, programs};

/// Commands that read a data directory, with what follows the settings.
fn readings(url: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["status"],
        vec!["page", url],
        vec!["page", url, "--text"],
        vec!["explain", url],
        vec!["changes"],
        vec!["export", "jsonl", "--no-body"],
        vec!["dead-letters"],
    ]
}

#[test]
fn an_embedded_crawl_goes_on_under_the_other_version_and_back_and_both_can_read_it() {
    next_build::build();
    let seeded = SeededConfig { hosts: 4, pages_per_host: 10, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| ());
    let crawl = Crawl::of(&web).with("log.retention_results", "1d").with("policy.min_interval", "1d");
    let urls = web.urls();
    let next = format!("recrawl{SUFFIX}");
    // Each version finds a part of the pages, and all of them in state that the other has written.
    let parts: Vec<_> = urls.chunks(10).collect();
    for (part, program) in parts.iter().zip([&next, "recrawl", &next, "recrawl"]) {
        std::fs::write(crawl.seeds_file(), part.join("\n")).unwrap();
        let seeds = crawl.seeds_file().display().to_string();
        let ended = crawl.start_program(program, "run", &["--seeds", &seeds, "--until-idle"]).finish().exits_with(0);
        for bad in ["ERROR", "set aside:", "waiting for a schema", "cannot read a ", "cannot be read"] {
            assert!(!ended.stderr.contains(bad), "{program}: {}", ended.stderr);
        }
        let of_next = parts[0][0].as_str();
        for reading in readings(of_next) {
            let ask = |program: &str| {
                let mut command = programs().command(program);
                command.args(["--format", "json"]).args(&reading).arg("--data").arg(crawl.data()).args(crawl.flags());
                let answer = Process::start(command, crawl.directory.path()).finish().exits_with(0);
                // An export says how much there was; everything else is a complaint.
                let complaints = answer.stderr.lines().count() - usize::from(reading[0] == "export");
                assert_eq!(complaints, 0, "{program} {reading:?}: {}", answer.stderr);
                answer.stdout
            };
            let (ours, theirs) = (ask("recrawl"), ask(&next));
            assert!(!ours.is_empty());
            // The disk has other users between the two readings.
            let lasting = |text: &str| -> Vec<String> {
                text.lines().filter(|line| !line.contains("\"free_")).map(str::to_owned).collect()
            };
            if reading[0] != "explain" {
                assert_eq!(lasting(&ours), lasting(&theirs), "{reading:?}");
            }
        }
    }
    // The last run was ours.
    let pages = books::read(&crawl);
    assert_eq!(pages.len(), urls.len());
    for page in pages.values() {
        let counts = (page.scheduler.fetches, page.detector_fetches, page.estimator_fetches);
        assert_eq!((counts, page.scheduler.status), ((1, 1, 1), Some(200)), "{page:?}");
    }
}

#[test]
fn a_change_whose_schema_has_not_come_is_not_passed_over() {
    let web = SimulatedWeb::start(SeededConfig { hosts: 1, pages_per_host: 3, ..SeededConfig::default() }, 1.0, |_| ());
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let names = topology::LogNames::new(&crawl.settings());
    let topic = names.topic(topics::PAGE_CHANGES);
    let log = || stream_rocksdb::open_log(&crawl.data()).unwrap();

    // A record with a field more, behind those that a version knows.
    let mut schema: serde_json::Value = serde_json::from_str(PageChange::schema_record().json).unwrap();
    schema["fields"].as_array_mut().unwrap().push(json!({"name": "of_later", "type": "long", "default": 0}));
    let json: &'static str = schema.to_string().leak();
    let fingerprint = learn(json.as_bytes(), None).unwrap();
    let mut reader = log().reader().unwrap();
    let (mut records, mut place) = (Vec::new(), None);
    for partition in 0..crawl.settings().log.partitions {
        let here = TopicPartition::new(topic.as_str(), partition);
        let (found, _) = reader.read(&here, 0, 10).unwrap();
        place = (!found.is_empty()).then_some(here).or(place);
        records.extend(found);
    }
    drop(reader);
    let (known, place) = (records.len(), place.unwrap());
    let mut value = records.last().unwrap().value.as_deref().unwrap().to_vec();
    value[2..10].copy_from_slice(&fingerprint.to_bytes());
    value.push(2);
    let key = records.last().unwrap().key.clone();
    let timestamp = Timestamp::from_secs(1_763_683_200);
    log().append(&[OutputRecord { to: place, timestamp, key, value: Some(value.into()), trace: None }]).unwrap();

    let stuck = crawl.ask("changes", &[]).exits_with(3).says(&["waiting for a schema", "were not read to their end"]);
    assert_eq!(stuck.stdout.lines().count(), known);
    let reported = SchemaRecord { name: PageChange::NAME, fingerprint, json };
    let schemas = SchemaTopic { topic: names.topic(topics::SCHEMAS), own: vec![reported], registered: Vec::new() };
    stream::schemas::report(&log(), &schemas, timestamp).unwrap();
    let all = crawl.ask("changes", &[]).exits_with(0);
    assert_eq!((all.stdout.lines().count(), all.stderr.as_str()), (known + 1, ""));
}
