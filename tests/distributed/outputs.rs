//! Changes over Kafka in the forms that other people's consumers read.

use crate::services::{Distributed, SOON, kafka};
use messages::{ChangeForm, Message, PageChange};
use outputs::schema_registry::change_form;
use serde_json::{Value, json};
use simweb::{ChangeRates, SeededConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use stream::ErrorKind;
use tests::{SchemaRegistry, SimulatedWeb, deserted, wait_for};
use topology::LogNames;

const PAGES: usize = 12;

/// Changes by their ids.
type Changes = BTreeMap<String, Value>;

fn by_id(changes: impl Iterator<Item = Value>) -> Changes {
    changes.map(|change| (change["change_id"].as_str().unwrap().to_owned(), change)).collect()
}

/// The changes that `recrawl changes` prints, by their ids, without cursors.
fn reported(distributed: &Distributed) -> Changes {
    let output = distributed.ask(&["changes"]).exits_with(0);
    by_id(output.stdout.lines().map(|line| {
        let mut change: Value = serde_json::from_str(line).unwrap();
        change.as_object_mut().unwrap().remove("cursor").expect("a line has its cursor");
        change
    }))
}

/// The same changes as a consumer with Confluent's clients reads them, each with its form.
fn read_by_others(distributed: &Distributed, brokers: &str, registry: &str) -> Vec<(String, Value)> {
    let names = LogNames::new(&distributed.crawl.settings());
    let python = std::env::var_os("RECRAWL_PYTHON").expect("`make test` names the Python with Confluent's clients");
    let script = tests::workspace().join("tests/distributed/read_changes.py");
    let topic = names.topic(messages::topics::PAGE_CHANGES);
    let output = Command::new(python).arg(script).args([brokers, &topic, registry]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let line = |line| {
        let mut read: Value = serde_json::from_str(line).unwrap();
        (read["form"].as_str().unwrap().to_owned(), read["change"].take())
    };
    said.lines().map(line).collect()
}

/// The ids of changes in the table of the example in Python, after it has read all that is there.
fn kept_by_the_example(distributed: &Distributed, brokers: &str) -> BTreeSet<String> {
    let python = std::env::var_os("RECRAWL_PYTHON").expect("`make test` names the Python with Confluent's clients");
    let database = distributed.crawl.directory.path().join("changes.db");
    let run = |arguments: &[&OsStr]| {
        let output = Command::new(&python).env("PYTHONDONTWRITEBYTECODE", "1").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let example = tests::workspace().join("examples/consume-changes/python/consume_changes.py");
    let prefix = distributed.crawl.settings().kafka.topic_prefix;
    let options = [brokers, "--until-end", "--prefix", &prefix, "--database"].map(OsStr::new);
    run(&[&[example.as_os_str()], &options[..], &[database.as_os_str()]].concat());
    let query = "import json, sqlite3, sys\n\
                 rows = sqlite3.connect(sys.argv[1]).execute('SELECT change_id FROM changes')\n\
                 print(json.dumps([row[0] for row in rows]))";
    serde_json::from_str(&run(&["-c".as_ref(), query.as_ref(), database.as_os_str()])).unwrap()
}

/// Seeds some of the pages.
fn seed(distributed: &Distributed, urls: &[String]) {
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    distributed.ask(&[&["seed"], &urls[..]].concat()).exits_with(0);
}

#[test]
fn consumers_of_others_read_changes_in_their_form_and_a_topic_may_change_its_form() {
    let Some(brokers) = kafka() else { return };
    let rates = ChangeRates::Same(0.0);
    let seeded = SeededConfig { hosts: 4, pages_per_host: PAGES / 4, rates, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let mut distributed =
        Distributed::without_seeds(&web, &brokers, &[("output.format", "json"), ("crawl.discover", "none")]);
    let mut services = distributed.start_all();
    let urls = web.urls();
    let (of_json, of_confluent) = urls.split_at(PAGES / 2);
    seed(&distributed, of_json);
    wait_for("the first pages are reported", SOON, || reported(&distributed).len() == of_json.len());

    let place = services.iter().position(|service| service.stage == "detector").unwrap();
    services.remove(place).stop();
    let address = deserted();
    distributed.set("output.format", "confluent");
    distributed.set("output.registry", &format!("http://{address}/apis/ccompat/v7"));
    let mut detector = distributed.start("detector", "0");
    wait_for("the detector says what it waits for", SOON, || detector.said().contains("does not answer"));
    assert!(detector.is_running(), "it waits for its registry: {}", detector.said());
    let registry = SchemaRegistry::start(address.port());
    seed(&distributed, of_confluent);
    wait_for("the other pages are reported", SOON, || reported(&distributed).len() == PAGES);
    assert!(detector.said().contains("the schema of changes is registered"));
    services.push(detector);
    distributed.wait_until_idle(&services);

    // The example goes on where it stopped, and has each change once.
    for _ in 0..2 {
        let expected: BTreeSet<String> = reported(&distributed).into_keys().collect();
        assert_eq!(kept_by_the_example(&distributed, &brokers), expected);
    }
    let read = read_by_others(&distributed, &brokers, registry.url());
    for (form, urls) in [("json", of_json), ("confluent", of_confluent)] {
        let of_form = read.iter().filter(|(read, _)| read == form);
        let mut found: Vec<_> = of_form.map(|(_, change)| change["url"].as_str().unwrap().to_owned()).collect();
        let mut expected = urls.to_vec();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{form}");
    }
    assert_eq!(by_id(read.into_iter().map(|(_, change)| change)), reported(&distributed), "the same in both forms");
    let feed = distributed.ask(&["feed"]).exits_with(0).stdout;
    assert_eq!(feed.matches("<entry>").count(), PAGES);
    // Our own readers need no registry.
    drop(registry);
    assert_eq!(reported(&distributed).len(), PAGES);
}

/// Sends JSON to the registry.
fn send(registry: &SchemaRegistry, method: &str, path: &str, body: &Value) {
    let (host, base) = registry.url().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let (mut stream, body) = (TcpStream::connect(host).unwrap(), body.to_string());
    let length = body.len();
    let head = format!("{method} /{base}{path} HTTP/1.0\r\nhost: {host}\r\ncontent-type: application/json\r\n");
    write!(stream, "{head}content-length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.split(' ').nth(1) == Some("200"), "{answer}");
}

#[test]
fn a_schema_is_registered_once_and_an_incompatible_one_is_explained() {
    if kafka().is_none() {
        return;
    }
    let registry = SchemaRegistry::start(deserted().port());
    let mut settings = settings::Settings::default();
    settings.output.format = settings::OutputFormat::Confluent;
    settings.output.registry = Some(format!("{}/", registry.url()));
    settings.kafka.topic_prefix = "one.".to_owned();
    let registered = |settings: &settings::Settings| change_form(settings, &LogNames::new(settings));
    let first = registered(&settings).unwrap();
    assert!(matches!(first, ChangeForm::Confluent { .. }));
    assert_eq!(registered(&settings).unwrap(), first, "its id stays");

    settings.kafka.topic_prefix = "other.".to_owned();
    let other = json!({"type": "record", "name": PageChange::NAME, "fields": [{"name": "url", "type": "int"}]});
    let subject = "/subjects/other.page-changes-value/versions";
    send(&registry, "POST", subject, &json!({"schema": other.to_string()}));
    send(&registry, "PUT", "/config/other.page-changes-value", &json!({"compatibility": "BACKWARD"}));
    let error = registered(&settings).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Stop);
    assert!(error.message.contains("answered 409") && error.message.contains("compatibility"), "{}", error.message);

    settings.output.registry = Some(registry.url().replace("/apis/ccompat/v7", "/nowhere"));
    let error = registered(&settings).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Stop);
    assert!(error.message.contains("is output.registry the address of Confluent's API?"), "{}", error.message);
}
