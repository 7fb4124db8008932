//! The records on the topics of a crawl, and the schemas with which they were written.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use crate::services::Distributed;
use messages::topics::{self, TopicSpec};
use messages::{Fingerprint, Message};
use std::collections::BTreeMap;
use stream::schemas::SchemaReader;
use stream::{InputRecord, Log, LogReader, TopicPartition};
use topology::LogNames;

/// Records read at a time.
const BATCH: usize = 1_000;

/// The topics of a crawl. Whatever version wrote a record, it can be decoded.
pub struct Topics {
    log: Box<dyn Log>,
    reader: Box<dyn LogReader>,
    names: LogNames,
}

impl Topics {
    /// The topics of this crawl.
    pub fn of(distributed: &Distributed) -> Self {
        let settings = distributed.crawl.settings();
        let (names, log) = (LogNames::new(&settings), daemon::connect(&settings, "test").unwrap());
        let mut reader = log.reader().unwrap();
        let schemas = names.topic(topics::SCHEMAS);
        SchemaReader::new(&schemas).learn(|from, next, limit| reader.read(from, next, limit)).unwrap();
        Self { log: Box::new(log), reader, names }
    }

    /// Shows all records of a topic, partition by partition.
    pub fn visit(&mut self, topic: impl Into<TopicSpec>, mut visit: impl FnMut(InputRecord)) {
        let topic = self.names.topic(topic);
        let partitions = self.log.topic(&topic).unwrap().unwrap().partitions;
        for partition in 0..partitions {
            let place = TopicPartition::new(topic.as_str(), partition);
            let mut next = self.reader.bounds(std::slice::from_ref(&place)).unwrap()[0].start;
            loop {
                let (records, after) = self.reader.read(&place, next, BATCH).unwrap();
                if records.is_empty() {
                    break;
                }
                records.into_iter().for_each(&mut visit);
                next = after;
            }
        }
    }

    /// All records of a topic.
    pub fn read(&mut self, topic: impl Into<TopicSpec>) -> Vec<InputRecord> {
        let mut all = Vec::new();
        self.visit(topic, |record| all.push(record));
        all
    }

    /// How many records of each version of a type a topic holds.
    pub fn versions<M: Message>(&mut self, topic: impl Into<TopicSpec>) -> BTreeMap<Fingerprint, usize> {
        let mut versions = BTreeMap::new();
        for record in self.read(topic) {
            let Some(Ok(fingerprint)) = record.value.as_deref().map(Fingerprint::of_single_object) else { continue };
            if messages::schemas::name_of(fingerprint) == Some(M::NAME) {
                *versions.entry(fingerprint).or_default() += 1;
            }
        }
        versions
    }

    /// The records of one type on a topic.
    pub fn of_type<M: Message>(&mut self, topic: impl Into<TopicSpec>) -> Vec<M> {
        let records = self.read(topic);
        let is_one = |value: &&[u8]| {
            let fingerprint = Fingerprint::of_single_object(value).unwrap();
            messages::schemas::name_of(fingerprint) == Some(M::NAME)
        };
        let values = records.iter().filter_map(|record| record.value.as_deref()).filter(is_one);
        values.map(|value| M::decode(value).unwrap()).collect()
    }
}
