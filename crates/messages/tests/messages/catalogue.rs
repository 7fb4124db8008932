use crate::every::{RecordType, record_types};
use crate::samples::Samples;
use messages::topics::{KeyKind, SCHEMAS};
use messages::{ChangeHint, Command, Encoded, Fingerprint, Keyed, PageLinks, SchedulerEvent};
use page::{CanonicalUrl, Host};

#[test]
fn every_message_travels_under_the_key_that_its_type_names() {
    for record in record_types() {
        for (sample, key) in record.samples.iter().zip(&record.keys) {
            let shown = (record.show)(sample).unwrap();
            // What stages pass on is about the page of its look.
            let fields = shown.get("look").unwrap_or(&shown);
            assert!(is_key(record.key_kind, key, fields), "{}: {key:?}", record.name);
        }
    }
}

/// Whether a key is one of this kind, and of this record.
fn is_key(kind: KeyKind, key: &[u8], fields: &serde_json::Value) -> bool {
    let bytes = |field: &str| -> Vec<u8> {
        let bytes = fields[field].as_array().into_iter().flatten();
        bytes.map(|byte| byte.as_u64().unwrap() as u8).collect()
    };
    match kind {
        // By name, or by the address the record is about.
        KeyKind::Site => {
            if let Some(target) = fields["redirected"]["target_url"].as_str() {
                return key == CanonicalUrl::parse(target).unwrap().site_key().as_str().as_bytes();
            }
            let named =
                ["site_key", "target_site", "to_site", "routing_key"].iter().find_map(|field| fields[field].as_str());
            let named = named.or_else(|| fields["share"]["routing_key"].as_str());
            let about = fields["url"]
                .as_str()
                .or_else(|| fields["source_url"].as_str())
                .map(|url| CanonicalUrl::parse(url).unwrap().site_key());
            let about = about.or_else(|| fields["host"].as_str().map(|host| Host::from_authority(host).site_key()));
            let site = named.map_or_else(|| about.unwrap().as_str().to_owned(), str::to_owned);
            key == site.as_bytes()
        }
        KeyKind::Page => key == CanonicalUrl::parse(fields["url"].as_str().unwrap()).unwrap().page_id().0,
        KeyKind::Band => key.len() == 5 && key == bytes("band"),
        KeyKind::StagePartition => key == fields["stage_partition"].to_string().as_bytes(),
        KeyKind::Slot => key == format!("{:02}", fields["number"].as_i64().unwrap() % 20).as_bytes(),
        KeyKind::Name => {
            let name = ["name", "question_id", "order_id"].into_iter().find_map(|field| fields[field].as_str());
            name.map(str::as_bytes) == Some(key)
        }
        KeyKind::Host => {
            let host = Host::from_authority(fields["host"].as_str().unwrap());
            key == host.name().as_str().as_bytes()
        }
        KeyKind::Original => key == bytes("key"),
        KeyKind::PageVersion | KeyKind::Group | KeyKind::SiteHost => panic!("no message has such a key"),
        KeyKind::Hash | KeyKind::Fingerprint | KeyKind::None => panic!("no message has such a key"),
    }
}

#[test]
fn a_union_has_the_keys_and_schemas_of_its_members() {
    let links = PageLinks::samples().remove(0);
    assert_eq!(links.key(), b"example.net", "the site that is linked to, not the one the links stand on");
    assert_eq!(SchedulerEvent::Links(links.clone()).key(), links.key());
    let hint = ChangeHint::samples().remove(0);
    assert_eq!(SchedulerEvent::Hint(hint).key(), b"example.org");
    let reported: Vec<_> = SchedulerEvent::schemas().iter().map(|record| record.name).collect();
    assert_eq!(
        reported,
        [
            "ChangeEstimate",
            "PageLinks",
            "Command",
            "ChangeHint",
            "SiteListing",
            "SweepForecast",
            "MirrorMessage",
            "RankedPages",
            "PagesShown",
            "TroubleNotice",
            "PageRemoval",
            "Question"
        ]
    );
}

#[test]
fn a_command_goes_to_the_site_it_names_and_a_share_to_its_partition() {
    let [seed, pause, discovered] = Command::samples().try_into().unwrap();
    assert_eq!(seed.key(), b"example.org");
    assert_eq!(pause.key(), b"127.0.0.1");
    assert_eq!(Command { host: None, ..pause }.key(), b"");
    assert_eq!(discovered.key(), b"partition-3");
}

#[test]
fn a_schema_travels_under_the_bytes_that_its_records_start_with() {
    assert_eq!(SCHEMAS.key, KeyKind::Fingerprint);
    for RecordType { name, fingerprint, header, .. } in record_types() {
        assert_eq!(header[2..], fingerprint.to_bytes(), "{name}");
        assert_eq!(Fingerprint::from_bytes(&header[2..]), Some(fingerprint));
    }
    assert_eq!(Fingerprint::from_bytes(b"1234567"), None);
}
