//! The embedded log on disk.

use crate::layout::{
    LOG_FORMAT, LogKey, Mark, Place, RECORDS, StoredRecord, decode_offset, decode_placed, decode_topic, encode_record,
    encode_topic,
};
use crate::rocks;
use page::Timestamp;
use rocksdb::{Cache, ColumnFamily, DB, Direction, IteratorMode, ReadOptions, WriteBatch};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stream::inprocess;
use stream::{Bounds, ErrorKind, InputRecord, LogBackend, LogError, TopicConfig, TopicPartition};

/// Most bytes of keys and values one read gives, unless a single record is larger.
const READ_BYTES: usize = 16 << 20;
/// Much of what passes through is consumed and dropped before so much has gathered, and then never reaches a table.
const WRITE_BUFFER_BYTES: usize = 32 << 20;
/// Readers are mostly right behind the writers, in the write buffer; restores read everything once.
const BLOCK_CACHE_BYTES: usize = 32 << 20;
/// Write-ahead log to replay after a kill, at the most.
const WRITE_AHEAD_BYTES: u64 = 128 << 20;

/// The embedded log: all topics of one data directory in one RocksDB under `<data>/log`.
pub struct EmbeddedBackend {
    pub(crate) database: DB,
    path: PathBuf,
    known: RwLock<Known>,
    /// Held during retention and compaction, so that two rounds never meet.
    pub(crate) maintenance: Mutex<()>,
    read_only: bool,
}

/// What is small and asked for all the time, held in memory so that only reads of records go to the database.
#[derive(Debug, Default)]
struct Known {
    topics: HashMap<Arc<str>, Topic>,
    /// Next input offsets by group.
    positions: HashMap<String, HashMap<Place, u64>>,
}

#[derive(Clone, Debug)]
struct Topic {
    id: u32,
    config: TopicConfig,
    /// By partition. Unlike in the database, `end` is always the present one.
    marks: Vec<Mark>,
}

impl EmbeddedBackend {
    /// Opens (or makes) the log of a data directory, for this process alone.
    pub fn open(data_dir: &Path) -> Result<Self, LogError> {
        let path = data_dir.join("log");
        std::fs::create_dir_all(&path).map_err(|error| stop(rocks::unusable("log directory", &path, &error)))?;
        let mut options = rocks::database_options();
        options.set_max_total_wal_size(WRITE_AHEAD_BYTES);
        let cache = Cache::new_lru_cache(BLOCK_CACHE_BYTES);
        let mut records = rocks::family_options(&cache, WRITE_BUFFER_BYTES, false);
        // Compaction of topics leaves deletions behind; tables full of them are merged away early, for readers' sake.
        records.add_compact_on_deletion_collector_factory(10_000, 5_000, 0.5);
        let families = [("default", rocks::family_options(&cache, 1 << 20, false)), (RECORDS, records)];
        let database = DB::open_cf_with_opts(&options, &path, families).map_err(|error| {
            if rocks::is_locked(&error) {
                let path = data_dir.display();
                return stop(format!(
                    "data directory {path} is in use by another recrawl; stop it first, or choose another directory"
                ));
            }
            stop(explain(&path, &error))
        })?;
        Self::load(database, path, false)
    }

    /// A view of the log of a data directory as it stands now, for tools; another process may be writing to it.
    /// Writing through it fails.
    pub fn open_read_only(data_dir: &Path) -> Result<Self, LogError> {
        let path = data_dir.join("log");
        if !path.join("CURRENT").exists() {
            let path = path.display();
            return Err(stop(format!(
                "there is no log at {path}; check the data directory, or start recrawl run first"
            )));
        }
        let database = rocks::open_read_only(&path, &["default", RECORDS]).map_err(|e| stop(explain(&path, &e)))?;
        Self::load(database, path, true)
    }

    fn load(database: DB, path: PathBuf, read_only: bool) -> Result<Self, LogError> {
        let (known, maintenance) = (RwLock::default(), Mutex::default());
        let backend = Self { database, path, known, maintenance, read_only };
        backend.check_format()?;
        let known = backend.load_known()?;
        *backend.known_mut() = known;
        Ok(backend)
    }

    fn check_format(&self) -> Result<(), LogError> {
        let key = LogKey::Format.encode();
        match self.database.get(&key).map_err(|error| self.fault(&error))? {
            Some(format) if format == LOG_FORMAT.to_be_bytes() => Ok(()),
            Some(format) => {
                let path = self.path.display();
                Err(stop(format!("log {path} has layout {format:?}, not {LOG_FORMAT}; use the recrawl that wrote it")))
            }
            None if self.read_only => Ok(()),
            None => self.database.put(key, LOG_FORMAT.to_be_bytes()).map_err(|error| self.fault(&error)),
        }
    }

    fn load_known(&self) -> Result<Known, LogError> {
        let mut known = Known::default();
        let mut marks = HashMap::new();
        for entry in self.database.iterator(IteratorMode::From(&[LogKey::TOPIC], Direction::Forward)) {
            let (key, value) = entry.map_err(|error| self.fault(&error))?;
            let unreadable = || self.damaged(&format!("the entry under {key:?} is unreadable"));
            match key[0] {
                LogKey::TOPIC => {
                    let name = std::str::from_utf8(&key[1..]).map_err(|_| unreadable())?;
                    let (id, config) = decode_topic(name, &value).ok_or_else(unreadable)?;
                    known.topics.insert(config.name.clone(), Topic { id, config, marks: Vec::new() });
                }
                LogKey::MARK => {
                    let (place, _) = decode_placed(&key).ok_or_else(unreadable)?;
                    marks.insert(place, Mark::decode(&value).ok_or_else(unreadable)?);
                }
                LogKey::POSITION => {
                    let (place, group) = decode_placed(&key).ok_or_else(unreadable)?;
                    let next = value.as_ref().try_into().map(u64::from_be_bytes).map_err(|_| unreadable())?;
                    known.positions.entry(group.to_owned()).or_default().insert(place, next);
                }
                _ => return Err(unreadable()),
            }
        }
        for topic in known.topics.values_mut() {
            for partition in 0..topic.config.partitions {
                let place = Place { topic: topic.id, partition };
                let mut mark = marks.remove(&place).unwrap_or_default();
                mark.end = mark.end.max(self.end_of_records(place)?);
                topic.marks.push(mark);
            }
        }
        Ok(known)
    }

    /// The offset after the last record there is; 0 when there is none.
    fn end_of_records(&self, place: Place) -> Result<u64, LogError> {
        let mut options = ReadOptions::default();
        options.set_iterate_lower_bound(LogKey::Record(place, 0).encode());
        let mut iterator = self.database.raw_iterator_cf_opt(self.records(), options);
        iterator.seek_for_prev(LogKey::Record(place, u64::MAX).encode());
        let end = match iterator.key() {
            Some(key) => {
                decode_offset(key).ok_or_else(|| self.damaged(&format!("record key {key:?} is unreadable")))? + 1
            }
            None => 0,
        };
        iterator.status().map_err(|error| self.fault(&error))?;
        Ok(end)
    }

    pub(crate) fn records(&self) -> &ColumnFamily {
        self.database.cf_handle(RECORDS).expect("the family is made or found when the database is opened")
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_mut(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All topics with their ids.
    pub(crate) fn topics_by_id(&self) -> Vec<(u32, TopicConfig)> {
        self.known().topics.values().map(|topic| (topic.id, topic.config.clone())).collect()
    }

    /// The mark of a partition of a known topic.
    pub(crate) fn mark(&self, topic: &str, partition: u32) -> Option<Mark> {
        self.known().topics.get(topic)?.marks.get(partition as usize).copied()
    }

    /// Sets a mark after it was written; the end goes on by itself.
    pub(crate) fn set_mark(&self, topic: &str, partition: u32, mark: Mark) {
        if let Some(held) =
            self.known_mut().topics.get_mut(topic).and_then(|topic| topic.marks.get_mut(partition as usize))
        {
            *held = Mark { end: held.end, ..mark };
        }
    }

    /// Where the slowest of the groups stands that ever committed on a partition; `None` when none did.
    pub(crate) fn slowest_position(&self, place: Place) -> Option<u64> {
        self.known().positions.values().filter_map(|positions| positions.get(&place)).copied().min()
    }

    /// Visits stored records in order, from one offset up to, but not including, another, until the visitor breaks off
    /// with `false`.
    pub(crate) fn visit(
        &self,
        place: Place,
        from: u64,
        to: u64,
        fill_cache: bool,
        mut visitor: impl FnMut(u64, StoredRecord<'_>) -> Result<bool, LogError>,
    ) -> Result<(), LogError> {
        if from >= to {
            return Ok(());
        }
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(LogKey::Record(place, to).encode());
        options.fill_cache(fill_cache);
        let mut iterator = self.database.raw_iterator_cf_opt(self.records(), options);
        iterator.seek(LogKey::Record(place, from).encode());
        while let Some((key, value)) = iterator.item() {
            let offset = decode_offset(key);
            let (Some(offset), Some(record)) = (offset, StoredRecord::decode(value)) else {
                return Err(self.damaged(&format!("the record under {key:?} is unreadable")));
            };
            if !visitor(offset, record)? {
                break;
            }
            iterator.next();
        }
        iterator.status().map_err(|error| self.fault(&error))
    }

    pub(crate) fn write_batch(&self, batch: WriteBatch) -> Result<(), LogError> {
        if self.read_only {
            return Err(stop(format!("log {} was opened for reading only", self.path.display())));
        }
        self.database.write(batch).map_err(|error| self.fault(&error))
    }

    pub(crate) fn fault(&self, error: &rocksdb::Error) -> LogError {
        stop(explain(&self.path, error))
    }

    fn damaged(&self, what: &str) -> LogError {
        stop(rocks::damaged("log", &self.path, &what, REFILL))
    }

    fn unknown(partition: &TopicPartition) -> LogError {
        stop(format!("there is no partition {partition}; create its topic first"))
    }
}

impl Known {
    fn place(&self, partition: &TopicPartition) -> Result<(Place, Mark), LogError> {
        let topic = self.topics.get(&partition.topic);
        let mark = topic.and_then(|topic| topic.marks.get(partition.partition as usize));
        let (Some(topic), Some(mark)) = (topic, mark) else { return Err(EmbeddedBackend::unknown(partition)) };
        Ok((Place { topic: topic.id, partition: partition.partition }, *mark))
    }
}

const REFILL: &str = "restore the data directory from a copy, or move it away to start anew";

fn explain(path: &Path, error: &rocksdb::Error) -> String {
    rocks::explain("log", path, error, REFILL)
}

fn stop(message: String) -> LogError {
    LogError::new(ErrorKind::Stop, message)
}

impl LogBackend for EmbeddedBackend {
    fn topics(&self) -> Result<Vec<TopicConfig>, LogError> {
        Ok(self.known().topics.values().map(|topic| topic.config.clone()).collect())
    }

    fn create_topic(&self, topic: &TopicConfig) -> Result<(), LogError> {
        let mut known = self.known_mut();
        let existing = known.topics.get(&topic.name);
        if let Some(existing) = existing.filter(|existing| existing.config.partitions != topic.partitions) {
            let (name, partitions) = (&topic.name, existing.config.partitions);
            return Err(stop(format!(
                "topic {name} has {partitions} partitions, not {}; keys would move: choose another topic prefix",
                topic.partitions
            )));
        }
        let id = match existing {
            Some(existing) => existing.id,
            None => known.topics.values().map(|topic| topic.id + 1).max().unwrap_or(0),
        };
        let mut batch = WriteBatch::default();
        batch.put(LogKey::Topic(&topic.name).encode(), encode_topic(id, topic));
        self.write_batch(batch)?;
        let marks = vec![Mark::default(); topic.partitions as usize];
        let entry = known.topics.entry(topic.name.clone());
        entry.or_insert(Topic { id, config: topic.clone(), marks }).config = topic.clone();
        Ok(())
    }

    fn bounds(&self, partition: &TopicPartition) -> Result<Bounds, LogError> {
        let (_, mark) = self.known().place(partition)?;
        Ok(Bounds { start: mark.start, end: mark.end })
    }

    fn read(&self, partition: &TopicPartition, from: u64, max_records: usize) -> Result<Vec<InputRecord>, LogError> {
        let (place, mark) = self.known().place(partition)?;
        let mut records = Vec::new();
        if max_records == 0 {
            return Ok(records);
        }
        let mut bytes = 0;
        self.visit(place, from.max(mark.start), mark.end, true, |offset, record| {
            bytes += record.key.len() + record.value.map_or(0, <[u8]>::len);
            records.push(record.to_input(partition.partition, offset));
            Ok(records.len() < max_records && bytes < READ_BYTES)
        })?;
        Ok(records)
    }

    fn write(&self, changes: inprocess::WriteBatch<'_>) -> Result<(), LogError> {
        let mut batch = WriteBatch::default();
        let mut ends: HashMap<&TopicPartition, (Place, u64)> = HashMap::new();
        let mut positions = Vec::with_capacity(changes.positions.len());
        {
            let known = self.known();
            let family = self.records();
            let mut value = Vec::new();
            for (offset, record) in changes.records {
                let (place, end) = match ends.get_mut(&record.to) {
                    Some(found) => found,
                    None => ends.entry(&record.to).or_insert((known.place(&record.to)?.0, 0)),
                };
                encode_record(record, &mut value);
                batch.put_cf(family, LogKey::Record(*place, *offset).encode(), &value);
                *end = offset + 1;
            }
            for (partition, next) in changes.positions {
                let (place, _) = known.place(partition)?;
                batch.put(LogKey::Position(place, changes.group).encode(), next.to_be_bytes());
                positions.push((place, *next));
            }
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.write_batch(batch)?;
        let mut known = self.known_mut();
        for (partition, (_, end)) in ends {
            let topic = known.topics.get_mut(&partition.topic).expect("topics are never deleted");
            topic.marks[partition.partition as usize].end = end;
        }
        if !positions.is_empty() {
            known.positions.entry(changes.group.to_owned()).or_default().extend(positions);
        }
        Ok(())
    }

    fn committed(&self, group: &str, partition: &TopicPartition) -> Result<Option<u64>, LogError> {
        let known = self.known();
        let (place, _) = known.place(partition)?;
        Ok(known.positions.get(group).and_then(|positions| positions.get(&place)).copied())
    }

    fn maintain(&self, now: Timestamp) -> Result<(), LogError> {
        crate::maintain::maintain(self, now)
    }
}
