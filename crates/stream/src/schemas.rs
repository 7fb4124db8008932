//! The topic of schemas. A writer appends its schemas before its first record; a reader looks up schemas it does not
//! know.
//!
//! Stages do both by themselves; tools use these functions.

use crate::log::{ErrorKind, Log, LogError};
use crate::record::{InputRecord, OutputRecord, TopicPartition};
use crate::spec::SchemaTopic;
use page::Timestamp;
use std::collections::BTreeSet;
use tracing::warn;
use wire::schemas::registry_key;

/// Schemas per read.
const READ_RECORDS: usize = 1_000;

/// Reads the topic of schemas incrementally.
#[derive(Clone, Debug)]
pub struct SchemaReader {
    from: TopicPartition,
    next: u64,
}

impl SchemaReader {
    /// A reader at the start of that topic.
    pub fn new(topic: &str) -> Self {
        Self { from: TopicPartition::new(topic, 0), next: 0 }
    }

    /// Learns the schemas appended since the last call and returns their fingerprints.
    /// `read(partition, offset, max_records)` returns records and the next offset.
    pub fn learn<E>(
        &mut self,
        mut read: impl FnMut(&TopicPartition, u64, usize) -> Result<(Vec<InputRecord>, u64), E>,
    ) -> Result<BTreeSet<Vec<u8>>, E> {
        let mut learned = BTreeSet::new();
        loop {
            let (records, after) = read(&self.from, self.next, READ_RECORDS)?;
            self.next = after;
            if records.is_empty() {
                return Ok(learned);
            }
            for InputRecord { key, value, offset, .. } in records {
                let Some(value) = value else {
                    wire::schemas::learn_registry_id(&key, None);
                    learned.remove(&key);
                    continue;
                };
                match wire::schemas::learn(&value, None) {
                    Ok(fingerprint) => {
                        wire::schemas::learn_registry_id(&key, Some(fingerprint));
                        learned.insert(key);
                    }
                    Err(error) => warn!(offset, %error, "cannot read a schema"),
                }
            }
        }
    }
}

/// Whether a record names a schema that is not known yet.
pub fn is_of_unknown_schema(record: &InputRecord) -> bool {
    record.value.as_deref().is_some_and(wire::schemas::is_of_unknown_schema)
}

/// Appends those schemas of the program that are not on the topic yet. Tools call it before they append a record.
pub fn report(log: &dyn Log, schemas: &SchemaTopic, now: Timestamp) -> Result<(), LogError> {
    if log.topic(&schemas.topic)?.is_none() {
        let message = format!("topic {} does not exist; create it with recrawl topics create", schemas.topic);
        return Err(LogError::new(ErrorKind::Stop, message));
    }
    let mut reader = log.reader()?;
    let reported = SchemaReader::new(&schemas.topic).learn(|from, next, limit| reader.read(from, next, limit))?;
    write_missing(log, schemas, &reported, now)
}

/// Records with the id would be read by the wrong schema.
fn changed_id(id: u32, name: &str, topic: &str) -> String {
    let key = registry_key(id).map(|byte| format!("{byte:02x}")).concat();
    format!(
        "the schema registry gives id {id} to the schema of {name}, but earlier records with this id have another schema; \
         is it another registry than before? Restore the former one, or wait until retention has deleted those records and \
         write a tombstone for the key {key} (hexadecimal) to {topic}"
    )
}

pub(crate) fn write_missing(
    log: &dyn Log,
    schemas: &SchemaTopic,
    reported: &BTreeSet<Vec<u8>>,
    now: Timestamp,
) -> Result<(), LogError> {
    for (id, own) in &schemas.registered {
        let reported_before = wire::schemas::of_registry_id(*id).filter(|_| reported.contains(&registry_key(*id)[..]));
        if reported_before.is_some_and(|before| before != own.fingerprint) {
            return Err(LogError::new(ErrorKind::Stop, changed_id(*id, own.name, &schemas.topic)));
        }
    }
    let by_fingerprint = schemas.own.iter().map(|own| (own.fingerprint.to_bytes().to_vec(), own.json));
    let by_id = schemas.registered.iter().map(|(id, own)| (registry_key(*id).to_vec(), own.json));
    let own = by_fingerprint.chain(by_id).map(|(key, json)| OutputRecord {
        to: TopicPartition::new(schemas.topic.as_str(), 0),
        timestamp: now,
        key,
        value: Some(json.as_bytes().to_vec().into()),
        trace: None,
    });
    let missing: Vec<_> = own.filter(|record| !reported.contains(&record.key)).collect();
    if missing.is_empty() { Ok(()) } else { log.append(&missing).map(|_| ()) }
}
