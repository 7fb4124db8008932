//! Sends orders to the stages by their topics.

use crate::{AuditWriter, Author, NamedSource, NewRules, Order, RuleSets};
use daemon::CommandFailure;
use messages::{ChangeHint, Command, CommandKind, CommandShare, FocusOrder, HintKind, RuleSet, topics};
use page::{CanonicalUrl, Host, Timestamp};
use settings::seeds::Seed;
use std::sync::{Arc, Mutex, PoisonError};
use stream::partitioner::key_for;
use stream::{Clock, DiskRoom, Log, LogError, OutputRecord};
use topology::LogNames;

/// Why rules are refused that were made from others than those that count.
const SAVED_MEANWHILE: &str = "somebody has saved rules meanwhile, and these do not count; load the rules again";
/// Records appended in one transaction.
const RECORDS_PER_BATCH: usize = 1_000;

/// Sends orders over a log, embedded or Kafka.
#[derive(Clone)]
pub struct OrderSender {
    log: Arc<dyn Log>,
    audit: AuditWriter,
    commands: String,
    partitions: u32,
    focus_orders: String,
    rule_sets: String,
    /// Held while a set of rules is numbered and appended.
    saving_rules: Arc<Mutex<()>>,
    clock: Arc<dyn Clock>,
    /// Makes what was sent survive a power cut, where sending alone does not.
    sync: Option<Arc<SyncLog>>,
    room: DiskRoom,
}

type SyncLog = dyn Fn() -> Result<(), LogError> + Send + Sync;

impl OrderSender {
    /// A sender to the stages of a log.
    ///
    /// # Errors
    /// The topics are missing, or the log does not answer.
    pub fn new(log: Arc<dyn Log>, names: &LogNames, clock: Arc<dyn Clock>) -> Result<Self, CommandFailure> {
        let commands = names.topic(topics::SCHEDULER_EVENTS);
        let found = log.topic(&commands)?;
        let missing =
            || CommandFailure::Input(format!("topic {commands} does not exist; create it with recrawl topics create"));
        let partitions = found.ok_or_else(missing)?.partitions;
        // Stages of another version may be running, so publish our schemas.
        stream::schemas::report(&*log, &names.schemas(Vec::new()), clock.now())?;
        Ok(Self {
            partitions,
            audit: AuditWriter::new(log.clone(), names, clock.clone())?,
            log,
            commands,
            focus_orders: names.topic(topics::FOCUS_ORDERS),
            rule_sets: names.topic(topics::RULE_SETS),
            saving_rules: Arc::default(),
            clock,
            sync: None,
            room: DiskRoom::default(),
        })
    }

    /// Calls this after each order, before the order is acknowledged.
    #[must_use]
    pub fn synced_by(mut self, sync: impl Fn() -> Result<(), LogError> + Send + Sync + 'static) -> Self {
        self.sync = Some(Arc::new(sync));
        self
    }

    /// Takes seeds only while there is room on the disk.
    #[must_use]
    pub fn within(self, room: DiskRoom) -> Self {
        Self { room, ..self }
    }

    /// Why an order cannot be taken now. It can be later.
    pub(crate) fn shortage(&self, order: &Order) -> Option<&'static str> {
        let is_refused = matches!(order, Order::Seeds { .. }) && !self.room.is_left();
        is_refused
            .then_some("the disk is nearly full, and no seeds are taken until there is room; send them again then")
    }

    /// The record of orders.
    pub(crate) fn audit(&self) -> &AuditWriter {
        &self.audit
    }

    /// Sends an order, with the record of who gave it.
    pub fn send(&self, order: &Order, author: &Author) -> Result<(), CommandFailure> {
        self.append_order(order, author)?;
        self.sync.as_ref().map_or(Ok(()), |sync| Ok(sync()?))
    }

    fn append_order(&self, order: &Order, author: &Author) -> Result<(), CommandFailure> {
        let audited = self.audit.order(order, self.partitions, author);
        let id = Some(audited.order_id.as_str());
        let audited = self.audit.record(audited.clone());
        match order {
            Order::Seeds { kind, list } => {
                let records = list.seeds.iter().flat_map(|seed| {
                    let command = self.command(*kind, (Some(&seed.url), None), seed.weight, id);
                    [Some(command), seed.changed_at.map(|at| self.hint(seed, at))].into_iter().flatten()
                });
                self.append(audited, records)
            }
            Order::Pages(kind, urls) => {
                self.append(audited, urls.iter().map(|url| self.command(*kind, (Some(url), None), 1.0, id)))
            }
            Order::Hosts(kind, hosts) => {
                self.append(audited, hosts.iter().map(|host| self.command(*kind, (None, Some(host)), 1.0, id)))
            }
            Order::Sources(kind, sources) => {
                self.append(audited, sources.iter().flat_map(|source| self.shares(*kind, source, id)))
            }
            Order::AddFocus { name, text } => self.append(audited, [self.focus_order(name, Some(text.clone()))]),
            Order::RemoveFocus(name) => self.append(audited, [self.focus_order(name, None)]),
            Order::SaveRules(new) => {
                let _saving = self.saving_rules.lock().unwrap_or_else(PoisonError::into_inner);
                let set = self.rule_set(new, author)?;
                let record = OutputRecord::of(&set, self.rule_sets.as_str(), 1, set.saved_at);
                self.append(audited, [record])?;
                // Another process may have given its rules the same number.
                match self.rule_sets()?.iter().any(|newest| newest.number == set.number && *newest != set) {
                    true => Err(CommandFailure::Input(SAVED_MEANWHILE.to_owned())),
                    false => Ok(()),
                }
            }
        }
    }

    /// Appends records, many in one transaction, and the record of the order with the first.
    fn append(
        &self,
        audited: OutputRecord,
        records: impl IntoIterator<Item = OutputRecord>,
    ) -> Result<(), CommandFailure> {
        let mut records = std::iter::once(audited).chain(records).peekable();
        while records.peek().is_some() {
            self.log.append(&records.by_ref().take(RECORDS_PER_BATCH).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn command(
        &self,
        kind: CommandKind,
        (url, host): (Option<&CanonicalUrl>, Option<&Host>),
        weight: f64,
        order_id: Option<&str>,
    ) -> OutputRecord {
        let (now, order_id) = (self.clock.now(), order_id.map(str::to_owned));
        let (url, host) = (url.cloned(), host.cloned());
        let command = Command { url, host, weight, order_id, ..Command::new(kind, now) };
        OutputRecord::of(&command, self.commands.as_str(), self.partitions, now)
    }

    /// The shares of all partitions in a command about a source.
    fn shares(
        &self,
        kind: CommandKind,
        source: &NamedSource,
        order_id: Option<&str>,
    ) -> impl Iterator<Item = OutputRecord> + use<> {
        let (now, order_id) = (self.clock.now(), order_id.map(str::to_owned));
        let (url, host) = match source {
            NamedSource::Page(url) => (Some(url.clone()), None),
            NamedSource::Site(host) => (None, Some(host.clone())),
        };
        let command = Command { url, host, order_id, ..Command::new(kind, now) };
        let (topic, partitions) = (self.commands.clone(), self.partitions);
        (0..partitions).map(move |partition| {
            let share = CommandShare { routing_key: key_for(partition, partitions), from: None };
            let command = Command { share: Some(share), ..command.clone() };
            OutputRecord::of(&command, topic.as_str(), partitions, now)
        })
    }

    /// The hint that a known page has changed if it was not looked at since this time.
    fn hint(&self, seed: &Seed, changed_at: Timestamp) -> OutputRecord {
        let now = self.clock.now();
        let hint = ChangeHint {
            url: seed.url.clone(),
            page_id: seed.url.page_id(),
            kind: HintKind::Ping,
            hinted_at: now,
            // A day is open until its end, and today is not over.
            changed_at: Some(changed_at.min(now)),
            source: "seeds".to_owned(),
        };
        OutputRecord::of(&hint, self.commands.as_str(), self.partitions, now)
    }

    fn rule_sets(&self) -> Result<RuleSets, CommandFailure> {
        RuleSets::of_log(&*self.log, &self.rule_sets)
    }

    /// The next set of saved rules.
    fn rule_set(&self, new: &NewRules, author: &Author) -> Result<RuleSet, CommandFailure> {
        let newest = self.rule_sets()?.number();
        if new.after.is_some_and(|after| after != newest) {
            return Err(CommandFailure::Input(SAVED_MEANWHILE.to_owned()));
        }
        let (now, saved_by) = (self.clock.now(), author.name());
        let text = NewRules { after: None, ..new.clone() }.text();
        Ok(RuleSet { number: newest + 1, text, saved_at: now, saved_by })
    }

    fn focus_order(&self, name: &str, text: Option<String>) -> OutputRecord {
        let now = self.clock.now();
        let order = FocusOrder { name: name.to_owned(), text, ordered_at: now };
        OutputRecord::of(&order, self.focus_orders.as_str(), 1, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::Settings;
    use std::sync::Mutex;
    use stream::{ErrorKind, InProcessLog, LogBackend, TopicPartition};
    use stream_testing::{ManualClock, MemoryBackend};

    #[test]
    fn an_order_is_acknowledged_after_it_was_appended_and_synced() {
        let settings = Settings::default();
        let log = InProcessLog::new(MemoryBackend::default());
        log.create_topics(&topology::topic_configs(&settings, &[scheduler::topology()], 1)).unwrap();
        let names = LogNames::new(&settings);
        let commands = TopicPartition::new(names.topic(topics::SCHEDULER_EVENTS), 0);
        let clock = ManualClock::at(Timestamp::from_secs(1));
        // How many commands the log had at each sync. The second sync fails.
        let synced = Arc::new(Mutex::new(Vec::new()));
        let (backend, noted) = (log.backend().clone(), synced.clone());
        let sender = OrderSender::new(Arc::new(log), &names, clock).unwrap().synced_by(move || {
            let mut noted = noted.lock().unwrap();
            noted.push(backend.bounds(&commands)?.end);
            if noted.len() == 2 { Err(LogError::new(ErrorKind::Stop, "the disk is full")) } else { Ok(()) }
        });
        let order = Order::about(CommandKind::Refetch, ["https://example.org/a", "https://example.org/b"]).unwrap();
        sender.send(&order, &Author::default()).unwrap();
        assert!(sender.send(&order, &Author::default()).unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(*synced.lock().unwrap(), [2, 4]);
    }
}
