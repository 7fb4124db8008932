//! Checks the client of a silent member against what other clients see of its group and its input, and ends a transaction that
//! keeps it from starting.

use super::KafkaMember;
use crate::cluster::ASK_TIMEOUT;
use crate::error::reason;
use crate::reader::list_offsets;
use crate::silence::{ClientFault, Verdict};
use crate::view::{UNANSWERED_FOR, is_unanswered};
use rdkafka::Offset;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use stream::{ErrorKind, LogError, Position};

/// Longest wait for an answer in a check.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A fetch may be slowed down by a quota for half a minute.
const FETCH_PATIENCE: Duration = Duration::from_secs(60);

impl KafkaMember {
    /// Checks a client that has been silent for some time. One that gets no answer while others do is replaced.
    pub(super) fn check_client(&mut self) -> Result<(), LogError> {
        if !self.silence.is_check_due(Instant::now()) {
            let standing = self.silence.standing_fault();
            return standing.map_or(Ok(()), |what| Err(LogError::new(ErrorKind::Retry, what.to_owned())));
        }
        let fault = match self.ask_kafka(ANSWER_TIMEOUT) {
            // No client is to blame, and none is replaced.
            Err(error) if error.kind == ErrorKind::Retry => {
                Some(ClientFault { what: error.message, patience: Duration::MAX })
            }
            Err(error) => return Err(error),
            Ok(()) => self.client_fault(),
        };
        match self.silence.checked(fault, Instant::now()) {
            Verdict::GoOn => Ok(()),
            Verdict::Wait(what) => Err(LogError::new(ErrorKind::Retry, what)),
            Verdict::Replace(what) => Err(LogError::new(ErrorKind::Rejoin, what)),
        }
    }

    /// Asks a broker by another client than that of the member.
    pub(super) fn ask_kafka(&self, patience: Duration) -> Result<(), LogError> {
        let question = |view: &BaseConsumer<_>| view.fetch_metadata(Some(&self.input), patience);
        let answer = self.cluster.committed_view.ask(question);
        answer.map(|_| ()).map_err(|error| self.cluster.explained("cannot list topics", &error))
    }

    /// The first fault that is found. A question that Kafka does not answer shows none.
    fn client_fault(&mut self) -> Option<ClientFault> {
        let group = &self.group;
        if let Err(error) = self.consumer.fetch_metadata(Some(&self.input), ANSWER_TIMEOUT)
            && error.rdkafka_error_code().is_some_and(is_unanswered)
        {
            let what = format!(
                "the client of group {group} gets no answer ({}), though Kafka answers another one",
                reason(&error)
            );
            return Some(ClientFault { what, patience: UNANSWERED_FOR });
        }
        if self.is_unknown_to_its_group() {
            let what = format!("Kafka does not know this member of group {group}");
            return Some(ClientFault { what, patience: UNANSWERED_FOR });
        }
        if let Some(what) = self.withheld_in_words() {
            // Another client would get no more.
            return Some(ClientFault { what, patience: Duration::MAX });
        }
        let stuck = if self.is_paused { None } else { self.stuck_partition() };
        stuck.map(|partition| ClientFault {
            what: format!(
                "the client of group {} does not fetch the records of {}-{partition}",
                self.group, self.input
            ),
            patience: FETCH_PATIENCE,
        })
    }

    /// Whether Kafka lists no member of our client's name in the group, or no such group. Who may consume in a group may see it.
    fn is_unknown_to_its_group(&self) -> bool {
        let question = |view: &BaseConsumer<_>| view.fetch_group_list(Some(&self.group), ASK_TIMEOUT);
        let Ok(groups) = self.cluster.committed_view.ask(question) else { return false };
        let client = self.cluster.settings.client_id();
        let mut members = groups.groups().iter().filter(|found| found.name() == self.group).flat_map(|of| of.members());
        !members.any(|member| member.client_id() == client)
    }

    /// A partition with records to fetch whose next offset is that of the last check.
    fn stuck_partition(&mut self) -> Option<u32> {
        let positions = self.consumer.position().ok()?;
        // Before its first record a partition has no position: it stands where it was started.
        let started = self.owned.iter().filter_map(|(partition, progress)| Some((*partition, progress.as_ref()?.next)));
        let mut next: BTreeMap<u32, u64> = started.collect();
        for element in positions.elements_for_topic(&self.input) {
            if let (Some(next), Offset::Offset(position)) =
                (next.get_mut(&(element.partition() as u32)), element.offset())
            {
                *next = u64::try_from(position).unwrap_or_default();
            }
        }
        let before = std::mem::replace(&mut self.next_at_check, next);
        let still = |(partition, next): &(&u32, &u64)| before.get(partition) == Some(next);
        let unmoved: Vec<u32> = self.next_at_check.iter().filter(still).map(|(partition, _)| *partition).collect();
        if unmoved.is_empty() {
            return None;
        }
        let view = &self.cluster.committed_view;
        let ends = view.ask(|view| list_offsets(view, &self.input, &unmoved, Offset::End)).ok()?;
        unmoved.into_iter().find(|partition| ends.get(partition) > self.next_at_check.get(partition))
    }

    /// Ends a hanging transaction, if Kafka withholds the positions of partitions though it answers.
    pub(super) fn why_no_positions(&mut self, partitions: &[u32], error: &KafkaError) -> LogError {
        let doing = format!("cannot get the positions of group {}", self.group);
        let is_late = error.rdkafka_error_code() == Some(RDKafkaErrorCode::OperationTimedOut);
        if !is_late || self.ask_kafka(Duration::from_secs(1)).is_err() {
            return self.cluster.explained(&doing, error);
        }
        let any = partitions.iter().map(|&partition| (partition, Position::at(0))).collect();
        let ended = self.positions(&any).and_then(|positions| self.transactions.end_hanging(positions));
        match ended {
            Err(error) if error.kind != ErrorKind::Abort => error,
            // A rebalance that is in progress ends by itself.
            Ok(()) | Err(_) => {
                let why = "Kafka withholds them while a transaction that moves them is open. A process that was killed leaves \
                           one until kafka.transaction_timeout. One that stays longer hangs: end it with kafka-transactions.sh abort";
                LogError::new(ErrorKind::Retry, format!("{doing}: {why}"))
            }
        }
    }
}
