use crate::samples::Samples;
use apache_avro::Schema;
use messages::{DecodeError, Fingerprint, Keyed, Message};
use std::path::PathBuf;

/// A record type as functions of bytes, so that one loop can go over all of them.
pub(crate) struct RecordType {
    pub(crate) name: &'static str,
    pub(crate) schema: &'static Schema,
    pub(crate) fingerprint: Fingerprint,
    /// The first bytes of every record: the marker and the fingerprint of the schema.
    pub(crate) header: Vec<u8>,
    /// Decodes and encodes again.
    pub(crate) recode: fn(&[u8]) -> Result<Vec<u8>, DecodeError>,
    /// Decodes, and shows the value as JSON.
    pub(crate) show: fn(&[u8]) -> Result<serde_json::Value, DecodeError>,
    /// The samples, encoded.
    pub(crate) samples: Vec<Vec<u8>>,
    /// Kind and encoding of its record keys.
    pub(crate) key_kind: messages::topics::KeyKind,
    /// The keys of the samples.
    pub(crate) keys: Vec<Vec<u8>>,
}

macro_rules! record_types_of {
    ($($type:ty: $kind:ident |$message:ident| $key:expr;)+) => {
        vec![$(record_type::<$type>()),+]
    };
}

pub(crate) fn record_types() -> Vec<RecordType> {
    messages::every_message!(record_types_of)
}

fn record_type<T: Message + Keyed + Samples>() -> RecordType {
    let samples: Vec<_> = T::samples().iter().map(T::encode).collect();
    RecordType {
        name: T::NAME,
        schema: T::codec().schema(),
        fingerprint: T::codec().fingerprint(),
        header: samples[0][..10].to_vec(),
        recode: |bytes| T::decode(bytes).map(|value| value.encode()),
        show: |bytes| T::decode(bytes).map(|value| serde_json::to_value(value).unwrap()),
        key_kind: T::KEY,
        keys: T::samples().iter().map(T::key).collect(),
        samples,
    }
}

/// The directory `schemas/`.
pub(crate) fn schemas_directory() -> PathBuf {
    corpora::workspace().join("schemas")
}

#[test]
fn every_schema_file_has_a_struct() {
    let mut found: Vec<String> = std::fs::read_dir(schemas_directory())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().unwrap().strip_suffix(".avsc").map(str::to_owned))
        .collect();
    let mut known: Vec<_> = record_types().iter().map(|record| record.name).collect();
    found.sort();
    known.sort();
    assert_eq!(found, known);
}

#[test]
fn every_field_is_documented() {
    fn check(path: &str, schema: &Schema) {
        match schema {
            Schema::Record(record) => {
                assert!(record.doc.is_some(), "{path} has no doc");
                for field in &record.fields {
                    let path = format!("{path}.{}", field.name);
                    assert!(field.doc.as_ref().is_some_and(|doc| doc.ends_with('.')), "{path} has no doc");
                    check(&path, &field.schema);
                }
            }
            Schema::Array(array) => check(path, &array.items),
            Schema::Union(union) => union.variants().iter().for_each(|variant| check(path, variant)),
            _ => {}
        }
    }
    for record in record_types() {
        check(record.name, record.schema);
    }
}

#[test]
fn the_schemas_that_are_reported_are_those_of_all_messages() {
    let mut reported = messages::schemas::of_messages();
    reported.sort_by_key(|record| record.name);
    let mut known = record_types();
    known.sort_by_key(|record| record.name);
    assert_eq!(reported.len(), known.len());
    for (reported, known) in reported.iter().zip(&known) {
        assert_eq!((reported.name, reported.fingerprint), (known.name, known.fingerprint));
        assert_eq!(
            messages::schemas::learn(reported.json.as_bytes(), Some(reported.fingerprint)),
            Ok(reported.fingerprint)
        );
        assert_eq!(messages::schemas::name_of(reported.fingerprint), Some(reported.name));
    }
}
