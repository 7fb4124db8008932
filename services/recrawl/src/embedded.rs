//! The whole loop in one process: log and state in RocksDB in one data directory, with a thread per stage.

use crate::CommandFailure;
use crate::console::{Console, RunningCrawl};
use crate::served_changes::ServedChanges;
use crate::stages::{LogKind, STAGES, StageEntry, Surroundings, topologies};
use ::scheduler::ListedSeeds;
use daemon::http::{self, Call, Door, HttpSite, KeyRing, Task, TlsFiles};
use daemon::{
    Background, Board, CrashFile, HintIntake, ReceiverStatus, StageThreads, Status, StopSignal, TopicReader,
    TraceExporter, WebClock,
};
use messages::{CommandKind, topics};
use metrics::{fetcher, scheduler};
use operate::{AccessFiles, Author, Order, OrderSender};
use outputs::delivery::{OpenChanges, Receivers, are_idle};
use outputs::encoder::feed::FeedForm;
use settings::Settings;
use settings::seeds::SeedList;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stream::{Clock, DiskRoom, ErrorKind, InProcessLog, Log, LogBackend, LogError, Stage, StageRunner, StageSpec};
use stream_rocksdb::{EmbeddedBackend, EmbeddedStores};
use topology::LogNames;

/// Maximum real time between two deletions of expired records.
const MAINTAIN_EVERY: Duration = Duration::from_secs(10);
/// Real time between two notes of the log's high-water mark.
const NOTE_EVERY: Duration = Duration::from_secs(1);
/// Poll interval of the maintenance thread.
const MAINTENANCE_LOOK: Duration = Duration::from_millis(100);
/// A stage whose loop has not turned for this time counts as hung.
const HUNG_AFTER: Duration = Duration::from_secs(50);
/// Name of callers with the token of the data directory.
pub(crate) const DIRECTORY_TOKEN: &str = "the data directory";
/// Name of callers with the token of the settings.
pub(crate) const SETTINGS_TOKEN: &str = "http.token";

/// The running loop.
pub struct Embedded {
    // In drop order: the stages, then the background threads, then the log they share.
    threads: StageThreads,
    /// Sends the last spans of the stages.
    traces: Option<TraceExporter>,
    background: Background,
    /// Health and figures of the loop.
    pub board: Board,
    /// Address of the port, with its scheme.
    pub address: String,
    /// Stops the loop and everything that shares the signal.
    pub stop: StopSignal,
    commands: OrderSender,
    /// Who started the loop, and gives it its seeds.
    author: Author,
    names: LogNames,
    log: InProcessLog<EmbeddedBackend>,
    room: DiskRoom,
    clock: Arc<WebClock>,
    access: AccessFiles,
}

impl Embedded {
    /// Starts the loop on a data directory, creating it if necessary. `seeds` is the list of seeds, if there is one.
    /// `clock` must be made from the same settings; the caller may keep it.
    pub fn start(
        settings: &Settings,
        data: &Path,
        seeds: Option<&ListedSeeds>,
        stop: StopSignal,
        clock: Arc<WebClock>,
    ) -> Result<Self, CommandFailure> {
        let names = LogNames::new(settings);
        let own_token = operate::configured_token(settings)?;
        let (keys, tls) = (KeyRing::of(&settings.http)?, TlsFiles::of(&settings.http)?);
        let forms_key = operate::configured_forms_key(settings)?;
        require_lock(settings, own_token.is_some() || keys.is_some(), tls.is_some())?;
        let log = stream_rocksdb::open_log(data)?;
        operate::note_list(data, seeds)?;
        log.create_topics(&topology::topic_configs(settings, &topologies(), settings.log.partitions))?;
        let input = log.topic(&names.topic(topics::SCHEDULER_EVENTS))?;
        let partitions = input.map_or(settings.log.partitions, |topic| topic.partitions);
        let stores = Arc::new(EmbeddedStores::new(log.backend().clone()));
        let shared: Arc<dyn Log> = Arc::new(log.clone());
        let board = Board::new(Vec::new(), clock.speed());
        let mut background = Background::new(&stop);
        let (room, watch) = daemon::disk::watch(data, settings.log.min_free_disk, board.clone(), &stop)?;
        background.add(watch);
        let traces = TraceExporter::start(settings, &names, "embedded", "recrawl", board.spans().clone())
            .map_err(|error| CommandFailure::Input(error.to_string()))?;
        let runner = |spec: StageSpec| -> std::io::Result<Box<dyn Stage>> {
            let notes = CrashFile::of(&spec, data, clock.now())?;
            let pace = topology::runner_settings(settings, spec.punctuate_every, &*clock);
            let runner = StageRunner::new(spec, "embedded", shared.clone(), stores.clone(), clock.clone(), pace);
            let runner = runner.noting_crashes(notes).traced(traces.as_ref().map(TraceExporter::tracing));
            Ok(Box::new(runner.within(room.clone())))
        };
        let around = Surroundings {
            settings,
            names: &names,
            clock: clock.clone(),
            partitions,
            data,
            seeds,
            log: LogKind::Embedded,
        };
        let stage = |stage: &StageEntry| Ok((stage.name(), runner((stage.build)(&around)?)?));
        let stages = STAGES.iter().map(stage).collect::<Result<Vec<_>, CommandFailure>>()?;
        board.replace(stages.iter().map(|(_, stage)| stage.status()).collect());
        board.show_figures(daemon::log_figures(log.backend()));
        let (followed, of_topics) = (log.backend().clone(), names.clone());
        let open_changes: Arc<OpenChanges> =
            Arc::new(move || TopicReader::of_running(followed.clone(), &of_topics, topics::PAGE_CHANGES));
        // Before the stages, so that a new receiver misses nothing.
        let receivers = Receivers::open(settings, &[], data, &*open_changes, (&board, &clock), &stop)?;
        let backend = log.backend().clone();
        let commands = OrderSender::new(shared.clone(), &names, clock.clone())?.synced_by(move || backend.sync());
        let (sender, backend) = (commands.clone().within(room.clone()), log.backend().clone());
        let hints = HintIntake::new(settings, &names, clock.clone());
        if let Some(hints) = &hints {
            hints.open(shared.clone(), partitions);
        }
        let changes = ServedChanges::new(settings, &names, log.backend().clone());
        let shown = RunningCrawl {
            settings: settings.clone(),
            data: data.to_owned(),
            names: names.clone(),
            log: log.backend().clone(),
            board: board.clone(),
        };
        let console = Console::new(settings, Box::new(shown));
        let (refusing, backed_up) = (sender.clone(), data.to_owned());
        let refusals = move |call: &Call<'_>, why: &str| operate::http::note_refused(&refusing, call, why);
        let tasks = move |call: &Call<'_>| match call.task {
            Task::Order(kind) => operate::http::take(&sender, kind, call),
            Task::BackUp => operate::http::take_backup(&sender, call, |directory| {
                backend.back_up(directory)?;
                let kept = operate::noted_preset(&backed_up).map_err(|failure| failure.to_string());
                kept.and_then(|preset| operate::note_preset(directory, preset).map_err(|error| error.to_string()))
                    .map_err(|problem| LogError::new(ErrorKind::Stop, problem))
            }),
            Task::Changes => changes.list(call),
            Task::AtomFeed => changes.feed(call.caller, FeedForm::Atom),
            Task::RssFeed => changes.feed(call.caller, FeedForm::Rss),
            Task::Screen(screen) => console.show(screen, call),
            Task::Form(form) => console.take(form, call, &sender),
            Task::Stylesheet => Console::style(),
            Task::Script => Console::script(),
        };
        let (log_id, token) = (shared.id()?, operate::new_token()?);
        let own_token = own_token.map(|token| (SETTINGS_TOKEN, token));
        let tokens = own_token.into_iter().chain([(DIRECTORY_TOKEN, token.clone())]).collect();
        let door = Door { log: Some(log_id.clone()), tokens, keys, forms_key };
        let doors = Doors { tasks: Arc::new(tasks), refusals: Arc::new(refusals), hints, door };
        let ports = serve(settings, &board, doors, tls, &stop, &mut background)?;
        let access = AccessFiles::write(data, &ports.of_directory.to_string(), &log_id, &token)?;
        receivers.start(open_changes, &mut background)?;
        let threads = StageThreads::start(stages, settings.log.drain_timeout, &stop)?;
        background.add(daemon::backlog::watch(shared, &names, topologies(), clock.clone(), board.clone(), &stop)?);
        background.add(maintain(log.clone(), settings.log.sync, clock.clone(), stop.clone())?);
        let address = ports.address;
        let author = Author::of_process(settings);
        Ok(Self {
            threads,
            traces,
            background,
            board,
            address,
            stop,
            commands,
            author,
            names,
            log,
            room,
            clock,
            access,
        })
    }

    /// Sends a list of seeds to the scheduler. Known seeds have no effect, and forgotten ones are left out.
    pub fn seed(&self, list: SeedList) -> Result<(), CommandFailure> {
        self.commands.send(&Order::Seeds { kind: CommandKind::ListedSeed, list }, &self.author)
    }

    /// Whether the disk has room for new work.
    pub fn has_room(&self) -> bool {
        self.room.is_left()
    }

    pub fn clock(&self) -> &WebClock {
        &self.clock
    }

    /// Number of records that wait for a stage.
    pub fn lag_records(&self) -> Result<u64, CommandFailure> {
        let backlogs = daemon::backlog::ask(&self.log, &self.names, &topologies())?;
        Ok(backlogs.iter().flat_map(|(_, partitions)| partitions).map(|of| of.records).sum())
    }

    /// Whether the loop is idle by the latest figures: every known page has been answered at least once, no request is in
    /// flight, and no record waits. If it is, how often each stage has computed its figures: those computed before the last
    /// record was consumed do not know of it.
    pub fn idle_by_refreshes(&self) -> Result<Option<Vec<u64>>, CommandFailure> {
        if !self.has_room() || !self.board.is_ready() || self.lag_records()? > 0 {
            return Ok(None);
        }
        // After the backlog: further figures know of every record that was consumed by then.
        let stages = self.board.stages();
        let busy = [scheduler::UNANSWERED, scheduler::IN_FLIGHT, fetcher::IN_FLIGHT];
        let is_idle =
            stages.iter().flat_map(|stage| &stage.figures).all(|(metric, of)| *of == 0.0 || !busy.contains(metric));
        Ok(is_idle.then(|| stages.iter().map(|stage| stage.refreshes_total).collect()))
    }

    /// Whether the receivers of the settings have all that was there since some earlier statuses, or fail.
    pub fn receivers_are_idle(&self, since: &[ReceiverStatus]) -> bool {
        are_idle(since, &self.board.receivers().statuses())
    }

    /// Stops, waits for the stages to finish their steps, and returns the final status.
    pub fn finish(self) -> Result<Status, CommandFailure> {
        self.stop.stop();
        let finished = self.threads.finish();
        drop(self.traces);
        drop(self.access);
        drop(self.background);
        finished.map_err(CommandFailure::World)?;
        Ok(self.board.status())
    }
}

/// The handlers behind the port, besides the state of the stages.
struct Doors {
    tasks: Arc<http::Tasks>,
    refusals: Arc<http::Refusals>,
    hints: Option<Arc<HintIntake>>,
    door: Door,
}

/// Refuses to serve other machines without keys of the operator's, or in clear. The token of the directory is for its own
/// user.
pub(crate) fn require_lock(settings: &Settings, has_keys: bool, has_tls: bool) -> Result<(), CommandFailure> {
    let bind = settings.http.bind;
    if bind.ip().to_canonical().is_loopback() || (has_keys && has_tls) || settings.http.behind_proxy {
        return Ok(());
    }
    let missing = match (has_keys, has_tls) {
        (false, false) => {
            "a key and TLS: set http.keys_file or http.token_file, and http.tls_certificate and http.tls_key"
        }
        (false, true) => "a key: set http.keys_file or http.token_file",
        (true, _) => "TLS, or keys travel in clear: set http.tls_certificate and http.tls_key",
    };
    Err(CommandFailure::Input(format!(
        "http.bind: other machines can reach {bind}, where commands to this crawl and texts of its pages need {missing}; or set \
         http.behind_proxy = true if only a proxy with a login and TLS reaches it, or bind to 127.0.0.1"
    )))
}

/// Addresses at which the loop listens.
struct Ports {
    /// The address of the settings, with its scheme.
    address: String,
    /// For commands that find it in the data directory.
    of_directory: SocketAddr,
}

/// Listens on the configured address. If that is the default and taken, for example by another recrawl, takes any free
/// port. If it speaks TLS, commands of the directory's user have a second port, on loopback: the certificate is for another
/// name.
fn serve(
    settings: &Settings,
    board: &Board,
    doors: Doors,
    tls: Option<Arc<TlsFiles>>,
    stop: &StopSignal,
    background: &mut Background,
) -> Result<Ports, CommandFailure> {
    let bind = settings.http.bind;
    let problem = |error| CommandFailure::Input(http::cannot_listen(bind, &error));
    let site = HttpSite {
        board: board.clone(),
        tasks: Some(doors.tasks),
        refusals: Some(doors.refusals),
        door: doors.door,
        hints: doors.hints,
        names: settings.http.names.clone(),
        hung_after: HUNG_AFTER,
        step_timeout: http::STEP_TIMEOUT,
    };
    let any = SocketAddr::new(bind.ip(), 0);
    let address = match http::serve(bind, site.clone(), tls.clone(), stop, background) {
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse && bind == Settings::default().http.bind => {
            http::serve(any, site.clone(), tls.clone(), stop, background).map_err(problem)?
        }
        other => other.map_err(problem)?,
    };
    if tls.is_none() {
        return Ok(Ports { address: format!("http://{address}"), of_directory: address });
    }
    let of_directory = http::serve(SocketAddr::from(([127, 0, 0, 1], 0)), site, None, stop, background)?;
    Ok(Ports { address: format!("https://{address}"), of_directory })
}

/// Maintains the log: drops expired records, makes tables of its write buffers, notes its high-water mark, and syncs if configured.
fn maintain(
    log: InProcessLog<EmbeddedBackend>,
    sync_every: Option<Duration>,
    clock: Arc<WebClock>,
    stop: StopSignal,
) -> std::io::Result<JoinHandle<()>> {
    let look = sync_every.unwrap_or(MAINTENANCE_LOOK).min(MAINTENANCE_LOOK);
    std::thread::Builder::new().name("retention".to_owned()).spawn(move || {
        let now = || clock.monotonic();
        let (mut maintained, mut noted, mut synced) = (now(), now(), now());
        let mut flushed = Instant::now();
        let due = |last: &mut Duration, every: Duration| {
            let due = now().saturating_sub(*last) >= every;
            if due {
                *last = now();
            }
            due
        };
        while !stop.is_stopped() {
            std::thread::sleep(look);
            let log = log.backend();
            if (log.wants_maintenance() || due(&mut maintained, MAINTAIN_EVERY))
                && let Err(error) = log.maintain(clock.now())
            {
                tracing::warn!(%error, "cannot delete old records; trying again later");
            }
            if flushed.elapsed() >= EmbeddedBackend::FLUSH_EVERY {
                flushed = Instant::now();
                if let Err(error) = log.flush() {
                    tracing::warn!(%error, "cannot write the write buffers of the log; trying again tomorrow");
                }
            }
            if due(&mut noted, NOTE_EVERY)
                && let Err(error) = log.note_high_water()
            {
                tracing::warn!(%error, "cannot record the progress of the log; trying again later");
            }
            if sync_every.is_some_and(|every| due(&mut synced, every))
                && let Err(error) = log.sync()
            {
                tracing::warn!(%error, "cannot sync the log; trying again later");
            }
        }
    })
}
