use crate::every::{RecordType, record_types, schemas_directory};
use crate::samples::Samples;
use messages::topics::{CATALOGUE, Cleanup, Key, Partitions, SCHEMAS, TopicSpec, changelog, find};
use messages::{ChangeHint, Command, Encoded, Fingerprint, Keyed, PageLinks, SchedulerEvent};
use page::{CanonicalUrl, Host};

const BEGIN: &str = "<!-- topics: written by `UPDATE=1 cargo test -p messages`, do not edit -->\n";
const END: &str = "<!-- end of topics -->";

#[test]
fn the_readme_shows_the_catalogue() {
    let file = schemas_directory().join("README.md");
    let readme = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the README has the line where the catalogue begins");
    let (_, after) = rest.split_once(END).expect("the README has the line where the catalogue ends");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &expected).unwrap();
    } else {
        assert!(readme == expected, "the catalogue in schemas/README.md is old; UPDATE=1 cargo test -p messages");
    }
}

fn table() -> String {
    let mut table = "| topic | key | schema | producer → consumers | old records | partitions | largest record |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for topic in CATALOGUE {
        table += &row(topic);
    }
    table
}

fn row(topic: &TopicSpec) -> String {
    let schemas: Vec<_> = topic.messages.iter().map(|name| format!("[{name}]({name}.avsc)")).collect();
    let schemas = match (topic.key, schemas.is_empty()) {
        (Key::Fingerprint, _) => "JSON of a schema".to_owned(),
        (_, true) => "private to the service".to_owned(),
        (_, false) => schemas.join(", "),
    };
    let consumers = if topic.consumers.is_empty() { "you".to_owned() } else { topic.consumers.join(", ") };
    let key = match topic.key {
        Key::Site => "site key",
        Key::Page => "page id",
        Key::Host => "host",
        Key::Group => "site and cell",
        Key::Hash => "kind and hash",
        Key::Band => "band",
        Key::StagePartition => "scheduler partition",
        Key::Original => "as it was",
        Key::Fingerprint => "fingerprint",
    };
    let cleanup = match topic.cleanup {
        Cleanup::Compact => "compacted".to_owned(),
        Cleanup::Delete { retention_days } => format!("go after {retention_days} days"),
    };
    let partitions = match topic.partitions {
        Partitions::PerLoop => "as the loop".to_owned(),
        Partitions::Fixed(count) => count.to_string(),
    };
    format!(
        "| `{}` | {key} | {schemas} | {} → {consumers} | {cleanup} | {partitions} | {} MiB |\n",
        topic.name,
        topic.producers.join(", "),
        topic.max_message_bytes >> 20,
    )
}

#[test]
fn the_catalogue_names_records_that_exist_and_no_topic_twice() {
    let known: Vec<_> = record_types().iter().map(|record| record.name).collect();
    for topic in CATALOGUE {
        assert!(topic.messages.iter().all(|name| known.contains(name)), "{}", topic.name);
        assert_eq!(find(topic.name), Some(topic), "named twice");
        // A changelog is written and read by its own service alone.
        if topic.messages.is_empty() && topic.name != SCHEMAS {
            let store = topic.name.split('-').nth(1).unwrap();
            assert_eq!(topic.name, changelog(topic.producers[0], store));
            assert_eq!(topic.producers, topic.consumers);
        }
    }
    for name in known {
        assert!(CATALOGUE.iter().any(|topic| topic.messages.contains(&name)), "no topic carries {name}");
    }
}

#[test]
fn any_record_fits_into_a_dead_letter() {
    let dead_letters = find("dead-letters").unwrap();
    for topic in CATALOGUE.iter().filter(|topic| *topic != dead_letters) {
        assert!(topic.max_message_bytes < dead_letters.max_message_bytes, "{}", topic.name);
    }
}

#[test]
fn what_a_stage_reads_is_partitioned_as_the_loop() {
    for topic in CATALOGUE.iter().filter(|topic| topic.key == Key::Site) {
        assert_eq!(topic.partition_count(16), 16, "{}", topic.name);
    }
    assert_eq!(find("demand").unwrap().full_name("recrawl."), "recrawl.demand");
}

#[test]
fn every_message_travels_under_the_key_of_its_topic() {
    for topic in CATALOGUE {
        for record in record_types().iter().filter(|record| topic.messages.contains(&record.name)) {
            for (sample, key) in record.samples.iter().zip(&record.keys) {
                let fields = (record.show)(sample).unwrap();
                assert!(is_key(topic.key, key, &fields), "{} on {}: {key:?}", record.name, topic.name);
            }
        }
    }
}

/// Whether a key is one of this kind, and of this record.
fn is_key(kind: Key, key: &[u8], fields: &serde_json::Value) -> bool {
    let bytes = |field: &str| -> Vec<u8> {
        let bytes = fields[field].as_array().into_iter().flatten();
        bytes.map(|byte| byte.as_u64().unwrap() as u8).collect()
    };
    match kind {
        // By name, or by the address the record is about.
        Key::Site => {
            let named = ["site_key", "target_site", "to_site"].iter().find_map(|field| fields[field].as_str());
            let about = fields["url"].as_str().map(|url| CanonicalUrl::parse(url).unwrap().site_key());
            let about = about.or_else(|| fields["host"].as_str().map(|host| Host::from_authority(host).site_key()));
            let site = named.map_or_else(|| about.unwrap().as_str().to_owned(), str::to_owned);
            key == site.as_bytes()
        }
        Key::Page => key == CanonicalUrl::parse(fields["url"].as_str().unwrap()).unwrap().page_id().0,
        Key::Band => key.len() == 5 && key == bytes("band"),
        Key::StagePartition => key == fields["stage_partition"].to_string().as_bytes(),
        Key::Original => key == bytes("key"),
        Key::Host | Key::Group | Key::Hash | Key::Fingerprint => panic!("no message has such a key"),
    }
}

#[test]
fn a_union_has_the_keys_and_schemas_of_its_members() {
    let links = PageLinks::samples().remove(0);
    assert_eq!(links.key(), b"example.net", "the site that is linked to, not the one the links stand on");
    assert_eq!(SchedulerEvent::Links(links.clone()).key(), links.key());
    let hint = ChangeHint::samples().remove(0);
    assert_eq!(SchedulerEvent::Hint(hint).key(), b"example.org");
    let told: Vec<_> = SchedulerEvent::schemas().iter().map(|record| record.name).collect();
    let mut carried = find("scheduler-events").unwrap().messages.to_vec();
    carried.sort_by_key(|name| told.iter().position(|told| told == name));
    assert_eq!(told, carried);
}

#[test]
fn a_command_goes_to_the_site_it_names() {
    let [seed, pause] = Command::samples().try_into().unwrap();
    assert_eq!(seed.key(), b"example.org");
    assert_eq!(pause.key(), b"127.0.0.1");
    assert_eq!(Command { host: None, ..pause }.key(), b"");
}

#[test]
fn a_schema_travels_under_the_bytes_that_its_records_start_with() {
    assert_eq!(find(SCHEMAS).map(|topic| topic.key), Some(Key::Fingerprint));
    for RecordType { name, fingerprint, header, .. } in record_types() {
        assert_eq!(header[2..], fingerprint.to_bytes(), "{name}");
        assert_eq!(Fingerprint::from_bytes(&header[2..]), Some(fingerprint));
    }
    assert_eq!(Fingerprint::from_bytes(b"1234567"), None);
}
