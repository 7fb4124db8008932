//! `schemas/released/<Name>/v<N>.avsc` are the schemas that programs out there read and write with. What becomes of a
//! schema must get along with each of them, in both directions: an old program reads what a new one writes during an
//! upgrade, and a new one reads what old ones wrote.

use crate::every::schemas_directory;
use apache_avro::Schema;
use messages::schemas::{Severity, problems, with_parts};
use std::path::PathBuf;

/// The texts of the released versions of a record's schema, the oldest first.
pub(crate) fn released(name: &str) -> Vec<String> {
    let directory = schemas_directory().join("released").join(name);
    let texts = (1..).map(|version| std::fs::read_to_string(directory.join(format!("v{version}.avsc"))));
    texts.map_while(Result::ok).collect()
}

/// All schemas of today: messages and state.
fn current() -> Vec<PathBuf> {
    let files = [schemas_directory(), schemas_directory().join("state")].into_iter().flat_map(|directory| {
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "avsc")).collect()
}

/// Why programs with the two schemas could not work side by side; one line for each reason.
fn conflicts(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (Schema::parse_str(old).unwrap(), Schema::parse_str(new).unwrap());
    let backward = problems(&old, &new).unwrap().into_iter();
    let forward = problems(&new, &old).unwrap().into_iter();
    let backward = backward.map(|problem| format!("the new schema cannot read what the old one wrote: {problem}"));
    let forward = forward.map(|problem| format!("the old schema cannot read what the new one writes: {problem}"));
    backward.chain(forward).collect()
}

#[test]
fn every_schema_gets_along_with_its_released_versions() {
    for path in current() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = with_parts(&std::fs::read_to_string(&path).unwrap());
        for (index, old) in released(name).iter().enumerate() {
            let found = conflicts(old, &text);
            assert!(found.is_empty(), "{name} and its released v{}:\n{}", index + 1, found.join("\n"));
        }
    }
}

#[test]
fn every_released_schema_still_has_a_successor_and_no_number_is_left_out() {
    let Ok(names) = std::fs::read_dir(schemas_directory().join("released")) else { return };
    let current = current();
    for directory in names {
        let directory = directory.unwrap();
        let name = directory.file_name().into_string().unwrap();
        assert!(current.iter().any(|path| path.file_stem().unwrap() == name.as_str()), "{name} is gone");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), released(&name).len(), "{name}");
    }
}

fn record(fields: &str) -> String {
    format!(r#"{{"type": "record", "name": "Visit", "namespace": "test", "fields": [{fields}]}}"#)
}

const COUNT: &str = r#"{"name": "count", "type": "long"}"#;

/// `None`: they get along. Otherwise the beginning of each reason, the new reader's first.
fn check(old: &str, new: &str, expected: &[&str]) {
    let found = conflicts(&record(old), &record(new));
    assert_eq!(found.len(), expected.len(), "{old} → {new}: {found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{old} → {new}: {found}");
    }
}

#[test]
fn a_field_may_come_and_go_if_it_has_a_default() {
    let with_default = r#"{"name": "note", "type": ["null", "string"], "default": null}"#;
    let without = r#"{"name": "note", "type": ["null", "string"]}"#;
    check(COUNT, &format!("{with_default}, {COUNT}"), &[]);
    check(&format!("{COUNT}, {with_default}"), COUNT, &[]);
    check(&format!("{COUNT}, {with_default}"), &format!("{with_default}, {COUNT}"), &[]);
    let missing =
        "field Visit.note: the reader needs it and has no default, but the writer does not write it; give it a default";
    check(
        COUNT,
        &format!("{COUNT}, {without}"),
        &[&format!("the new schema cannot read what the old one wrote: {missing}")],
    );
    check(
        &format!("{COUNT}, {without}"),
        COUNT,
        &[&format!("the old schema cannot read what the new one writes: {missing}")],
    );
}

#[test]
fn a_field_keeps_its_type() {
    let count = |kind: &str| format!(r#"{{"name": "count", "type": {kind}}}"#);
    check(COUNT, &count(r#""string""#), &["Visit.count: the writer has Long, the reader String", "keep its type"]);
    // What one side could widen, the other cannot narrow.
    check(&count(r#""int""#), COUNT, &["the old schema cannot read what the new one writes: field Visit.count"]);
    check(COUNT, &count(r#"["null", "long"]"#), &["the writer has null or Long, the reader Long"]);
    let micros = count(r#"{"type": "long", "logicalType": "timestamp-micros"}"#);
    let millis = count(r#"{"type": "long", "logicalType": "timestamp-millis"}"#);
    check(COUNT, &micros, &[]);
    check(
        &micros,
        &millis,
        &["the writer has TimestampMicros, the reader TimestampMillis", "the writer has TimestampMillis, the"],
    );
    let fixed = |size: u32| count(&format!(r#"{{"type": "fixed", "name": "F", "size": {size}}}"#));
    check(&fixed(4), &fixed(5), &["the writer has 4 bytes, the reader 5", "the writer has 5 bytes, the reader 4"]);
}

#[test]
fn an_enum_grows_only_if_it_had_a_default() {
    let word = |symbols: &str, default: &str| {
        format!(r#"{{"name": "word", "type": {{"type": "enum", "name": "Word", "symbols": [{symbols}] {default}}}}}"#)
    };
    let default = r#", "default": "a""#;
    check(&word(r#""a", "b""#, default), &word(r#""a", "b", "c""#, default), &[]);
    check(&word(r#""a", "b""#, ""), &word(r#""b", "a""#, ""), &[]);
    let grown = "the old schema cannot read what the new one writes: field Visit.word: the writer has the symbol c, \
                 which the reader's Word lacks; an enum may grow only if";
    check(&word(r#""a", "b""#, ""), &word(r#""a", "b", "c""#, default), &[grown]);
    check(&word(r#""a", "b""#, ""), &word(r#""a""#, ""), &["the new schema cannot read what the old one wrote"]);
}

#[test]
fn what_lies_deeper_is_found_too() {
    let list = |fields: &str| {
        format!(
            r#"{{"name": "stops", "type": {{"type": "array", "items": ["null",
                {{"type": "record", "name": "Stop", "fields": [{fields}]}}]}}}}, {{"name": "last", "type": "Stop"}}"#
        )
    };
    let (at, on) = (r#"{"name": "at", "type": "int"}"#, r#"{"name": "on", "type": "int"}"#);
    check(&list(at), &list(&format!("{at}, {on}")), &["field Visit.stops.on: ", "field Visit.last.on: "]);
}

#[test]
fn another_name_needs_the_old_one_as_an_alias_and_the_old_reader_a_default() {
    let named = |name: &str, further: &str| format!(r#"{{"name": "{name}", "type": "long" {further}}}"#);
    let (old, old_with_default) = (named("count", ""), named("count", r#", "default": 0"#));
    let renamed = named("visits", r#", "aliases": ["count"], "default": 0"#);
    check(&old_with_default, &renamed, &[]);
    check(&old, &renamed, &["the old schema cannot read what the new one writes: field Visit.count"]);
    let fixed = |name: &str, alias: &str| {
        format!(r#"{{"name": "id", "type": {{"type": "fixed", "name": "{name}", "size": 4 {alias}}}}}"#)
    };
    check(
        &fixed("A", ""),
        &fixed("B", r#", "aliases": ["A"]"#),
        &["the writer has a B, the reader a A; keep the name"],
    );
}

#[test]
fn the_same_type_may_be_defined_in_one_place_and_referred_to_in_another() {
    let id = |name: &str, kind: &str| format!(r#"{{"name": "{name}", "type": {kind}, "default": "abcd"}}"#);
    let defined = r#"{"type": "fixed", "name": "Id", "size": 4}"#;
    let old = id("second", defined);
    let new = [id("first", defined), id("second", r#""Id""#)].join(", ");
    check(&old, &new, &[]);
}

#[test]
fn a_record_that_is_part_of_itself_is_refused_and_not_followed() {
    let endless = record(r#"{"name": "next", "type": "Visit"}, {"name": "count", "type": "long"}"#);
    let (endless, plain) = (Schema::parse_str(&endless).unwrap(), Schema::parse_str(&record(COUNT)).unwrap());
    assert_eq!(problems(&endless, &plain).unwrap_err(), "Visit contains itself; recursive types are not supported");
    assert!(problems(&plain, &endless).is_err());
}

#[test]
fn a_problem_says_whether_it_loses_all_records_or_some() {
    let parse = |fields: &str| Schema::parse_str(&record(fields)).unwrap();
    let severity = |old: &str, new: &str| problems(&parse(old), &parse(new)).unwrap()[0].severity;
    let optional = r#"{"name": "count", "type": ["null", "long"]}"#;
    assert_eq!(severity(optional, COUNT), Severity::SomeRecords);
    assert_eq!(severity(r#"{"name": "count", "type": "string"}"#, COUNT), Severity::EveryRecord);
}
