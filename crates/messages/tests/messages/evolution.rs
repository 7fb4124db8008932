use crate::every::{record_types, schemas_directory};
use apache_avro::schema_compatibility::SchemaCompatibility;
use messages::{DecodeError, Message, impl_message};
use serde::{Deserialize, Serialize};

#[test]
fn every_two_versions_read_each_other() {
    for record in record_types() {
        for (index, newer) in record.schemas.iter().enumerate() {
            for older in &record.schemas[index + 1..] {
                if let Err(error) = SchemaCompatibility::mutual_read(older, newer) {
                    panic!("{}: {error}; give new fields and enums a default, rename and retype nothing", record.name);
                }
            }
        }
    }
}

#[test]
fn every_version_kept_is_a_version_known() {
    let Ok(history) = std::fs::read_dir(schemas_directory().join("history")) else { return };
    for directory in history {
        let directory = directory.unwrap();
        let name = directory.file_name().into_string().unwrap();
        let record = record_types().into_iter().find(|record| record.name == name).unwrap();
        for version in 1..record.schemas.len() {
            assert!(directory.path().join(format!("v{version}.avsc")).exists(), "{name} v{version}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), record.schemas.len() - 1, "{name}");
    }
}

const V1: &str = r#"{"type": "record", "name": "Visits", "fields": [
    {"name": "count", "type": "long"}]}"#;
const V2: &str = r#"{"type": "record", "name": "Visits", "fields": [
    {"name": "note", "type": ["null", "string"], "default": null},
    {"name": "count", "type": "long"},
    {"name": "weight", "type": "double", "default": 1.0}]}"#;

/// As another crate has it, before and after a change.
mod before {
    use super::*;
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Visits {
        pub(super) count: i64,
    }
    impl_message!(Visits, "Visits", V1);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Visits {
    #[serde(default)]
    note: Option<String>,
    count: i64,
    #[serde(default = "one")]
    weight: f64,
}

fn one() -> f64 {
    1.0
}

impl_message!(Visits, "Visits", V2, older: [V1]);

#[test]
fn an_old_record_is_read_with_the_new_fields_defaults() {
    let old = before::Visits { count: 7 }.encode();
    assert_eq!(Visits::decode(&old), Ok(Visits { note: None, count: 7, weight: 1.0 }));
}

#[test]
fn a_new_record_is_written_with_the_newest_schema() {
    let visits = Visits { note: Some("x".to_owned()), count: 7, weight: 2.0 };
    assert_eq!(Visits::decode(&visits.encode()), Ok(visits));
    assert_eq!(Visits::codec().schemas().count(), 2);
    assert_ne!(Visits::codec().fingerprint(), before::Visits::codec().fingerprint());
}

#[test]
fn a_reader_that_was_not_updated_first_says_so() {
    let new = Visits { note: None, count: 7, weight: 1.0 }.encode();
    assert!(matches!(before::Visits::decode(&new), Err(DecodeError::UnknownFingerprint { .. })));
}
