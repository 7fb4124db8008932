//! Stages of the loop in this process, over Kafka. Several processes of a stage share its partitions.

use crate::CommandFailure;
use crate::numbered_place::NumberedPlace;
use crate::stages::{LogKind, StageEntry, Surroundings, topologies};
use daemon::broker_clock::BrokerClock;
use daemon::http::{self, Door, HttpSite, TlsFiles};
use daemon::{Background, Board, CrashFile, HintIntake, StageThreads, StopSignal, TraceExporter, WebClock};
use messages::topics;
use settings::Settings;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stream::{Clock, ErrorKind, Log, LogError, Stage, StageRunner, StageSpec, StageStatus};
use stream_kafka::KafkaLog;
use stream_rocksdb::RocksStores;
use topology::LogNames;
use tracing::{info, warn};

/// How often the stop signal is checked.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs stages until a signal. `instance` is the name of this process among those that run them. With `numbered` it shares
/// its directory with others.
pub(crate) fn run(
    settings: &Settings,
    stages: &[&StageEntry],
    instance: Option<&str>,
    numbered: bool,
) -> Result<(), CommandFailure> {
    let stop = StopSignal::on_signals()?;
    let names = LogNames::new(settings);
    let clock = Arc::new(WebClock::new(&settings.clock));
    // The port is open from the start: a process that waits for Kafka is alive, and shows what it waits for.
    let waiting: Vec<_> = stages.iter().map(|stage| waiting_status(stage.name())).collect();
    let board = Board::new(waiting.clone(), clock.speed());
    let mut background = Background::new(&stop);
    let hints = hint_intake(settings, stages, &names, &clock);
    let site = HttpSite {
        board: board.clone(),
        tasks: None,
        refusals: None,
        door: Door::default(),
        hints: hints.clone(),
        names: settings.http.names.clone(),
        hung_after: hung_after(settings),
        step_timeout: http::STEP_TIMEOUT,
    };
    let bind = settings.http.bind;
    let address = http::serve(bind, site, TlsFiles::of(&settings.http)?, &stop, &mut background)
        .map_err(|error| CommandFailure::World(http::cannot_listen(bind, &error)))?;
    let data = settings.crawl.data.clone().unwrap_or_else(|| PathBuf::from("recrawl-data"));
    let place = numbered.then(|| NumberedPlace::take(&data)).transpose().map_err(|error| {
        CommandFailure::World(format!("crawl.data: cannot take a place in {}: {error}", data.display()))
    })?;
    let (data, instance) = match &place {
        Some(NumberedPlace { number, directory, .. }) => {
            let name = instance.map_or_else(host_name, str::to_owned);
            (directory.clone(), Some(format!("{name}-{number}")))
        }
        None => (data, instance.map(str::to_owned)),
    };
    let mut built = Vec::new();
    for (stage, status) in stages.iter().zip(&waiting) {
        let patience = Patience { stage: stage.name(), stop: &stop, status };
        match build(stage, settings, instance.as_deref(), &names, &clock, &data, &patience)? {
            Some(stage) => built.push(stage),
            None => return Ok(()),
        }
    }
    let Some(BuiltStage { log, partitions, instance, .. }) = built.first() else { return Ok(()) };
    let (log, partitions) = (log.clone(), *partitions);
    // Before the first request and the first hint: a wrong clock would take its lease for over.
    let mut broker_clock = BrokerClock::new(log.clone(), clock.clone(), board.clone());
    broker_clock.iter_mut().for_each(BrokerClock::read);
    if let Some(hints) = &hints {
        hints.open(log.clone(), partitions);
    }
    // Ends behind the stages, whose last spans it sends.
    let traces = TraceExporter::start(settings, &names, instance, "kafka", board.spans().clone())
        .map_err(|error| CommandFailure::Input(error.to_string()))?;
    let memory = match settings.log.state_memory {
        Some(bytes) => stream_rocksdb::StoreMemory::of(bytes.try_into().unwrap_or(usize::MAX)),
        None => daemon::memory_limit::of_state_stores(),
    };
    // All partitions come to this process if the others end.
    let tasks = built.iter().map(|stage| u64::from(stage.partitions)).sum();
    let stores = Arc::new(RocksStores::new(&data, memory).for_tasks(tasks));
    let (room, watch) = daemon::disk::watch(&data, settings.log.min_free_disk, board.clone(), &stop)?;
    background.add(watch);
    let runner = |stage: BuiltStage| -> std::io::Result<StageRunner> {
        let notes = CrashFile::of(&stage.spec, &data, clock.now())?;
        let mut pace = topology::runner_settings(settings, stage.spec.punctuate_every, &*clock);
        pace.batch_interval = topology::batch_interval_over_kafka(settings);
        let runner = StageRunner::new(stage.spec, &stage.instance, stage.log, stores.clone(), clock.clone(), pace);
        let traced = runner.noting_crashes(notes).traced(traces.as_ref().map(TraceExporter::tracing));
        Ok(traced.within(room.clone()))
    };
    let runners = built.into_iter().map(runner).collect::<Result<Vec<_>, _>>()?;
    board.replace(runners.iter().map(Stage::status).collect());
    let own = stages.iter().map(|stage| (stage.topology)()).collect();
    if let Some(broker_clock) = broker_clock {
        background.add(broker_clock.watch(&stop)?);
    }
    background.add(daemon::changed_topics::watch(log.clone(), settings, own, board.clone(), &stop)?);
    background.add(daemon::backlog::watch(log, &names, topologies(), clock.clone(), board, &stop)?);
    let service = stages.iter().map(|stage| stage.name()).collect::<Vec<_>>().join(",");
    info!(service, %address, partitions, data = %data.display(), "started");
    let boxed = |(stage, runner): (&&StageEntry, _)| (stage.name(), Box::new(runner) as Box<dyn Stage>);
    let threads =
        StageThreads::start(stages.iter().zip(runners).map(boxed).collect(), settings.log.drain_timeout, &stop)?;
    while !stop.is_stopped() {
        std::thread::sleep(LOOK_EVERY);
    }
    info!(service, "draining");
    threads.finish().map_err(CommandFailure::World)?;
    drop(traces);
    info!(service, "drained");
    Ok(())
}

/// A stage that is ready to run.
struct BuiltStage {
    spec: StageSpec,
    instance: String,
    log: Arc<KafkaLog>,
    /// Number of partitions of its input.
    partitions: u32,
}

/// Builds a stage once Kafka answers and its topics exist. `None` if the process is stopped before.
fn build(
    stage: &StageEntry,
    settings: &Settings,
    instance: Option<&str>,
    names: &LogNames,
    clock: &Arc<WebClock>,
    data: &Path,
    patience: &Patience<'_>,
) -> Result<Option<BuiltStage>, LogError> {
    let mut settings = settings.clone();
    // The group would wait a whole session for a name that was made up for one process.
    settings.kafka.static_membership &= instance.is_some() || stage.pod.has_lasting_name;
    let Some(ReadyLog { log, partitions }) = await_log(stage, &settings, names, patience)? else { return Ok(None) };
    let clock: Arc<dyn Clock> = clock.clone();
    let around = Surroundings { settings: &settings, names, clock, partitions, data, seeds: None, log: LogKind::Kafka };
    let spec = patience.until("waiting", || (stage.build)(&around))?;
    let instance = instance.map_or_else(|| default_instance(stage), str::to_owned);
    Ok(spec.map(|spec| BuiltStage { spec, instance, log, partitions }))
}

/// Kafka, with the number of partitions of a stage's input.
struct ReadyLog {
    log: Arc<KafkaLog>,
    partitions: u32,
}

/// Waits until Kafka answers and the stage's input topic exists. `None` if the process is stopped before.
fn await_log(
    stage: &StageEntry,
    settings: &Settings,
    names: &LogNames,
    patience: &Patience<'_>,
) -> Result<Option<ReadyLog>, LogError> {
    let input = names.topic((stage.topology)().input);
    let mut connected: Option<Arc<KafkaLog>> = None;
    patience.until("waiting for Kafka", || {
        let log = match &connected {
            Some(log) => log.clone(),
            None => Arc::new(daemon::connect(settings, &format!("recrawl-{}", stage.name()))?),
        };
        connected = Some(log.clone());
        let missing = || format!("topic {input} does not exist; create it with recrawl topics create");
        let topic = log.topic(&input)?.ok_or_else(|| LogError::new(ErrorKind::Retry, missing()))?;
        Ok(ReadyLog { log, partitions: topic.partitions })
    })
}

/// A stage that keeps its name over restarts is called by its host. Any number of others may run on one host.
fn default_instance(stage: &StageEntry) -> String {
    if stage.pod.has_lasting_name { host_name() } else { format!("{}-{}", host_name(), std::process::id()) }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Hints are for the scheduler; any of its processes accepts them for all.
fn hint_intake(
    settings: &Settings,
    stages: &[&StageEntry],
    names: &LogNames,
    clock: &Arc<WebClock>,
) -> Option<Arc<HintIntake>> {
    let is_scheduler = |stage: &&StageEntry| (stage.topology)().input.name == topics::SCHEDULER_EVENTS.name();
    stages.iter().any(is_scheduler).then(|| HintIntake::new(settings, names, clock.clone())).flatten()
}

/// Maximum time for one turn of a stage's loop. The longest is a commit that no broker answers: its records, the records of the
/// abort and the abort itself each wait for a transaction's time, which is twice the usual after a failure.
fn hung_after(settings: &Settings) -> Duration {
    Duration::from_secs(50).max(6 * settings.kafka.transaction_timeout)
}

fn waiting_status(stage: &str) -> Arc<Mutex<StageStatus>> {
    Arc::new(Mutex::new(StageStatus { name: stage.to_owned(), ..StageStatus::default() }))
}

/// How a process waits for anything that a stage cannot do without. The status of the stage names it.
struct Patience<'a> {
    stage: &'a str,
    stop: &'a StopSignal,
    status: &'a Mutex<StageStatus>,
}

impl Patience<'_> {
    /// Tries until it succeeds, or fails for good. `None` if the process is stopped before.
    fn until<T>(
        &self,
        what: &str,
        mut attempt_once: impl FnMut() -> Result<T, LogError>,
    ) -> Result<Option<T>, LogError> {
        let mut attempt = 0;
        while !self.stop.is_stopped() {
            attempt += 1;
            let problem = match attempt_once() {
                Ok(found) => return Ok(Some(found)),
                Err(error) if error.kind == ErrorKind::Stop => return Err(error),
                Err(error) => error.message,
            };
            let wait = stream::protocol::wait_after(attempt);
            self.status.lock().unwrap_or_else(PoisonError::into_inner).last_error = Some(problem.clone());
            warn!(service = self.stage, problem, attempt, wait_ms = wait.as_millis() as u64, "{what}");
            let until = Instant::now() + wait;
            while !self.stop.is_stopped() && Instant::now() < until {
                std::thread::sleep(LOOK_EVERY);
            }
        }
        Ok(None)
    }
}
