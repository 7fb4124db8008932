//! Records of versions that this program was not compiled with.

use crate::every::{RecordType, record_types};
use crate::samples::Samples;
use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value;
use apache_avro::writer::datum::GenericDatumWriter;
use messages::schemas::{LearnError, learn, name_of};
use messages::{
    Command, CommandKind, DecodeError, Encoded, FetchOutcome, FetchRequest, FetchResult, Fingerprint, Message,
    PageChange, SchedulerEvent, impl_message,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use wire::schemas::known;

/// A version of a message's schema with a change made to its fields.
fn other_version(record: &RecordType, change: impl FnOnce(&mut Vec<serde_json::Value>)) -> String {
    let mut schema = serde_json::to_value(record.schema).unwrap();
    change(schema["fields"].as_array_mut().unwrap());
    schema.to_string()
}

/// A record as a program with another version writes it: the value of `bytes` with its fields changed.
fn written_with(
    schema: &str,
    record: &RecordType,
    bytes: &[u8],
    change: impl FnOnce(&mut Vec<(String, Value)>),
) -> Vec<u8> {
    let reader = GenericDatumReader::builder(record.schema).build().unwrap();
    let Value::Record(mut fields) = reader.read_value(&mut &bytes[10..]).unwrap() else { panic!("no record") };
    change(&mut fields);
    write(schema, Value::Record(fields))
}

fn write(schema: &str, value: Value) -> Vec<u8> {
    let schema = Schema::parse_str(schema).unwrap();
    let datum = GenericDatumWriter::builder(&schema).build().unwrap().write_value_to_vec(value).unwrap();
    [&[0xC3, 0x01], &fingerprint_of(&schema)[..], &datum].concat()
}

/// By apache-avro's own hash, for schemas without logical types in unions it takes for another.
fn fingerprint_of(schema: &Schema) -> [u8; 8] {
    let form = ["int", "long"].iter().fold(schema.canonical_form(), |form, kind| {
        form.replace(&format!(r#"{{"type":"{kind}"}}"#), &format!(r#""{kind}""#))
    });
    use apache_avro::rabin::Rabin;
    use sha1::digest::Digest;
    let mut rabin = Rabin::new();
    rabin.update(form.as_bytes());
    rabin.finalize().as_slice().try_into().unwrap()
}

fn find(name: &str) -> RecordType {
    record_types().into_iter().find(|record| record.name == name).unwrap()
}

#[test]
fn every_message_is_read_when_a_newer_writer_has_put_a_field_in_its_middle() {
    for record in record_types() {
        let added = json!({"name": "from_later", "type": ["null", "string"], "default": null});
        let newer = other_version(&record, |fields| fields.insert(fields.len() / 2, added));
        let add = |fields: &mut Vec<(String, Value)>| {
            let value = Value::Union(1, Box::new(Value::String("more".to_owned())));
            fields.insert(fields.len() / 2, ("from_later".to_owned(), value));
        };
        let bytes: Vec<_> = record.samples.iter().map(|sample| written_with(&newer, &record, sample, add)).collect();
        let fingerprint = Fingerprint::of_single_object(&bytes[0]).unwrap();
        assert!(!known(fingerprint));
        for bytes in &bytes {
            let unknown = (record.recode)(bytes).unwrap_err();
            assert!(matches!(unknown, DecodeError::UnknownSchema { fingerprint: found, .. } if found == fingerprint));
        }
        assert_eq!(learn(newer.as_bytes(), Some(fingerprint)), Ok(fingerprint));
        assert_eq!(name_of(fingerprint), Some(record.name));
        for (bytes, sample) in bytes.iter().zip(&record.samples) {
            assert_eq!((record.recode)(bytes).as_ref(), Ok(sample), "{}", record.name);
        }
    }
}

#[test]
fn what_an_older_writer_did_not_have_yet_comes_from_the_schema() {
    let record = find("PageChange");
    let older = other_version(&record, |fields| fields.retain(|field| field.get("default").is_none()));
    let gone = [
        "content_changed",
        "links_changed",
        "structure_changed",
        "host_event",
        "changes_last",
        "rule",
        "triggers",
        "not_found",
        "title",
        "values",
        "lost",
        "found_again",
        "leads_to",
        "looks_like",
        "failure",
        "preferences",
    ];
    let bytes = written_with(&older, &record, &record.samples[0], |fields| {
        fields.retain(|(name, _)| !gone.contains(&name.as_str()));
    });
    learn(older.as_bytes(), None).unwrap();
    let full = PageChange::samples().remove(0);
    let (content_changed, links_changed, structure_changed, host_event) = (false, false, false, false);
    let flags =
        PageChange { content_changed, links_changed, structure_changed, host_event, changes_last: true, ..full };
    let of_rule = PageChange { rule: None, triggers: Vec::new(), not_found: Vec::new(), ..flags };
    let (values, lost, found_again) = (Vec::new(), Vec::new(), Vec::new());
    let of_values = PageChange { title: None, values, lost, found_again, ..of_rule };
    let expected = PageChange { leads_to: None, looks_like: None, failure: None, preferences: Vec::new(), ..of_values };
    assert_eq!(PageChange::decode(&bytes), Ok(expected));
}

#[test]
fn a_record_of_a_union_is_reported_by_the_name_of_its_learned_schema() {
    let record = find("Command");
    let newer = other_version(&record, |fields| {
        fields.insert(0, json!({"name": "issued_by", "type": "string", "default": ""}));
    });
    let bytes = written_with(&newer, &record, &record.samples[0], |fields| {
        fields.insert(0, ("issued_by".to_owned(), Value::String("ann".to_owned())));
    });
    assert!(matches!(SchedulerEvent::decode(&bytes), Err(DecodeError::UnknownSchema { .. })));
    learn(newer.as_bytes(), None).unwrap();
    assert_eq!(SchedulerEvent::decode(&bytes), Ok(SchedulerEvent::Command(Command::samples().remove(0))));
}

#[test]
fn a_word_that_a_newer_writer_has_for_a_fetch_or_a_command_is_unknown() {
    let text =
        FetchResult::schema_record().json.replace(r#""content_refused","#, r#""geo_blocked","content_refused","#);
    let record = find("FetchResult");
    let bytes = written_with(&text, &record, &record.samples[1], |fields| {
        let look = fields.iter_mut().find(|(name, _)| name == "look").unwrap();
        let Value::Record(look) = &mut look.1 else { panic!("a look is a record") };
        let outcome = look.iter_mut().find(|(name, _)| name == "outcome").unwrap();
        outcome.1 = Value::Enum(23, "geo_blocked".to_owned());
    });
    learn(text.as_bytes(), None).unwrap();
    let mut expected = FetchResult::samples().remove(1);
    expected.look.outcome = FetchOutcome::Unknown;
    assert_eq!(FetchResult::decode(&bytes), Ok(expected));

    let text = Command::schema_record().json.replace(r#""forget","#, r#""archive","forget","#);
    let record = find("Command");
    let bytes = written_with(&text, &record, &record.samples[0], |fields| {
        fields[0].1 = Value::Enum(2, "archive".to_owned());
    });
    learn(text.as_bytes(), None).unwrap();
    let expected = Command { kind: CommandKind::Unknown, ..Command::samples().remove(0) };
    assert_eq!(Command::decode(&bytes), Ok(expected));
}

#[test]
fn a_record_of_another_name_is_named_and_not_waited_for() {
    let request = FetchRequest::samples().remove(0).encode();
    for error in [SchedulerEvent::decode(&request).unwrap_err(), Command::decode(&request).unwrap_err()] {
        assert!(matches!(&error, DecodeError::OtherRecord { found, .. } if found == "FetchRequest"), "{error}");
    }
    let unreceived = [&[0xC3, 0x01, 1, 2, 3, 4, 5, 6, 7, 8], &request[10..]].concat();
    assert!(matches!(SchedulerEvent::decode(&unreceived), Err(DecodeError::UnknownSchema { .. })));
}

#[test]
fn damage_to_a_record_of_another_version_is_seen_and_not_read_as_nothing() {
    let record = find("FetchResult");
    let added = json!({"name": "last", "type": ["null", "string"], "default": null});
    let newer = other_version(&record, |fields| fields.push(added));
    let bytes = written_with(&newer, &record, &record.samples[0], |fields| {
        fields.push(("last".to_owned(), Value::Union(1, Box::new(Value::String("a text".to_owned())))));
    });
    learn(newer.as_bytes(), None).unwrap();
    assert_eq!((record.recode)(&bytes).as_ref(), Ok(&record.samples[0]));
    for end in 10..bytes.len() {
        let cut = (record.recode)(&bytes[..end]).unwrap_err();
        assert!(matches!(cut, DecodeError::Corrupt { .. }), "{end} of {}: {cut}", bytes.len());
        assert!(cut.to_string().len() < 300 && !cut.to_string().contains('\n'), "{cut}");
    }
    let more = [&bytes[..], &[0]].concat();
    assert_eq!((record.recode)(&more).unwrap_err().to_string(), "corrupt FetchResult: 1 bytes after the end");
}

#[test]
fn only_schemas_of_records_are_learned_and_only_under_their_own_fingerprint() {
    let command = Command::schema_record();
    let request = FetchRequest::schema_record();
    let mixed_up = learn(command.json.as_bytes(), Some(request.fingerprint));
    let (stated, found) = (request.fingerprint, command.fingerprint);
    assert_eq!(mixed_up, Err(LearnError::OtherFingerprint { stated, found }));
    for bad in [&b"hello"[..], b"\"string\"", b"{}", &[0xFF, 0xFE], br#"{"type": "record", "name": "A"}"#] {
        assert!(matches!(learn(bad, None), Err(LearnError::NotARecord(_))), "{bad:?}");
    }
}

/// As another crate keeps its state, in three versions.
mod state {
    use super::*;

    pub(super) const V1: &str = r#"{"type": "record", "name": "Visits", "namespace": "recrawl.state", "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "count", "type": "int"},
        {"name": "place", "type": ["null", {"type": "record", "name": "Place", "fields": [
            {"name": "id", "type": {"type": "fixed", "name": "Id", "size": 2}}]}]}]}"#;
    /// A field in front, one wider, one under another name, one in the record within.
    pub(super) const V2: &str = r#"{"type": "record", "name": "Visits", "namespace": "recrawl.state", "fields": [
        {"name": "note", "type": "string", "default": "none"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "visits", "aliases": ["count"], "type": "long"},
        {"name": "place", "type": ["null", {"type": "record", "name": "Place", "fields": [
            {"name": "weight", "type": "float", "default": 1.5},
            {"name": "id", "type": {"type": "fixed", "name": "Id", "size": 2}}]}]}]}"#;
    /// A version that cannot be resolved: the moment is a text.
    pub(super) const V3: &str = r#"{"type": "record", "name": "Visits", "namespace": "recrawl.state", "fields": [
        {"name": "at", "type": "string"}]}"#;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Visits {
        pub(super) note: String,
        pub(super) at: i64,
        pub(super) visits: i64,
        pub(super) place: Option<Place>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Place {
        pub(super) weight: f32,
        #[serde(with = "serde_bytes")]
        pub(super) id: Vec<u8>,
    }

    impl_message!(Visits, "Visits", V2);
}

fn v1_record() -> Vec<u8> {
    let place = Value::Record(vec![("id".to_owned(), Value::Fixed(2, vec![7, 8]))]);
    let fields =
        [("at", Value::TimestampMicros(5)), ("count", Value::Int(-3)), ("place", Value::Union(1, Box::new(place)))];
    write(state::V1, Value::Record(fields.map(|(name, value)| (name.to_owned(), value)).to_vec()))
}

#[test]
fn state_of_an_older_version_is_read_after_its_schema_was_learned() {
    let old = v1_record();
    assert!(matches!(state::Visits::decode(&old), Err(DecodeError::UnknownSchema { .. })));
    learn(state::V1.as_bytes(), None).unwrap();
    let place = Some(state::Place { weight: 1.5, id: vec![7, 8] });
    let expected = state::Visits { note: "none".to_owned(), at: 5, visits: -3, place };
    for _ in 0..2 {
        assert_eq!(state::Visits::decode(&old).as_ref(), Ok(&expected));
    }
}

#[test]
fn what_cannot_be_resolved_is_reported_with_the_field() {
    learn(state::V3.as_bytes(), None).unwrap();
    let bytes = write(state::V3, Value::Record(vec![("at".to_owned(), Value::String("noon".to_owned()))]));
    let error = state::Visits::decode(&bytes).unwrap_err();
    assert!(matches!(error, DecodeError::Unresolvable { name: "Visits", .. }));
    let said = error.to_string();
    assert!(said.contains("field Visits.at: the writer has String, the reader TimestampMicros"), "{said}");
}
