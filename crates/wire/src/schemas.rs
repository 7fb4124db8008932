//! The registry of known schemas, including those of other versions of the program.
//!
//! Writers publish their schemas on the topic `schemas` before their records. Readers of that topic [`learn`] each schema here, after which every [`Codec`](crate::Codec) can read its records. There is one
//! registry per process. It does no I/O.

use crate::{Fingerprint, confluent};
use apache_avro::Schema;
use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError, RwLock};

pub use crate::compatibility::{Incompatibility, Severity, problems};
pub use crate::schema_record::SchemaRecord;

/// Longest schema text: larger than any schema needs, and at most the size of a record of the topic.
const MAX_JSON_BYTES: usize = 1 << 20;

/// Why a schema was not learned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LearnError {
    /// The text is not the Avro schema of a record.
    #[error("not the schema of a record: {0}; which program wrote it?")]
    NotARecord(String),
    /// The schema has another fingerprint than stated.
    #[error("a schema has fingerprint {found}, but its key is {stated}; it was damaged or mixed up")]
    OtherFingerprint {
        /// The stated fingerprint.
        stated: Fingerprint,
        /// The actual fingerprint.
        found: Fingerprint,
    },
}

type ByFingerprint = HashMap<Fingerprint, &'static Schema>;

static LEARNED: LazyLock<RwLock<ByFingerprint>> = LazyLock::new(RwLock::default);

/// Gives the schemas of this program's messages.
static OWN: OnceLock<fn() -> Vec<SchemaRecord>> = OnceLock::new();

/// Makes this program's messages known, so that a record on the wrong topic can be named. They are asked for when the first
/// schema is looked up, because a codec may call this while it is made.
pub fn set_own(own: fn() -> Vec<SchemaRecord>) {
    OWN.get_or_init(|| own);
}

fn own() -> Option<&'static ByFingerprint> {
    static PARSED: OnceLock<ByFingerprint> = OnceLock::new();
    let parse = |own: SchemaRecord| Some((own.fingerprint, &*Box::leak(Box::new(Schema::parse_str(own.json).ok()?))));
    OWN.get().map(|own| PARSED.get_or_init(|| own().into_iter().filter_map(parse).collect()))
}

/// Adds a schema to the registry and returns its fingerprint.
///
/// The schema must have the fingerprint `stated`, if given. It is kept until the process ends.
pub fn learn(json: &[u8], stated: Option<Fingerprint>) -> Result<Fingerprint, LearnError> {
    let schema = parse(json).map_err(LearnError::NotARecord)?;
    let found = Fingerprint::of_schema(&schema);
    if let Some(stated) = stated.filter(|stated| *stated != found) {
        return Err(LearnError::OtherFingerprint { stated, found });
    }
    if !known(found) {
        let mut learned = LEARNED.write().unwrap_or_else(PoisonError::into_inner);
        learned.entry(found).or_insert_with(|| Box::leak(Box::new(schema)));
    }
    Ok(found)
}

fn parse(json: &[u8]) -> Result<Schema, String> {
    if json.len() > MAX_JSON_BYTES {
        return Err(format!("it has {} bytes", json.len()));
    }
    let text = std::str::from_utf8(json).map_err(|error| error.to_string())?;
    let schema = Schema::parse_str(text).map_err(|error| crate::resolution::one_line(&error.to_string()))?;
    match record_name(&schema) {
        Some(_) => Ok(schema),
        None => Err("it describes another type".to_owned()),
    }
}

/// Whether records with this fingerprint can be resolved: the schema was learned, or is a message of this program.
pub fn known(fingerprint: Fingerprint) -> bool {
    find(fingerprint).is_some()
}

/// The record name, without namespace, of a known fingerprint.
pub fn name_of(fingerprint: Fingerprint) -> Option<&'static str> {
    find(fingerprint).and_then(record_name)
}

/// Number of records of other versions that this process has read, by record name. The numbers grow during an upgrade,
/// and stop when every writer has this version. Own messages are there from the start, with 0; records of state once they
/// are read.
pub fn read_of_other_versions() -> BTreeMap<&'static str, u64> {
    let own = OWN.get().map(|own| own()).unwrap_or_default();
    let mut counts: BTreeMap<_, _> = own.into_iter().map(|message| (message.name, 0)).collect();
    counts.extend(&*OF_OTHER_VERSIONS.lock().unwrap_or_else(PoisonError::into_inner));
    counts
}

pub(crate) fn count_of_other_version(name: &'static str) {
    *OF_OTHER_VERSIONS.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
}

static OF_OTHER_VERSIONS: Mutex<BTreeMap<&str, u64>> = Mutex::new(BTreeMap::new());

/// Key of the record on the topic of schemas for the schema that a schema registry knows by this id. Its value is the
/// schema's text. Other keys have eight bytes.
pub fn registry_key(id: u32) -> [u8; 5] {
    confluent::header(id)
}

/// Learns from a record of the topic of schemas which schema an id of a schema registry stands for; the latest counts.
/// `None`: for none any more. Records with other keys say nothing of ids.
pub fn learn_registry_id(key: &[u8], schema: Option<Fingerprint>) {
    let Some((id, [])) = confluent::split(key) else { return };
    let mut ids = REGISTRY_IDS.write().unwrap_or_else(PoisonError::into_inner);
    match schema {
        Some(schema) => _ = ids.insert(id, schema),
        None => _ = ids.remove(&id),
    }
}

/// The schema that a schema registry knows by this id, as far as it was learned.
pub fn of_registry_id(id: u32) -> Option<Fingerprint> {
    REGISTRY_IDS.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
}

static REGISTRY_IDS: LazyLock<RwLock<HashMap<u32, Fingerprint>>> = LazyLock::new(RwLock::default);

/// Whether a record value names a schema that is not known yet.
pub fn is_of_unknown_schema(value: &[u8]) -> bool {
    match (Fingerprint::of_single_object(value), confluent::split(value)) {
        (Ok(fingerprint), _) => !known(fingerprint),
        (Err(_), Some((id, _))) => of_registry_id(id).is_none(),
        (Err(_), None) => false,
    }
}

pub(crate) fn find(fingerprint: Fingerprint) -> Option<&'static Schema> {
    let learned = LEARNED.read().unwrap_or_else(PoisonError::into_inner).get(&fingerprint).copied();
    learned.or_else(|| own()?.get(&fingerprint).copied())
}

pub(crate) fn record_name(schema: &Schema) -> Option<&str> {
    match schema {
        Schema::Record(record) => Some(record.name.name()),
        _ => None,
    }
}
