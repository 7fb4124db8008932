//! Transactions, one after the other, each begun and ended within one call.

mod deliveries;

use crate::closing::within;
use crate::error::{kind_of, log_error, reason};
use crate::records::to_message;
use crate::settings::{KafkaSettings, batch_bytes};
use deliveries::{Deliveries, FailedDelivery, too_large};
use rdkafka::TopicPartitionList;
use rdkafka::consumer::ConsumerGroupMetadata;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, Producer, PurgeConfig};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::{ErrorKind, LogError, OutputRecord, Receipt, TopicPartition};
use tracing::{debug, warn};

/// `BaseProducer::poll` with a timeout spins until the end, so poll without waiting and sleep in between.
const DRAIN_PAUSE: Duration = Duration::from_micros(200);

/// Bytes of a record in a batch besides its key and value, at most: lengths, and the context of a trace.
const RECORD_OVERHEAD_BYTES: usize = 128;

/// Longest wait for the first contact with the transaction coordinator; a fresh cluster first creates its log (1 s).
const INIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Brokers allow no longer transactions by default (`transaction.max.timeout.ms`).
const LONGEST_USUAL_TRANSACTION: Duration = Duration::from_secs(900);

/// Time that librdkafka may take beyond its timeout.
const GRACE: Duration = Duration::from_secs(1);

/// Input positions of a transaction: offsets and the group's current metadata.
pub(crate) struct Positions {
    pub(crate) offsets: TopicPartitionList,
    pub(crate) metadata: ConsumerGroupMetadata,
}

/// A transactional producer. Between calls no transaction is open.
pub(crate) struct Transactions {
    /// Shared with a call that may outlive this object.
    producer: Arc<BaseProducer<Deliveries>>,
    transactional_id: String,
    settings: KafkaSettings,
    topics: KnownTopics,
    timeout: Duration,
    /// Why the producer must not be used any more.
    broken: Option<(ErrorKind, String)>,
}

/// Facts about the topics that a process has asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownTopics {
    /// The smallest of their record limits.
    pub(crate) lowest_limit: Option<u32>,
    /// One of them. A question about a topic that is not there might create it.
    pub(crate) any: Option<String>,
}

impl Transactions {
    /// Creates a producer and fences older ones with the same id.
    pub(crate) fn init(
        settings: &KafkaSettings,
        transactional_id: &str,
        topics: KnownTopics,
    ) -> Result<Self, LogError> {
        let producer: BaseProducer<Deliveries> = settings
            .producer(transactional_id, topics.lowest_limit)
            .create_with_context(Deliveries::default())
            .map_err(|error| log_error("cannot create a producer", &error))?;
        let transactions = Self {
            producer: Arc::new(producer),
            transactional_id: transactional_id.to_owned(),
            settings: settings.clone(),
            topics,
            timeout: settings.kafka.transaction_timeout,
            broken: None,
        };
        let deadline = Instant::now() + INIT_TIMEOUT;
        // Without an established connection, `init_transactions` would wait half a second before its next attempt.
        if let Some(topic) = &transactions.topics.any {
            let _ = transactions.producer.client().fetch_metadata(Some(topic), INIT_TIMEOUT);
        }
        transactions.producer.init_transactions(left(deadline)).map_err(|error| {
            transactions.producer.poll(Duration::ZERO);
            transactions.failure("cannot initialise transactions", &error)
        })?;
        Ok(transactions)
    }

    /// Writes records and positions as one unit. Afterwards everything is visible, or nothing, or, with
    /// [`ErrorKind::Rejoin`], only committed offsets show which. `check` is called for every partition written to,
    /// because librdkafka would wait for a missing one.
    pub(crate) fn commit(
        &mut self,
        records: &[OutputRecord],
        positions: Option<Positions>,
        check: &dyn Fn(&TopicPartition) -> Result<(), LogError>,
    ) -> Result<Receipt, LogError> {
        if let Some((kind, why)) = &self.broken {
            return Err(LogError::new(*kind, why.clone()));
        }
        if records.is_empty() && positions.is_none() {
            return Ok(Receipt::default());
        }
        let deadline = Instant::now() + self.timeout;
        let next_offsets = match self.prepare(records, positions, deadline, check) {
            Ok(next_offsets) => next_offsets,
            Err(error) => return Err(self.undo(error)),
        };
        let committed = self.producer.commit_transaction(left(deadline));
        let committed = committed.map_err(|error| self.failure("cannot commit the transaction", &error));
        match committed {
            Ok(()) => Ok(Receipt { next_offsets }),
            // Whether it took effect is unknown.
            Err(error) if error.kind == ErrorKind::Rejoin => {
                self.broken = Some((error.kind, error.message.clone()));
                Err(error)
            }
            Err(error) => Err(self.undo(error)),
        }
    }

    /// Ends a transaction of this producer that is open in its group though its coordinator has ended it: a group takes the
    /// marker of a later transaction of the producer for both. Begins one with these positions and aborts it. (A broker that
    /// was killed may leave such a transaction behind, seen with Kafka 4.3; Kafka calls it a hanging transaction, KIP-664.)
    pub(crate) fn end_hanging(&mut self, positions: Positions) -> Result<(), LogError> {
        if let Some((kind, why)) = &self.broken {
            return Err(LogError::new(*kind, why.clone()));
        }
        let prepared = self.prepare(&[], Some(positions), Instant::now() + self.timeout, &|_| Ok(()));
        let ended = match prepared {
            Ok(_) => self.abort(),
            Err(error) => Err(error),
        };
        ended.map_err(|error| self.undo(error))
    }

    /// Begins a transaction with these records and positions. Until it is committed, no reader sees anything of it.
    fn prepare(
        &self,
        records: &[OutputRecord],
        positions: Option<Positions>,
        deadline: Instant,
        check: &dyn Fn(&TopicPartition) -> Result<(), LogError>,
    ) -> Result<BTreeMap<TopicPartition, u64>, LogError> {
        self.producer.begin_transaction().map_err(|error| self.failure("cannot begin a transaction", &error))?;
        let targets = self.send(records, deadline, check)?;
        self.drain(deadline)?;
        let next_offsets = self.producer.context().take(&targets).map_err(|failed| match self.fatal() {
            // Once the producer is fenced, each record is refused with its own error.
            Some(fatal) => fatal,
            None => self.refused(&failed, &targets, deadline),
        })?;
        if let Some(positions) = positions {
            self.add(positions, deadline)?;
        }
        Ok(next_offsets)
    }

    /// Ends a transaction that is not committed: none stays open, or the producer is marked as unusable. If the producer
    /// is stuck, a new one aborts the transaction, so that the member keeps its place in the group: a broker that restarts
    /// is no reason to join anew.
    fn undo(&mut self, error: LogError) -> LogError {
        let aborted = match error.kind {
            ErrorKind::Rejoin => Err(error.clone()),
            ErrorKind::Fenced => {
                self.broken = Some((error.kind, error.message.clone()));
                return error;
            }
            _ => self.abort(),
        };
        match aborted {
            // After a refused record, librdkafka numbers the next ones wrongly (seen: "out of order sequence").
            Ok(()) if error.kind == ErrorKind::Stop => {
                self.broken = Some((ErrorKind::Rejoin, format!("the producer must be replaced: {}", error.message)));
            }
            Ok(()) => {}
            Err(stuck) => match self.successor() {
                Ok(fresh) => {
                    warn!(error = %stuck, "a new producer aborted a stuck transaction");
                    *self = fresh;
                    let kind = if error.kind == ErrorKind::Rejoin { ErrorKind::Abort } else { error.kind };
                    return LogError { kind, ..error };
                }
                Err(failure) => {
                    warn!(error = %stuck, %failure, "a new producer cannot abort a stuck transaction");
                    self.broken = Some((ErrorKind::Rejoin, stuck.message));
                }
            },
        }
        error
    }

    /// A new producer that fences this one. Its transactions may take twice as long, until the member joins anew: slow brokers
    /// and quotas may let the same records pass then.
    fn successor(&self) -> Result<Self, LogError> {
        let mut patient = self.settings.clone();
        let usual = self.settings.kafka.transaction_timeout;
        patient.kafka.transaction_timeout = (2 * usual).min(LONGEST_USUAL_TRANSACTION).max(usual);
        let successor = Self::init(&patient, &self.transactional_id, self.topics.clone())?;
        Ok(Self { settings: self.settings.clone(), ..successor })
    }

    fn abort(&self) -> Result<(), LogError> {
        self.producer.purge(PurgeConfig::default().queue().inflight());
        let aborted = self.drain(Instant::now() + self.timeout).and_then(|()| {
            let aborted = self.producer.abort_transaction(self.timeout);
            aborted.map_err(|error| self.failure("cannot abort the transaction", &error))
        });
        self.producer.context().clear();
        aborted
    }

    /// Adds input positions. librdkafka (2.12, `rd_kafka_coord_req_fsm`) checks its own deadline only when the
    /// connection to some broker comes or goes: if the group's coordinator dies at the wrong moment, it waits for ever.
    fn add(&self, positions: Positions, deadline: Instant) -> Result<(), LogError> {
        const DOING: &str = "cannot add input positions to the transaction";
        let (producer, timeout) = (self.producer.clone(), left(deadline));
        let call = move || producer.send_offsets_to_transaction(&positions.offsets, &positions.metadata, timeout);
        match within(timeout + GRACE, call) {
            Ok(added) => added.map_err(|error| self.failure(DOING, &error)),
            Err(why) => {
                let message = format!("{DOING}: no answer within {timeout:?} ({why:?})");
                Err(LogError::new(ErrorKind::Rejoin, self.named(&message)))
            }
        }
    }

    /// Hands all records to the producer, a batch of each partition at a time: librdkafka's thread spins while records of a
    /// partition wait for the answer to its last batch (`rd_kafka_toppar_producer_serve`). Returns the partitions, indexed as
    /// deliveries name them.
    fn send(
        &self,
        records: &[OutputRecord],
        deadline: Instant,
        check: &dyn Fn(&TopicPartition) -> Result<(), LogError>,
    ) -> Result<Vec<TopicPartition>, LogError> {
        let mut targets: Vec<TopicPartition> = Vec::new();
        let mut queues: Vec<VecDeque<&OutputRecord>> = Vec::new();
        let mut places: BTreeMap<&TopicPartition, usize> = BTreeMap::new();
        for record in records {
            let place = match places.entry(&record.to) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    check(&record.to)?;
                    targets.push(record.to.clone());
                    queues.push(VecDeque::new());
                    *new.insert(targets.len() - 1)
                }
            };
            queues[place].push_back(record);
        }
        let mut sent = vec![0; targets.len()];
        loop {
            let mut is_waiting = false;
            for (place, queue) in queues.iter_mut().enumerate().filter(|(_, queue)| !queue.is_empty()) {
                if self.producer.context().report_count(place) == sent[place] {
                    sent[place] += self.send_batch(queue, place, deadline)?;
                }
                is_waiting |= !queue.is_empty();
            }
            // The rest of what failed is not sent.
            if !is_waiting || self.producer.context().has_failed() {
                return Ok(targets);
            }
            if Instant::now() >= deadline {
                return Err(self.not_accepted(queues.iter().map(VecDeque::len).sum()));
            }
            self.serve_reports();
        }
    }

    /// Hands over the first records of a partition, as many as fit into a batch. Returns how many.
    fn send_batch(
        &self,
        queue: &mut VecDeque<&OutputRecord>,
        place: usize,
        deadline: Instant,
    ) -> Result<usize, LogError> {
        let most_bytes = batch_bytes(self.topics.lowest_limit) as usize;
        let (mut bytes, mut count) = (0, 0);
        while let Some(record) = queue.front() {
            bytes += record.bytes() + RECORD_OVERHEAD_BYTES;
            if count > 0 && bytes > most_bytes {
                break;
            }
            self.send_record(record, place, deadline)?;
            queue.pop_front();
            count += 1;
        }
        Ok(count)
    }

    fn send_record(&self, record: &OutputRecord, place: usize, deadline: Instant) -> Result<(), LogError> {
        let mut message = to_message(record, place);
        while let Err((error, refused)) = self.producer.send(message) {
            match error.rdkafka_error_code() {
                Some(RDKafkaErrorCode::QueueFull) if Instant::now() < deadline => {
                    message = refused;
                    self.serve_reports();
                }
                Some(RDKafkaErrorCode::MessageSizeTooLarge) => return Err(too_large(&record.to, record.bytes())),
                _ => return Err(self.failure(&format!("cannot write to {}", record.to), &error)),
            }
        }
        Ok(())
    }

    /// The failure of a transaction with records that are not acknowledged in time: those in flight, and `unsent` others.
    fn not_accepted(&self, unsent: usize) -> LogError {
        let records = unsent + self.producer.in_flight_count() as usize;
        let message = format!("Kafka did not accept {records} records within {:?}", self.timeout);
        LogError::new(ErrorKind::Rejoin, self.named(&message))
    }

    /// Why a record was not written. When Kafka refuses one partition, librdkafka reports all records of the transaction as
    /// purged; the cause is the error of the commit.
    fn refused(&self, failed: &FailedDelivery, targets: &[TopicPartition], deadline: Instant) -> LogError {
        if matches!(failed.code, RDKafkaErrorCode::PurgeQueue | RDKafkaErrorCode::PurgeInflight)
            && let Err(cause) = self.producer.commit_transaction(left(deadline))
        {
            let topics: BTreeSet<&str> = targets.iter().map(|target| &*target.topic).collect();
            let topics = topics.into_iter().collect::<Vec<_>>().join(", ");
            return self.failure(&format!("cannot write to {topics}"), &cause);
        }
        failed.error(&targets[failed.place])
    }

    /// Waits until the broker has acknowledged every record: `commit_transaction` would wait in steps of 100 ms.
    /// `flush` would leave purged records' reports unserved.
    fn drain(&self, deadline: Instant) -> Result<(), LogError> {
        while self.producer.in_flight_count() > 0 {
            if !self.serve_reports() && Instant::now() >= deadline {
                return Err(self.not_accepted(0));
            }
        }
        Ok(())
    }

    /// Serves delivery reports. Returns false after a pause if there were none.
    fn serve_reports(&self) -> bool {
        let before = self.producer.in_flight_count();
        self.producer.poll(Duration::ZERO);
        let any = self.producer.in_flight_count() != before;
        if !any {
            std::thread::sleep(DRAIN_PAUSE);
        }
        any
    }

    /// Maps a failure inside a transaction.
    fn failure(&self, doing: &str, error: &KafkaError) -> LogError {
        let kind = match error {
            KafkaError::Transaction(native) if native.is_fatal() => match kind_of(native.code()) {
                kind @ (ErrorKind::Stop | ErrorKind::Fenced) => kind,
                _ => ErrorKind::Rejoin,
            },
            KafkaError::Transaction(native) if native.txn_requires_abort() => match kind_of(native.code()) {
                kind @ (ErrorKind::Stop | ErrorKind::Fenced) => kind,
                _ => ErrorKind::Abort,
            },
            // Includes timeouts: it is unknown whether the call took effect.
            other => match other.rdkafka_error_code().map(kind_of) {
                Some(kind @ (ErrorKind::Stop | ErrorKind::Fenced)) => kind,
                _ => ErrorKind::Rejoin,
            },
        };
        debug!(target: "librdkafka", doing, %error, ?kind, "transaction failed");
        let why = match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::OperationTimedOut) => match self.producer.context().quiet.last_complaint() {
                Some((_, complaint)) => format!("{}; last error of the client: {complaint}", reason(error)),
                None => reason(error),
            },
            _ => reason(error),
        };
        LogError::new(kind, self.named(&format!("{doing}: {why}")))
    }

    fn fatal(&self) -> Option<LogError> {
        let (code, why) = self.producer.client().fatal_error()?;
        let kind = if kind_of(code) == ErrorKind::Fenced { ErrorKind::Fenced } else { ErrorKind::Rejoin };
        Some(LogError::new(kind, self.named(&why)))
    }

    fn named(&self, message: &str) -> String {
        format!("{} ({})", message, self.transactional_id)
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}
