//! The fetcher's turn of the loop: requests in, answers out, positions committed behind the last one answered in order.

use crate::pool::{Done, FetchPool, Job, Tag};
use crate::rules::Rules;
use messages::{FetchRequest, Message, topics};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stream::partitioner::partition_for;
use stream::protocol::Recovery;
use stream::{
    Clock, DeadLetter, DeadLetters, ErrorKind, Event, InputRecord, Log, LogError, Member, MemberSpec, OutputRecord,
    Stage, StageHealth, StageStatus, Step, Stopped, TopicPartition,
};
use topology::Names;
use tracing::{info, warn};

/// Longest wait for requests while nothing is under way.
const IDLE_WAIT: Duration = Duration::from_millis(50);
/// Longest wait for an answer before looking for requests again.
const BUSY_WAIT: Duration = Duration::from_millis(2);

/// The stage as data.
pub struct FetchStageSpec {
    /// Consumer group.
    pub group: String,
    /// Topic of requests.
    pub input: Arc<str>,
    /// Topic of results.
    pub output: String,
    /// Where requests go that cannot be read.
    pub dead_letters: DeadLetters,
    /// Most requests taken in and unanswered.
    pub in_flight: usize,
}

/// The stage as data, as the settings ask for it.
pub fn stage(settings: &settings::Settings, names: &Names) -> FetchStageSpec {
    FetchStageSpec {
        group: names.group("fetcher"),
        input: names.topic(topics::FETCH_REQUESTS).into(),
        output: names.topic(topics::FETCH_RESULTS),
        dead_letters: names.dead_letters(),
        in_flight: settings.budget.in_flight,
    }
}

/// Requests of one partition that were taken in, in order, and whether each is answered.
struct Taken {
    epoch: u64,
    /// Offset of the first entry that is not committed, and what has become of those from there on.
    first: u64,
    answered: VecDeque<(u64, bool)>,
}

impl Taken {
    fn answer(&mut self, offset: u64) {
        if let Ok(index) = self.answered.binary_search_by_key(&offset, |(offset, _)| *offset) {
            self.answered[index].1 = true;
        }
    }

    /// Moves past the answered ones at the front; the next offset to commit, when it moved.
    fn advance(&mut self) -> Option<u64> {
        let before = self.first;
        while let Some((offset, true)) = self.answered.front() {
            self.first = offset + 1;
            self.answered.pop_front();
        }
        (self.first != before).then_some(self.first)
    }
}

struct Joined {
    member: Box<dyn Member>,
    results: (Arc<str>, u32),
    dead_letters: (Arc<str>, u32),
}

/// The fetcher of one process.
pub struct FetchStage {
    spec: FetchStageSpec,
    transactional_id: String,
    log: Arc<dyn Log>,
    clock: Arc<dyn Clock>,
    rules: Arc<Rules>,
    pool: FetchPool,
    joined: Option<Joined>,
    taken: BTreeMap<u32, Taken>,
    epoch: u64,
    in_flight: usize,
    /// Answers not yet committed, and since when the first has waited.
    outputs: Vec<OutputRecord>,
    waiting_since: Option<Duration>,
    outcomes: BTreeMap<&'static str, u64>,
    health: StageHealth,
}

impl FetchStage {
    /// A fetcher that has not joined its group yet; the first step does.
    pub fn new(
        spec: FetchStageSpec,
        instance: &str,
        log: Arc<dyn Log>,
        clock: Arc<dyn Clock>,
        rules: Rules,
    ) -> std::io::Result<Self> {
        let rules = Arc::new(rules);
        Ok(Self {
            transactional_id: format!("{}-{instance}", spec.group),
            pool: FetchPool::start(rules.clone(), clock.clone())?,
            spec,
            log,
            clock,
            rules,
            joined: None,
            taken: BTreeMap::new(),
            epoch: 0,
            in_flight: 0,
            outputs: Vec::new(),
            waiting_since: None,
            outcomes: BTreeMap::new(),
            health: StageHealth::new("fetcher"),
        })
    }

    fn join(&mut self) -> Result<(), LogError> {
        let topic = |name: &str| match self.log.partitions(name)? {
            Some(partitions) => Ok((Arc::from(name), partitions)),
            None => {
                let message = format!("there is no topic {name}; create the topics first (recrawl topics create)");
                Err(LogError::new(ErrorKind::Stop, message))
            }
        };
        let (results, dead_letters) = (topic(&self.spec.output)?, topic(&self.spec.dead_letters.topic)?);
        let member = self.log.join(&MemberSpec {
            group: self.spec.group.clone(),
            input: self.spec.input.to_string(),
            transactional_id: self.transactional_id.clone(),
        })?;
        self.joined = Some(Joined { member, results, dead_letters });
        Ok(())
    }

    /// Forgets everything uncommitted; answers that still come are of an earlier epoch and passed over.
    fn drop_taken(&mut self) {
        self.pool.withdraw(self.taken.values().map(|taken| taken.epoch).collect());
        self.taken.clear();
        self.outputs.clear();
        self.waiting_since = None;
        self.in_flight = 0;
        self.epoch += 1;
    }

    fn try_step(&mut self) -> Result<Step, LogError> {
        if self.joined.is_none() {
            self.join()?;
        }
        let mut worked = self.take_answers();
        let room = self.spec.in_flight.saturating_sub(self.in_flight);
        let wait = if self.in_flight == 0 && self.outputs.is_empty() { IDLE_WAIT } else { Duration::ZERO };
        let member = &mut self.joined.as_mut().expect("joined above").member;
        let events = if room == 0 {
            // Full: stay in the group, take nothing.
            member.keep_alive()?;
            Vec::new()
        } else {
            member.poll(room.min(self.rules.batch_records), wait)?
        };
        worked |= !events.is_empty();
        for event in events {
            match event {
                Event::Assigned(partitions) => self.assign(&partitions)?,
                Event::Revoked(partitions) => self.revoke(&partitions),
                Event::Record(record) => self.take(&record),
            }
        }
        if self.due() {
            self.commit()?;
            worked = true;
        }
        Ok(if worked { Step::Worked } else { Step::Idle })
    }

    /// Answers that have come in; while requests are under way, also those of the next moment. It waits for the whole of
    /// that moment, not for one answer, because every look at the log that follows costs as much as some answers do.
    fn take_answers(&mut self) -> bool {
        let mut any = false;
        let patience = if self.outputs.is_empty() { BUSY_WAIT } else { BUSY_WAIT.min(self.time_to_commit()) };
        let until = self.clock.monotonic() + patience;
        loop {
            let left = until.saturating_sub(self.clock.monotonic());
            let wait = if self.in_flight > 0 { left } else { Duration::ZERO };
            let Some(done) = self.pool.answers.receive(wait) else { return any };
            any |= self.take_answer(*done);
            if self.outputs.len() >= self.rules.batch_records {
                return any;
            }
        }
    }

    fn take_answer(&mut self, done: Done) -> bool {
        let Tag { partition, offset, epoch } = done.tag;
        let Some(taken) = self.taken.get_mut(&partition).filter(|taken| taken.epoch == epoch) else { return false };
        taken.answer(offset);
        self.in_flight -= 1;
        let result = done.packed();
        let key = result.site_key.as_str().as_bytes().to_vec();
        let value = result.encode();
        *self.outcomes.entry(outcome_figure(&result)).or_default() += 1;
        let joined = self.joined.as_ref().expect("answers of this epoch follow a join");
        let to = TopicPartition::new(joined.results.0.clone(), partition_for(&key, joined.results.1));
        self.push(OutputRecord { to, timestamp: self.clock.now(), key, value: Some(value) });
        true
    }

    fn push(&mut self, record: OutputRecord) {
        self.waiting_since.get_or_insert_with(|| self.clock.monotonic());
        self.outputs.push(record);
    }

    /// Whether what is waiting should be committed now: small transactions are what costs.
    fn due(&self) -> bool {
        self.outputs.len() >= self.rules.batch_records
            || (!self.outputs.is_empty() && (self.in_flight == 0 || self.time_to_commit().is_zero()))
    }

    /// How long what is waiting may go on waiting for company.
    fn time_to_commit(&self) -> Duration {
        let waited = self.waiting_since.map_or(Duration::ZERO, |since| self.clock.monotonic().saturating_sub(since));
        self.rules.batch_interval.saturating_sub(waited)
    }

    fn assign(&mut self, partitions: &[u32]) -> Result<(), LogError> {
        let mut reader = self.log.reader()?;
        let member = &mut self.joined.as_mut().expect("events come from a member").member;
        for &partition in partitions {
            let bounds = reader.bounds(&TopicPartition::new(self.spec.input.clone(), partition))?;
            let first = member.committed(partition)?.unwrap_or(bounds.start).max(bounds.start);
            member.start(partition, first)?;
            info!(stage = "fetcher", partition, input_next = first, "partition assigned");
            self.epoch += 1;
            self.pool.begin(self.epoch);
            self.taken.insert(partition, Taken { epoch: self.epoch, first, answered: VecDeque::new() });
        }
        Ok(())
    }

    /// Gives partitions up. When this is over nothing of theirs is under way: whoever gets them may ask their hosts.
    fn revoke(&mut self, partitions: &[u32]) {
        let epochs = partitions.iter().filter_map(|partition| self.taken.get(partition)).map(|taken| taken.epoch);
        self.pool.withdraw(epochs.collect());
        for partition in partitions {
            if let Some(taken) = self.taken.remove(partition) {
                self.in_flight -= taken.answered.iter().filter(|(_, answered)| !answered).count();
                info!(stage = "fetcher", partition, "partition given up");
            }
        }
    }

    fn take(&mut self, record: &InputRecord) {
        let Some(taken) = self.taken.get_mut(&record.partition) else { return };
        let request = record.value.as_deref().map(FetchRequest::decode);
        let request = request.unwrap_or_else(|| FetchRequest::decode(&[]));
        match request {
            Ok(request) => {
                let tag = Tag { partition: record.partition, offset: record.offset, epoch: taken.epoch };
                taken.answered.push_back((record.offset, false));
                self.in_flight += 1;
                self.pool.submit(Job::new(tag, request));
            }
            Err(error) => {
                taken.answered.push_back((record.offset, true));
                self.set_aside(record, &error.to_string());
            }
        }
        self.health.update(|status| status.processed_total += 1);
    }

    fn set_aside(&mut self, record: &InputRecord, reason: &str) {
        warn!(stage = "fetcher", partition = record.partition, offset = record.offset, reason, "record set aside");
        let now = self.clock.now();
        let letter = DeadLetter { stage: "fetcher", topic: &self.spec.input, record, reason, set_aside_at: now };
        let value = Some((self.spec.dead_letters.encode)(&letter));
        let (topic, partitions) = &self.joined.as_ref().expect("records come from a member").dead_letters;
        let to = TopicPartition::new(topic.clone(), record.partition % partitions);
        self.push(OutputRecord { to, timestamp: now, key: record.key.clone(), value });
        self.health.update(|status| status.set_aside_total += 1);
    }

    fn commit(&mut self) -> Result<(), LogError> {
        let positions: Vec<_> =
            self.taken.iter_mut().filter_map(|(&partition, taken)| Some((partition, taken.advance()?))).collect();
        let member = &mut self.joined.as_mut().expect("a step has joined").member;
        self.waiting_since = None;
        member.produce(std::mem::take(&mut self.outputs))?;
        member.commit(&positions).map_err(|error| match error.kind {
            // Whether it was committed is unknown; only a new member that reads the committed offsets can tell.
            ErrorKind::Retry => LogError::new(ErrorKind::Rejoin, error.message),
            _ => error,
        })?;
        self.health.update(|status| status.commits_total += 1);
        Ok(())
    }

    fn recover(&mut self, error: &LogError) -> Result<(), Stopped> {
        match self.health.failed(error) {
            Recovery::TryAgain(wait) => self.clock.pause(wait),
            // Requests under way cannot be rewound one by one; a new member reads on from what is committed.
            Recovery::Rewind(wait) | Recovery::Rejoin(wait) => {
                self.leave();
                self.clock.pause(wait);
            }
            Recovery::Stop => return Err(self.health.stopped(error.message.clone())),
        }
        Ok(())
    }

    fn refresh_status(&mut self) {
        if !self.health.is_due(&*self.clock) {
            return;
        }
        let Some(joined) = &mut self.joined else { return };
        let Ok(lags) = joined.member.lag() else { return };
        let lag_records: u64 = lags.iter().map(|lag| lag.records).sum();
        let (in_flight, hosts) = (self.in_flight, self.pool.hosts());
        let outcomes = self.outcomes.clone();
        let partitions = self.taken.keys().copied().collect();
        let oldest = self.oldest();
        self.health.update(|status| {
            status.ready = true;
            status.partitions = partitions;
            status.lag_records = lag_records;
            status.lag_s = if lag_records == 0 { 0.0 } else { oldest };
            status.figures = outcomes.into_iter().map(|(name, count)| (name, count as f64)).collect();
            status.figures.insert("in_flight", in_flight as f64);
            status.figures.insert("hosts", hosts as f64);
        });
    }

    /// How long the oldest answer has been waiting for its commit, in seconds; requests themselves wait for their hosts.
    fn oldest(&self) -> f64 {
        self.waiting_since.map_or(0.0, |since| self.clock.monotonic().saturating_sub(since).as_secs_f64())
    }
}

impl Stage for FetchStage {
    fn step(&mut self) -> Result<Step, Stopped> {
        match self.try_step() {
            Ok(step) => {
                self.health.worked();
                self.refresh_status();
                Ok(step)
            }
            Err(error) => self.recover(&error).map(|()| Step::Failed),
        }
    }

    fn status(&self) -> Arc<Mutex<StageStatus>> {
        self.health.status()
    }

    fn leave(&mut self) {
        self.health.make_due();
        self.refresh_status();
        self.drop_taken();
        self.joined = None;
        self.health.left();
    }
}

fn outcome_figure(result: &messages::FetchResult) -> &'static str {
    use messages::FetchOutcome as O;
    match result.outcome {
        outcome if outcome.was_not_sent(result.status) => "not_sent_total",
        O::Fetched => "fetched_total",
        O::NotModified => "not_modified_total",
        O::SameContent => "same_content_total",
        O::NotFound | O::Gone => "not_found_total",
        O::RateLimited => "rate_limited_total",
        O::RobotsDisallowed | O::RobotsUnavailable => "robots_refused_total",
        O::AddressRefused => "address_refused_total",
        O::TooLarge => "too_large_total",
        _ => "failed_total",
    }
}
