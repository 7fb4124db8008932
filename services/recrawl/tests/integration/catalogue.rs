//! The topics of all stages together: what people are shown, and what has to hold between stages.

use messages::topics::{self, CleanupPolicy, KeyKind, Partitions, SCHEMAS, TopicName, TopicSpec};
use recrawl::stages::topologies as stages;
use stream::StageTopology;

const BEGIN: &str =
    "<!-- topics: written by `UPDATE=1 cargo test -p recrawl --test integration catalogue`, do not edit -->\n";
const END: &str = "<!-- end of topics -->";

/// Commands of `recrawl` write these topics, …
const WRITTEN_BY_COMMANDS: [TopicSpec; 9] = [
    topics::FETCH_REQUESTS.spec(),
    topics::SCHEDULER_EVENTS.spec(),
    topics::FETCH_RESULTS.spec(),
    topics::PAGE_OBSERVATIONS.spec(),
    topics::RANKER_EVENTS.spec(),
    topics::FOCUS_ORDERS.spec(),
    topics::RULE_SETS.spec(),
    topics::AUDIT.spec(),
    SCHEMAS,
];
/// … and these are read by commands alone.
const READ_BY_COMMANDS: [TopicSpec; 3] = [topics::DEAD_LETTERS.spec(), topics::ANSWERS.spec(), topics::AUDIT.spec()];

#[test]
fn the_readme_shows_the_catalogue() {
    let file = tests::workspace().join("schemas/README.md");
    let readme = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the README has the line where the catalogue begins");
    let (_, after) = rest.split_once(END).expect("the README has the line where the catalogue ends");
    let expected = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &expected).unwrap();
    } else {
        assert!(readme == expected, "the catalogue in schemas/README.md is old; UPDATE=1 cargo test -p recrawl");
    }
}

fn table() -> String {
    let head = "| topic | key | schema | producer → consumers | old records | partitions | largest record |\n\
                |---|---|---|---|---|---|---|\n";
    topology::catalogue(&stages()).iter().fold(head.to_owned(), |table, topic| table + &row(topic))
}

fn row(topic: &TopicSpec) -> String {
    let directory = if matches!(topic.name, TopicName::Changelog { .. }) { "state/" } else { "" };
    let schemas = (topic.schemas)().into_iter().map(|schema| format!("[{0}]({directory}{0}.avsc)", schema.name));
    let schemas = match (topic.key, schemas.collect::<Vec<_>>().join(", ")) {
        (KeyKind::Fingerprint, _) => "JSON of a schema".to_owned(),
        (KeyKind::None, _) => "empty".to_owned(),
        (_, none) if none.is_empty() => "own encoding".to_owned(),
        (_, schemas) => schemas,
    };
    let (producers, consumers) = users(topic.name);
    let key = match topic.key {
        KeyKind::Site => "site key",
        KeyKind::Page => "page id",
        KeyKind::PageVersion => "page id and version",
        KeyKind::Host => "host",
        KeyKind::Group => "site and cell",
        KeyKind::SiteHost => "site and host name",
        KeyKind::Hash => "kind and hash",
        KeyKind::Band => "band",
        KeyKind::StagePartition => "scheduler partition",
        KeyKind::Slot => "place among the kept ones",
        KeyKind::Name => "name",
        KeyKind::Original => "original key",
        KeyKind::Fingerprint => "fingerprint",
        KeyKind::None => "none",
    };
    let cleanup = match topic.cleanup {
        CleanupPolicy::Compact => "compacted".to_owned(),
        CleanupPolicy::Delete { .. } if topic.name == topics::CLOCK_CHECKS.name => {
            "deleted after 1 days, timed by brokers".to_owned()
        }
        CleanupPolicy::Delete { retention_days } => format!("deleted after {retention_days} days"),
    };
    let partitions = match topic.partitions {
        Partitions::PerLoop => "loop".to_owned(),
        Partitions::Fixed(count) => count.to_string(),
    };
    let kib = topic.max_message_bytes >> 10;
    format!(
        "| `{}` | {key} | {schemas} | {producers} → {consumers} | {cleanup} | {partitions} | {kib} KiB |\n",
        topic.name
    )
}

/// Who writes a topic, and who reads it.
fn users(name: TopicName) -> (String, String) {
    if name == SCHEMAS.name {
        return ("all".to_owned(), "all".to_owned());
    }
    if name == topics::CLOCK_CHECKS.name {
        return ("all".to_owned(), "none".to_owned());
    }
    let is_for_all = name == topics::DEAD_LETTERS.name();
    let stages = stages();
    let named = |uses: &dyn Fn(&StageTopology) -> bool| -> Vec<&str> {
        stages.iter().filter(|stage| uses(stage)).map(|stage| stage.name).collect()
    };
    let is_in = |some: &[TopicSpec]| some.iter().any(|topic| topic.name == name);
    let mut producers = named(&|stage| is_for_all || stage.writes_to(name));
    producers.extend(is_in(&WRITTEN_BY_COMMANDS).then_some("recrawl"));
    let mut consumers = named(&|stage| stage.reads_from(name));
    consumers.extend(is_in(&READ_BY_COMMANDS).then_some("recrawl"));
    let consumers = if consumers.is_empty() { "you".to_owned() } else { consumers.join(", ") };
    (producers.join(", "), consumers)
}

#[test]
fn whatever_a_stage_reads_some_stage_or_command_writes() {
    let stages = stages();
    for stage in &stages {
        let inputs = [stage.input].into_iter().chain(stage.broadcasts.iter().copied());
        for input in inputs {
            let is_written = stages.iter().any(|other| other.writes_to(input.name))
                || WRITTEN_BY_COMMANDS.iter().any(|topic| topic.name == input.name);
            assert!(is_written, "no stage writes {}", input.name);
        }
    }
}

#[test]
fn every_message_travels_on_some_topic() {
    let catalogue = topology::catalogue(&stages());
    let carried: Vec<_> = catalogue.iter().flat_map(|topic| (topic.schemas)()).map(|schema| schema.name).collect();
    for schema in messages::schemas::of_messages() {
        assert!(carried.contains(&schema.name), "no topic carries {}", schema.name);
    }
}

#[test]
fn any_record_fits_into_a_dead_letter() {
    let dead_letters = topics::DEAD_LETTERS.spec();
    for topic in topology::catalogue(&stages()).iter().filter(|topic| topic.name != dead_letters.name) {
        assert!(topic.max_message_bytes < dead_letters.max_message_bytes, "{}", topic.name);
    }
}

#[test]
fn a_site_stays_in_one_partition_all_round_the_loop() {
    for topic in topology::catalogue(&stages()).iter().filter(|topic| topic.key == KeyKind::Site) {
        assert_eq!(topic.partition_count(16), 16, "{}", topic.name);
    }
    // Changelogs have the partitions of the tasks whose state they keep.
    for changelog in stages().iter().flat_map(|stage| stage.changelogs().collect::<Vec<_>>()) {
        assert_eq!(
            (changelog.partition_count(16), changelog.cleanup),
            (16, CleanupPolicy::Compact),
            "{}",
            changelog.name
        );
    }
}

/// A table that is never emptied fills a disk in the end. So each says at its declaration what bounds it, and the architecture
/// shows the same.
#[test]
fn each_table_says_what_bounds_its_keys_and_who_deletes_them() {
    let architecture = std::fs::read_to_string(tests::workspace().join("docs/ARCHITECTURE.md")).unwrap();
    for (stage, table) in stages().iter().flat_map(|stage| stage.tables.iter().map(|table| (stage.name, table))) {
        let name = format!("{stage}/{}", table.name);
        let bound = table.bound.unwrap_or_else(|| panic!("{name} does not say what bounds its keys"));
        assert!(!bound.keys.starts_with("nothing"), "nothing bounds the keys of {name}");
        let is_fixed = bound.keys == "one record";
        assert!(is_fixed || bound.deleted_by != "nobody", "nobody deletes the keys of {name}");
        let row = architecture.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/ARCHITECTURE.md has no row for {name}"));
        let end = format!("| {} | {} |", bound.keys, bound.deleted_by);
        assert!(row.ends_with(&end), "the row of {name} in docs/ARCHITECTURE.md does not end with {end}");
    }
}

#[test]
fn no_topic_needs_larger_records_than_managed_services_take() {
    const MOST_BYTES: u32 = 8 << 20;
    const AROUND_A_BATCH: u32 = 4 << 10;
    for topic in topology::topic_configs(&settings::Settings::default(), &stages(), 1) {
        assert!(topic.max_message_bytes + AROUND_A_BATCH <= MOST_BYTES, "{}", topic.name);
    }
}
