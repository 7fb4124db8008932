//! Reads records of a topic, embedded or over Kafka, beside a loop that may be running.

use crate::CommandFailure;
use messages::topics::{self, TopicSpec};
use settings::Settings;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use stream::schemas::{SchemaReader, is_of_unknown_schema};
use stream::{InputRecord, Log, LogBackend, LogReader, OffsetBounds, PollLimits, TopicPartition};
use stream_rocksdb::EmbeddedBackend;
use topology::LogNames;

/// Records at a time of a topic that is read as a whole.
const BATCH: usize = 1_000;
/// Bytes of an embedded log after which a read ends, so that large records fit into memory.
const MAX_BYTES: usize = 16 << 20;

/// Reads one topic of a crawl without taking part in it.
pub struct TopicReader {
    source: LogSource,
    /// Absent if there is no schema topic.
    schemas: Option<SchemaReader>,
    topic: String,
    partitions: u32,
    forgets_what_was_read: bool,
}

enum LogSource {
    Embedded {
        data: PathBuf,
        log: Box<EmbeddedBackend>,
    },
    /// The log of a loop in this process.
    Running(Arc<EmbeddedBackend>),
    Kafka(Box<dyn LogReader>),
}

impl LogSource {
    fn read(
        &mut self,
        place: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), CommandFailure> {
        match self {
            LogSource::Embedded { log, .. } => read_embedded(log, place, from, max_records),
            LogSource::Running(log) => read_embedded(log, place, from, max_records),
            LogSource::Kafka(reader) => Ok(reader.read(place, from, max_records)?),
        }
    }
}

impl TopicReader {
    /// Opens a topic, named without prefix, of the crawl that the settings describe. `client` is the Kafka client name.
    pub fn open(settings: &Settings, topic: impl Into<TopicSpec>, client: &str) -> Result<Self, CommandFailure> {
        let names = LogNames::new(settings);
        let (topic, schemas) = (names.topic(topic), names.topic(topics::SCHEMAS));
        let mut forgets_what_was_read = false;
        let (source, partitions, has_schemas) = match (&settings.crawl.data, &settings.kafka.brokers) {
            (Some(data), _) => {
                let log = Box::new(EmbeddedBackend::open_read_only(data)?);
                let all = log.topics()?;
                let has_schemas = all.iter().any(|config| *config.name == schemas);
                let config = all.into_iter().find(|config| *config.name == topic);
                forgets_what_was_read = config.as_ref().is_some_and(|config| config.cleanup.drops_consumed());
                (LogSource::Embedded { data: data.clone(), log }, config.map(|config| config.partitions), has_schemas)
            }
            (None, Some(_)) => {
                let log = crate::connect(settings, client)?;
                let partitions = log.topic(&topic)?.map(|topic| topic.partitions);
                (LogSource::Kafka(log.reader()?), partitions, log.topic(&schemas)?.is_some())
            }
            (None, None) => {
                return Err(CommandFailure::Input(
                    "no crawl given: give --data DIR, or --config with kafka.brokers".into(),
                ));
            }
        };
        let missing = || CommandFailure::Input(format!("topic {topic} does not exist; has this crawl ever run?"));
        let schemas = has_schemas.then(|| SchemaReader::new(&schemas));
        let partitions = partitions.ok_or_else(missing)?;
        let mut reader = Self { source, schemas, partitions, topic, forgets_what_was_read };
        reader.learn_schemas()?;
        Ok(reader)
    }

    /// Opens a topic of the loop that runs in this process.
    pub fn of_running(
        log: Arc<EmbeddedBackend>,
        names: &LogNames,
        topic: impl Into<TopicSpec>,
    ) -> Result<Self, CommandFailure> {
        let topic = names.topic(topic);
        let found = log.topics()?.into_iter().find(|config| *config.name == topic);
        let config = found.ok_or_else(|| CommandFailure::Input(format!("topic {topic} does not exist")))?;
        let (partitions, forgets_what_was_read) = (config.partitions, config.cleanup.drops_consumed());
        let schemas = Some(SchemaReader::new(&names.topic(topics::SCHEMAS)));
        let mut reader = Self { source: LogSource::Running(log), schemas, partitions, topic, forgets_what_was_read };
        reader.learn_schemas()?;
        Ok(reader)
    }

    /// Whether records are deleted as soon as the loop has read them.
    pub fn forgets_what_was_read(&self) -> bool {
        self.forgets_what_was_read
    }

    /// Whether the log is Kafka, which may be away for a while.
    pub fn is_over_kafka(&self) -> bool {
        matches!(self.source, LogSource::Kafka(_))
    }

    pub fn partitions(&self) -> u32 {
        self.partitions
    }

    /// First and next offset of a partition.
    pub fn bounds(&mut self, partition: u32) -> Result<OffsetBounds, CommandFailure> {
        let place = TopicPartition::new(self.topic.as_str(), partition);
        Ok(match &mut self.source {
            LogSource::Embedded { log, .. } => log.bounds(&place)?,
            LogSource::Running(log) => log.bounds(&place)?,
            LogSource::Kafka(reader) => reader.bounds(&[place])?.into_iter().next().unwrap_or_default(),
        })
    }

    /// Reads up to `max_records` of a partition from an offset on. Also returns the offset to continue from. Empty at
    /// the end of the partition. Records of other versions can be decoded if their schemas have arrived.
    pub fn read(
        &mut self,
        partition: u32,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), CommandFailure> {
        let place = TopicPartition::new(self.topic.as_str(), partition);
        let read = self.source.read(&place, from, max_records)?;
        if read.0.iter().any(is_of_unknown_schema) {
            self.learn_schemas()?;
        }
        Ok(read)
    }

    /// Reads all retained records, partition by partition.
    ///
    /// # Errors
    /// The log does not answer, or `each` fails.
    pub fn read_all(
        &mut self,
        mut each: impl FnMut(&InputRecord) -> Result<(), CommandFailure>,
    ) -> Result<(), CommandFailure> {
        for partition in 0..self.partitions {
            let _ = self.read_partition(partition, |record| each(record).map(|()| ControlFlow::Continue(())))?;
        }
        Ok(())
    }

    /// Reads the retained records of a partition, until `each` breaks off.
    ///
    /// # Errors
    /// The log does not answer, or `each` fails.
    pub fn read_partition(
        &mut self,
        partition: u32,
        each: impl FnMut(&InputRecord) -> Result<ControlFlow<()>, CommandFailure>,
    ) -> Result<ControlFlow<()>, CommandFailure> {
        let start = self.bounds(partition)?.start;
        self.read_from(partition, start, each)
    }

    /// Reads the records of a partition from an offset on, until `each` breaks off.
    ///
    /// # Errors
    /// The log does not answer, or `each` fails.
    pub fn read_from(
        &mut self,
        partition: u32,
        mut next: u64,
        mut each: impl FnMut(&InputRecord) -> Result<ControlFlow<()>, CommandFailure>,
    ) -> Result<ControlFlow<()>, CommandFailure> {
        loop {
            let (records, after) = self.read(partition, next, BATCH)?;
            if records.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            next = after;
            for record in &records {
                if each(record)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }

    fn learn_schemas(&mut self) -> Result<(), CommandFailure> {
        let Self { schemas: Some(schemas), source, .. } = self else { return Ok(()) };
        schemas.learn(|place, from, max_records| source.read(place, from, max_records)).map(|_| ())
    }

    /// Refreshes the view of an embedded log, which is otherwise a snapshot.
    pub fn refresh(&mut self) -> Result<(), CommandFailure> {
        if let LogSource::Embedded { data, log } = &mut self.source {
            **log = EmbeddedBackend::open_read_only(data)?;
        }
        Ok(())
    }
}

/// Learns the schemas that an embedded crawl holds.
pub fn learn_schemas(log: &EmbeddedBackend, names: &LogNames) -> Result<(), CommandFailure> {
    let topic = names.topic(topics::SCHEMAS);
    if log.topics()?.iter().any(|config| *config.name == topic) {
        SchemaReader::new(&topic).learn(|place, from, max_records| read_embedded(log, place, from, max_records))?;
    }
    Ok(())
}

fn read_embedded(
    log: &EmbeddedBackend,
    place: &TopicPartition,
    from: u64,
    max_records: usize,
) -> Result<(Vec<InputRecord>, u64), CommandFailure> {
    let records = log.read(place, from, PollLimits { records: max_records, bytes: MAX_BYTES })?;
    let next = records.last().map_or(from, |last| last.offset + 1);
    Ok((records, next))
}
