use crate::samples::Samples;
use messages::schemas::{is_of_unknown_schema, learn, learn_registry_id, registry_key};
use messages::{ChangeForm, DecodeError, Encoded, Fingerprint, Message, PageChange, Verdict};
use page::Timestamp;
use serde_json::Value;

/// Ids of schema registries are learned for the whole process, so each test has ids of its own.
fn learn_id(id: u32, schema: Option<Fingerprint>) {
    learn_registry_id(&registry_key(id), schema);
}

/// The change with its moments in milliseconds, the precision of the form JSON.
fn to_the_millisecond(change: PageChange) -> PageChange {
    let rounded = |moment: Timestamp| Timestamp::from_millis(moment.as_millis());
    PageChange { seen_at: rounded(change.seen_at), previous_seen_at: change.previous_seen_at.map(rounded), ..change }
}

#[test]
fn a_change_is_read_in_every_form_as_it_was_written() {
    learn_id(700, Some(PageChange::codec().fingerprint()));
    for change in PageChange::samples().into_iter().map(to_the_millisecond) {
        for form in [ChangeForm::Avro, ChangeForm::Confluent { schema_id: 700 }, ChangeForm::Json] {
            assert_eq!(PageChange::decode(&form.encode(&change)), Ok(change.clone()), "{form:?}");
        }
    }
}

#[test]
fn the_confluent_form_is_a_zero_the_id_and_the_same_datum() {
    let change = PageChange::samples().remove(0);
    let bytes = ChangeForm::Confluent { schema_id: 0x0102_0304 }.encode(&change);
    assert_eq!(bytes[..5], [0, 1, 2, 3, 4]);
    assert_eq!(bytes[5..], ChangeForm::Avro.encode(&change)[10..]);
}

#[test]
fn an_id_that_is_not_known_yet_is_waited_for() {
    let change = PageChange::samples().remove(0);
    let bytes = ChangeForm::Confluent { schema_id: 701 }.encode(&change);
    let error = PageChange::decode(&bytes).unwrap_err();
    assert!(matches!(error, DecodeError::UnknownSchemaId { id: 701, .. }) && error.is_temporary(), "{error}");
    assert!(is_of_unknown_schema(&bytes));
    learn_id(701, Some(PageChange::codec().fingerprint()));
    assert!(!is_of_unknown_schema(&bytes));
    assert_eq!(PageChange::decode(&bytes), Ok(change));
    learn_id(701, None);
    assert!(is_of_unknown_schema(&bytes), "a tombstone ends what the id stands for");
}

#[test]
fn an_id_of_another_version_is_resolved_by_its_schema() {
    let fields = r#""fields":[{"name": "of_the_future", "type": "int", "default": 0}, "#;
    let newer = PageChange::schema_record().json.replacen("\"fields\":[", fields, 1);
    learn_id(702, Some(learn(newer.as_bytes(), None).unwrap()));
    let change = PageChange::samples().remove(0);
    let datum = &ChangeForm::Confluent { schema_id: 702 }.encode(&change)[5..];
    let bytes = [&registry_key(702)[..], &[14], datum].concat();
    assert_eq!(PageChange::decode(&bytes), Ok(change));
}

#[test]
fn keys_of_fingerprints_are_no_ids() {
    let change = ChangeForm::Confluent { schema_id: 703 }.encode(&PageChange::samples().remove(0));
    learn_registry_id(&[0, 0, 0, 2, 191, 0, 0, 0], Some(PageChange::codec().fingerprint()));
    assert!(is_of_unknown_schema(&change));
}

#[test]
fn json_has_the_words_and_moments_of_the_change() {
    let change = PageChange::samples().remove(0);
    let json: Value = serde_json::from_slice(&ChangeForm::Json.encode(&change)).unwrap();
    assert_eq!(json["verdict"], "major");
    assert_eq!(json["page_id"], change.page_id.to_string());
    assert_eq!(json["content_digest"], change.content_digest.unwrap().to_string());
    assert_eq!(json["seen_at"], change.seen_at.to_string());
    assert_eq!(json["changes"][0]["where"], "Weather");
    assert_eq!(json.get("cursor"), None, "a record does not know its offset");
}

#[test]
fn json_of_other_versions_is_read_and_other_json_is_corrupt() {
    let change = to_the_millisecond(PageChange::samples().remove(0));
    let json: Value = serde_json::from_slice(&ChangeForm::Json.encode(&change)).unwrap();
    let read = |json: &Value| PageChange::decode(json.to_string().as_bytes());
    let mut newer = json.clone();
    newer["verdict"] = "transformed".into();
    newer["of_the_future"] = 1.into();
    newer.as_object_mut().unwrap().remove("triggers");
    assert_eq!(read(&newer), Ok(PageChange { verdict: Verdict::Unknown, triggers: Vec::new(), ..change }));
    for (name, value) in [("page_id", "12"), ("url", "nowhere"), ("seen_at", "yesterday"), ("content_digest", "é")] {
        let mut wrong = json.clone();
        wrong[name] = value.into();
        assert!(matches!(read(&wrong), Err(DecodeError::Corrupt { .. })), "{name}");
    }
    for text in ["{", "{}", "{\"verdict\":1}"] {
        assert!(matches!(PageChange::decode(text.as_bytes()), Err(DecodeError::Corrupt { .. })), "{text}");
    }
}
