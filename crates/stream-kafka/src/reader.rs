//! Reads partitions outside all groups.

use crate::asking::{ask, is_passing};
use crate::client::Quiet;
use crate::closing::Closing;
use crate::cluster::{ASK_TIMEOUT, Cluster, no_answer};
use crate::error::log_error;
use crate::records::to_record;
use crate::view::View;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::{ErrorKind, InputRecord, LogError, LogReader, OffsetBounds, TopicPartition};

/// A read fails if Kafka sends neither a record nor the end for this long.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A read ends after this many bytes, so that large records do not pile up in memory.
const READ_BYTES: usize = 32 * 1024 * 1024;

/// Longest wait for a reader to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval between checks whether transactions have ended.
const SETTLE_PAUSE: Duration = Duration::from_millis(2);

/// A commit returns before its markers are written, which takes some milliseconds. A read waits this long for them, so
/// that it sees earlier commits; a longer wait would include producers that have died.
const MARKERS_TIMEOUT: Duration = Duration::from_secs(1);

/// A consumer that is assigned one partition at a time.
pub(crate) struct KafkaReader {
    cluster: Arc<Cluster>,
    consumer: Closing<BaseConsumer<Quiet>>,
    /// Topics whose leaders the consumer knows.
    introduced: BTreeSet<Arc<str>>,
    reading: Option<PartitionRead>,
}

/// A read in progress.
struct PartitionRead {
    partition: TopicPartition,
    next: u64,
    /// End of the partition when it was assigned. Passing it counts as reaching the end, even if compaction has left
    /// nothing to deliver.
    end: u64,
}

impl KafkaReader {
    pub(crate) fn new(cluster: Arc<Cluster>) -> Result<Self, LogError> {
        let consumer = cluster.settings.reader().create_with_context(Quiet::default());
        let consumer = consumer.map_err(|error| log_error("cannot create a reader", &error))?;
        let consumer = Closing::new(consumer, CLOSE_TIMEOUT);
        Ok(Self { cluster, consumer, introduced: BTreeSet::new(), reading: None })
    }

    /// Replaces a client that gets no answer. It would go on waiting.
    fn replace(&mut self) -> Result<(), LogError> {
        *self = Self::new(self.cluster.clone())?;
        Ok(())
    }

    fn failed(&self, partition: &TopicPartition, error: &KafkaError) -> LogError {
        self.cluster.explained_by(&self.cluster.committed_view, &format!("cannot read {partition}"), error)
    }

    /// First offsets or ends of partitions, as a view sees them.
    fn offsets(
        &self,
        view: &View,
        partitions: &[TopicPartition],
        place: Offset,
    ) -> Result<BTreeMap<TopicPartition, u64>, LogError> {
        let offsets = view.ask(|view| offsets_of(view, partitions, place)).map_err(|error| {
            let doing = format!("cannot get the offsets of {}", in_words(partitions));
            self.cluster.explained_by(view, &doing, &error)
        })?;
        match partitions.iter().find(|partition| !offsets.contains_key(partition)) {
            Some(missing) => Err(no_answer(missing)),
            None => Ok(offsets),
        }
    }

    /// The ends for readers of committed records, once all currently open transactions have ended or after `patience`;
    /// and the partitions with transactions still open.
    fn settled_ends(
        &self,
        partitions: &[TopicPartition],
        patience: Duration,
    ) -> Result<(BTreeMap<TopicPartition, u64>, Vec<TopicPartition>), LogError> {
        let written = self.offsets(&self.cluster.uncommitted_view, partitions, Offset::End)?;
        let deadline = Instant::now() + patience;
        let (mut ends, mut open) = (BTreeMap::new(), partitions.to_vec());
        loop {
            ends.extend(self.offsets(&self.cluster.committed_view, &open, Offset::End)?);
            open.retain(|partition| ends[partition] < written[partition]);
            if open.is_empty() || Instant::now() >= deadline {
                return Ok((ends, open));
            }
            std::thread::sleep(SETTLE_PAUSE);
        }
    }

    /// Selects the partition to read, from an offset on. `None` if there is nothing to read.
    fn begin(&mut self, partition: &TopicPartition, from: u64) -> Result<Option<PartitionRead>, LogError> {
        if let Some(reading) = self.reading.take()
            && reading.partition == *partition
            && reading.next == from
        {
            return Ok(Some(reading));
        }
        let (ends, _) = self.settled_ends(std::slice::from_ref(partition), MARKERS_TIMEOUT)?;
        let end = ends[partition];
        if from >= end {
            self.end()?;
            return Ok(None);
        }
        if !self.introduced.contains(&partition.topic) {
            // If a consumer is assigned partitions of an unknown topic, librdkafka requests their leaders only up to a
            // second later, when it checks all its topics. The read reports any failure of this request.
            if self.consumer.fetch_metadata(Some(&partition.topic), ASK_TIMEOUT).is_ok() {
                self.introduced.insert(partition.topic.clone());
            }
        }
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(&partition.topic, partition.partition as i32, Offset::Offset(from as i64))
            .and_then(|()| self.consumer.assign(&list))
            .map_err(|error| self.failed(partition, &error))?;
        Ok(Some(PartitionRead { partition: partition.clone(), next: from, end }))
    }

    /// Leaves the partition. Until then the client fetches on, a hundred times a second at its end.
    pub(crate) fn end(&mut self) -> Result<(), LogError> {
        self.reading = None;
        self.consumer.unassign().map_err(|error| log_error("cannot stop reading", &error))
    }

    fn position(&self, partition: &TopicPartition) -> Option<u64> {
        let position = self.consumer.position().ok()?;
        match position.find_partition(&partition.topic, partition.partition as i32)?.offset() {
            Offset::Offset(offset) => u64::try_from(offset).ok(),
            _ => None,
        }
    }
}

impl LogReader for KafkaReader {
    /// Waits for transactions that are open at the time of the call. Their records may lie before records already
    /// committed, which stay invisible until then, and a restore must not miss those.
    fn bounds(&mut self, partitions: &[TopicPartition]) -> Result<Vec<OffsetBounds>, LogError> {
        let (ends, open) = self.settled_ends(partitions, MARKERS_TIMEOUT)?;
        if let [partition, ..] = open.as_slice() {
            let message = format!("{partition} has an open transaction");
            return Err(LogError::new(ErrorKind::Retry, message));
        }
        let starts = self.offsets(&self.cluster.committed_view, partitions, Offset::Beginning)?;
        Ok(partitions.iter().map(|partition| OffsetBounds { start: starts[partition], end: ends[partition] }).collect())
    }

    fn read(
        &mut self,
        partition: &TopicPartition,
        from: u64,
        max_records: usize,
    ) -> Result<(Vec<InputRecord>, u64), LogError> {
        let Some(mut reading) = self.begin(partition, from)? else { return Ok((Vec::new(), from)) };
        let mut records = Vec::new();
        let mut bytes = 0;
        let mut deadline = Instant::now() + READ_TIMEOUT;
        while records.len() < max_records && bytes < READ_BYTES {
            match self.consumer.poll(Duration::from_millis(100)) {
                Some(Ok(message)) => {
                    let record = to_record(&message);
                    reading.next = record.offset + 1;
                    bytes += record.bytes();
                    records.push(record);
                    deadline = Instant::now() + READ_TIMEOUT;
                }
                Some(Err(KafkaError::PartitionEOF(_))) => {
                    let position = self.position(partition).unwrap_or(0);
                    self.end()?;
                    return Ok((records, reading.next.max(position).max(reading.end)));
                }
                Some(Err(error)) => {
                    let error = self.failed(partition, &error);
                    // librdkafka retries by itself.
                    if error.kind != ErrorKind::Retry || Instant::now() >= deadline {
                        self.end()?;
                        return Err(error);
                    }
                }
                None if Instant::now() >= deadline => {
                    let why = self.consumer.context().last_complaint().map_or("no answer".to_owned(), |(_, why)| why);
                    self.replace()?;
                    return Err(self.cluster.unreachable(&why));
                }
                None => {}
            }
        }
        let next = reading.next;
        self.reading = Some(reading);
        Ok((records, next))
    }
}

/// Offsets of a topic's partitions at their beginning or end, under the consumer's isolation level.
pub(crate) fn list_offsets<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    topic: &str,
    partitions: &[u32],
    place: Offset,
) -> Result<BTreeMap<u32, u64>, KafkaError> {
    let partitions: Vec<_> = partitions.iter().map(|&partition| TopicPartition::new(topic, partition)).collect();
    let offsets = offsets_of(consumer, &partitions, place)?;
    Ok(offsets.into_iter().map(|(partition, offset)| (partition.partition, offset)).collect())
}

/// Offsets of partitions of any topics: one request per broker, and another one for partitions whose leader has
/// changed.
fn offsets_of<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    partitions: &[TopicPartition],
    place: Offset,
) -> Result<BTreeMap<TopicPartition, u64>, KafkaError> {
    let mut offsets = BTreeMap::new();
    let open = RefCell::new(partitions.to_vec());
    let no_such_topic = Cell::new(false);
    let question = |left: Duration| {
        if no_such_topic.get() {
            return Err(KafkaError::OffsetFetch(RDKafkaErrorCode::UnknownTopicOrPartition));
        }
        let mut open = open.borrow_mut();
        let mut list = TopicPartitionList::with_capacity(open.len());
        for partition in &*open {
            list.add_partition_offset(&partition.topic, partition.partition as i32, place)?;
        }
        let mut refused = None;
        for element in consumer.offsets_for_times(list, left)?.elements() {
            let partition = TopicPartition::new(element.topic(), element.partition() as u32);
            match (element.error(), element.offset()) {
                (Err(error), _) if error.rdkafka_error_code().is_some_and(is_passing) => {
                    refused = Some(error);
                    continue;
                }
                (Err(error), _) => return Err(error),
                (Ok(()), Offset::Offset(offset)) => {
                    offsets.insert(partition.clone(), offset as u64);
                }
                (Ok(()), _) => {}
            }
            open.retain(|other| *other != partition);
        }
        refused.map_or(Ok(()), Err)
    };
    let refresh = |left| {
        let topics: BTreeSet<_> = open.borrow().iter().map(|partition| partition.topic.clone()).collect();
        for topic in topics {
            // If this request gives no reason, the next refusal does.
            let Ok(metadata) = consumer.fetch_metadata(Some(&topic), left) else { continue };
            let mut errors = metadata.topics().iter().filter_map(|topic| topic.error());
            if errors.any(|error| RDKafkaErrorCode::from(error) == RDKafkaErrorCode::UnknownTopicOrPartition) {
                no_such_topic.set(true);
            }
        }
    };
    ask(&Instant::now(), ASK_TIMEOUT, question, refresh)?;
    Ok(offsets)
}

/// Formats partitions for a message.
fn in_words(partitions: &[TopicPartition]) -> String {
    match partitions {
        [one] => one.to_string(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
        [] => "nothing".to_owned(),
    }
}
