use crate::every::{record_types, schemas_directory};
use messages::topics::{CATALOGUE, Cleanup, Key, Partitions, TopicSpec, changelog, find};

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
    let schemas = if schemas.is_empty() { "private to the service".to_owned() } else { schemas.join(", ") };
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
        if topic.messages.is_empty() {
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
