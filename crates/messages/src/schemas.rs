//! The schemas this process knows: what other versions of the program write.
//!
//! Whoever writes records tells their schemas first, on the topic [`SCHEMAS`](crate::topics::SCHEMAS). Whoever reads that
//! topic has each one [learned](learn) here, and from then on every [`Codec`](crate::Codec) can read such records. There
//! is one registry per process. It does no I/O.

use crate::{Encoded, Fingerprint};
use apache_avro::Schema;
use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex, PoisonError, RwLock};

pub use crate::compatibility::{Problem, Severity, problems};
pub use crate::parts::with_parts;

/// More text than any schema needs, and no more than a record of the topic holds.
const MAX_JSON_BYTES: usize = 1 << 20;

/// A schema of this program as it is told to readers: the record on the topic [`SCHEMAS`](crate::topics::SCHEMAS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaRecord {
    /// The name of its record, without namespace.
    pub name: &'static str,
    /// What records written with it start with; the key.
    pub fingerprint: Fingerprint,
    /// Its text, with defaults and descriptions; the value. Two texts with one fingerprint stand for the same bytes.
    pub json: &'static str,
}

/// Why a schema was not learned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LearnError {
    /// The text is no Avro schema of a record.
    #[error("this is not the schema of a record: {0}; who wrote it?")]
    NotARecord(String),
    /// It is the schema of other records than was said.
    #[error("a schema with fingerprint {found} was given as {stated}; it must have been damaged or mixed up")]
    OtherFingerprint {
        /// What it was said to be.
        stated: Fingerprint,
        /// What it is.
        found: Fingerprint,
    },
}

type Registry = RwLock<HashMap<Fingerprint, &'static Schema>>;

/// Starts with the messages of this crate, so that a record on the wrong topic is known for what it is.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let own = of_messages().into_iter().filter_map(|own| Schema::parse_str(own.json).ok());
    RwLock::new(own.map(|schema| (Fingerprint::of_schema(&schema), &*Box::leak(Box::new(schema)))).collect())
});

/// Makes a schema known to the process; tells its fingerprint.
///
/// With `stated`, the schema must have that fingerprint. A schema is kept until the process ends.
pub fn learn(json: &[u8], stated: Option<Fingerprint>) -> Result<Fingerprint, LearnError> {
    let schema = parse(json).map_err(LearnError::NotARecord)?;
    let found = Fingerprint::of_schema(&schema);
    if let Some(stated) = stated.filter(|stated| *stated != found) {
        return Err(LearnError::OtherFingerprint { stated, found });
    }
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    registry.entry(found).or_insert_with(|| Box::leak(Box::new(schema)));
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
        None => Err("it describes something else".to_owned()),
    }
}

/// Whether records with this fingerprint can be resolved here: the schema was learned, or is a message of this program.
pub fn known(fingerprint: Fingerprint) -> bool {
    find(fingerprint).is_some()
}

/// The name of the record, without namespace, that a known fingerprint stands for.
pub fn name_of(fingerprint: Fingerprint) -> Option<&'static str> {
    find(fingerprint).and_then(record_name)
}

/// How many records of other versions this process has read, by the name of the record. They grow
/// during an upgrade, and stop when every writer is of this version.
pub fn read_of_other_versions() -> BTreeMap<&'static str, u64> {
    OF_OTHER_VERSIONS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(crate) fn count_of_other_version(name: &'static str) {
    *OF_OTHER_VERSIONS.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
}

static OF_OTHER_VERSIONS: Mutex<BTreeMap<&str, u64>> = Mutex::new(BTreeMap::new());

pub(crate) fn find(fingerprint: Fingerprint) -> Option<&'static Schema> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&fingerprint).copied()
}

pub(crate) fn record_name(schema: &Schema) -> Option<&str> {
    match schema {
        Schema::Record(record) => Some(record.name.name()),
        _ => None,
    }
}

/// The schemas of the messages of this crate. Those of state records come from the services that have them
/// ([`Encoded::schemas`]).
pub fn of_messages() -> Vec<SchemaRecord> {
    use crate::{
        DeadLetter, Demand, FetchRequest, FetchResult, PageBand, PageChange, PageContent, PageObservation,
        SchedulerEvent,
    };
    [
        FetchRequest::schemas(),
        FetchResult::schemas(),
        PageObservation::schemas(),
        PageBand::schemas(),
        SchedulerEvent::schemas(),
        PageChange::schemas(),
        PageContent::schemas(),
        Demand::schemas(),
        DeadLetter::schemas(),
    ]
    .concat()
}
