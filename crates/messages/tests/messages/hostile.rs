use crate::every::record_types;
use crate::samples::Samples;
use messages::schemas::{SchemaRecord, learn, learn_registry_id, registry_key};
use messages::{
    Command, DecodeError, Encoded, FetchRequest, FetchResult, Fingerprint, Message, PageChange, PageLinks,
    SchedulerEvent,
};
use proptest::prelude::*;

#[test]
fn an_error_reports_what_was_met_and_what_is_known() {
    assert_eq!(FetchRequest::decode(b"hello"), Err(DecodeError::NotSingleObject { length: 5 }));
    let command = Command::samples().remove(0).encode();

    let message = FetchRequest::decode(&command).unwrap_err().to_string();
    assert!(message.contains(&Command::codec().fingerprint().to_string()), "{message}");
    assert!(message.contains(&FetchRequest::codec().readable()), "{message}");

    let message = SchedulerEvent::decode(&FetchRequest::samples()[0].encode()).unwrap_err().to_string();
    for known in ["ChangeEstimate (", "PageLinks (", "Command (", "ChangeHint (", "SweepForecast ("] {
        assert!(message.contains(known), "{message}");
    }

    let message = Command::decode(&command[..command.len() - 1]).unwrap_err().to_string();
    assert!(message.starts_with("corrupt Command: "), "{message}");
    let message = Command::decode(&[&command[..], &[0]].concat()).unwrap_err().to_string();
    assert_eq!(message, "corrupt Command: 1 bytes after the end");
}

#[test]
fn an_error_message_is_one_short_line() {
    for record in record_types() {
        for end in record.header.len()..record.samples[0].len() {
            let message = (record.recode)(&record.samples[0][..end]).unwrap_err().to_string();
            assert!(message.len() < 200 && !message.contains('\n'), "{message}");
        }
    }
}

/// The largest length an Avro long can state, in front of nothing.
const HUGE: [u8; 10] = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01];

#[test]
fn a_huge_length_is_an_error_and_not_an_allocation() {
    // An empty list is the last byte of these.
    let links = PageLinks::samples().remove(1).encode();
    let bytes = [&links[..links.len() - 1], &HUGE].concat();
    assert!(matches!(PageLinks::decode(&bytes), Err(DecodeError::Corrupt { .. })));

    // An absent text ends this one; make it present and huge.
    let result = FetchResult::samples().remove(1).encode();
    for length in [&HUGE[..], &[0x80, 0x80, 0x80, 0x80, 0x20], &[0x01]] {
        let bytes = [&result[..result.len() - 1], &[2], length].concat();
        assert!(matches!(FetchResult::decode(&bytes), Err(DecodeError::Corrupt { .. })));
    }
}

/// Whatever is read can be written and read again.
fn never_panics(bytes: &[u8]) {
    for record in record_types() {
        if let Ok(again) = (record.recode)(bytes) {
            assert_eq!((record.recode)(&again), Ok(again));
        }
    }
    let _ = SchedulerEvent::decode(bytes);
    learn_registry_id(&registry_key(0), Some(PageChange::codec().fingerprint()));
    let _ = PageChange::decode(&[&registry_key(0)[..], bytes].concat());
    let _ = Fingerprint::of_single_object(bytes);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), which in 0usize..10) {
        never_panics(&bytes);
        never_panics(&[&record_types()[which].header[..], &bytes].concat());
    }

    #[test]
    fn damaged_records_never_panic(
        which in 0usize..10,
        full in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = record_types()[which].samples[usize::from(!full)].clone();
        for (place, value) in damage {
            // The header stays, or nothing behind it would be tried.
            let place = 10 + place.index(bytes.len() - 10);
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        never_panics(&bytes);
    }
}

/// The header of records of a version with one more field, whose schema was learned.
fn header_of_newer(record: SchemaRecord) -> Vec<u8> {
    let fields = r#""fields":[{"name": "learned", "type": {"type": "array", "items": "bytes"}}, "#;
    let newer = record.json.replacen("\"fields\":[", fields, 1);
    [&[0xC3, 0x01], &learn(newer.as_bytes(), None).unwrap().to_bytes()[..]].concat()
}

proptest! {
    #[test]
    fn random_bytes_of_a_learned_version_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), which: bool) {
        let newer = if which { FetchResult::schema_record() } else { PageLinks::schema_record() };
        never_panics(&[header_of_newer(newer), bytes].concat());
    }

    #[test]
    fn damaged_schemas_never_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0x20u8..0x7F), 1..4),
        rest in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut json = Command::schema_record().json.as_bytes().to_vec();
        for (place, value) in damage {
            let place = place.index(json.len());
            json[place] = value;
        }
        if let Ok(fingerprint) = learn(&json, None) {
            never_panics(&[&[0xC3, 0x01], &fingerprint.to_bytes()[..], &rest].concat());
        }
    }
}

#[test]
fn a_learned_length_that_is_huge_is_an_error_and_not_an_allocation() {
    let bytes = [header_of_newer(PageLinks::schema_record()), HUGE.to_vec()].concat();
    assert!(matches!(PageLinks::decode(&bytes), Err(DecodeError::Corrupt { .. })));
}
