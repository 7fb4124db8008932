//! A process that runs one stage over Kafka: the common part of all `recrawl-<service>` programs.

use crate::board::Board;
use crate::clock::WebClock;
use crate::hints::HintIntake;
use crate::http::HttpSite;
use crate::threads::{Background, StageThreads, StopSignal};
use crate::traces::TraceExporter;
use crate::{backlog, http, load, logging, memory_limit};
use anyhow::Context as _;
use clap::{CommandFactory, FromArgMatches, Parser};
use settings::{Preset, SaslMechanism, Secrets, Settings};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stream::{Clock, ErrorKind, Log, LogError, Stage, StageRunner, StageSpec, StageStatus};
use stream_kafka::{KafkaLog, KafkaSettings, Mechanism, PasswordSource, Sasl, Security, Tls};
use stream_rocksdb::{RocksStores, StoreMemory};
use topology::LogNames;
use tracing::{info, warn};

#[derive(Parser)]
#[command(version, about = "One stage of recrawl over Apache Kafka. Several of a kind share its partitions.")]
struct ServiceArguments {
    /// Configuration file (TOML). Its keys can also be set as RECRAWL_SECTION_KEY.
    #[arg(long, env = "RECRAWL_CONFIG")]
    config: Option<PathBuf>,
    /// Settings of a published system, below those of the configuration file: tianwang, chile, webfountain, site-rank,
    /// skyreach or classified. All services of a crawl need the same.
    #[arg(long, env = "RECRAWL_PRESET", value_name = "SYSTEM")]
    preset: Option<Preset>,
    /// Overrides one setting: section.key=value. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Name of this process among those that run the stage. A second of the same name stops. Default: the host's name,
    /// for the fetcher with the number of the process.
    #[arg(long, env = "RECRAWL_INSTANCE")]
    instance: Option<String>,
    #[command(flatten)]
    print: PrintArguments,
}

/// Arguments that ask for the settings instead of a run.
#[derive(clap::Args, Debug)]
pub struct PrintArguments {
    /// Prints the effective configuration, with secrets masked, and ends.
    #[arg(long)]
    print_config: bool,
    /// Shows the secrets in what --print-config prints, so that it can be read back.
    #[arg(long, requires = "print_config")]
    secrets: bool,
}

impl PrintArguments {
    /// The settings as they are to be printed. `None` if nobody asked for them.
    pub fn printed(&self, settings: &Settings) -> Option<String> {
        let secrets = if self.secrets { Secrets::Shown } else { Secrets::Masked };
        self.print_config.then(|| settings.to_toml(secrets))
    }
}

/// Environment of a stage.
pub struct Surroundings<'a> {
    /// Effective settings of the process.
    pub settings: &'a Settings,
    /// Names of topics and groups on the log.
    pub names: &'a LogNames,
    /// Clock of the web.
    pub clock: Arc<dyn Clock>,
    /// Number of partitions of the loop's topics.
    pub partitions: u32,
    /// State directory of the process.
    pub data: &'a Path,
}

/// Splits `section.key=value` flags.
pub fn overrides(sets: &[String]) -> Result<Vec<(String, String)>, String> {
    let split = |set: &String| match set.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(format!("--set {set}: write section.key=value, such as --set budget.fetches_per_second=5")),
    };
    sets.iter().map(split).collect()
}

/// Connects to the log named in the settings. Members of groups that join by it are dynamic.
pub fn connect(settings: &Settings, client: &str) -> Result<KafkaLog, LogError> {
    connect_with(settings, client, false)
}

fn connect_with(settings: &Settings, client: &str, static_membership: bool) -> Result<KafkaLog, LogError> {
    let kafka = &settings.kafka;
    let Some(brokers) = &kafka.brokers else {
        let message = "kafka.brokers is not set; set it to the host:port of a broker (RECRAWL_KAFKA_BROKERS)";
        return Err(LogError::new(ErrorKind::Stop, message));
    };
    KafkaLog::connect(KafkaSettings {
        brokers: brokers.clone(),
        client_id: kafka.client_id.clone().unwrap_or_else(|| client.to_owned()),
        session_timeout: kafka.session_timeout,
        static_membership,
        transaction_timeout: kafka.transaction_timeout,
        replication_factor: kafka.replication_factor,
        batch_interval: settings.log.batch_interval,
        security: security(kafka),
        properties: kafka.properties.0.clone(),
    })
}

/// Security options from the settings. Their consistency was checked when they were loaded.
fn security(kafka: &settings::Kafka) -> Security {
    let tls = kafka.security_protocol.has_tls().then(|| Tls {
        ca_file: kafka.ca_file.clone(),
        certificate_file: kafka.certificate_file.clone(),
        key_file: kafka.key_file.clone(),
        key_password_file: kafka.key_password_file.clone(),
    });
    let mechanism = kafka.sasl_mechanism.filter(|_| kafka.security_protocol.has_sasl());
    let sasl = mechanism.map(|mechanism| Sasl {
        mechanism: match mechanism {
            SaslMechanism::Plain => Mechanism::Plain,
            SaslMechanism::ScramSha256 => Mechanism::ScramSha256,
            SaslMechanism::ScramSha512 => Mechanism::ScramSha512,
            SaslMechanism::OAuthBearer => Mechanism::OAuthBearer {
                token_url: kafka.oauth_token_url.clone().unwrap_or_default(),
                scope: kafka.oauth_scope.clone(),
            },
        },
        username: kafka.username.clone().unwrap_or_default(),
        password: match (&kafka.password, &kafka.password_file) {
            (Some(password), _) => PasswordSource::Value(password.reveal().to_owned()),
            (None, file) => PasswordSource::File(file.clone().unwrap_or_default()),
        },
    });
    Security { tls, sasl }
}

/// The whole `main` of a service: runs one stage over Kafka until a signal.
pub fn main(name: &'static str, make: impl Fn(&Surroundings<'_>) -> anyhow::Result<StageSpec>) -> ExitCode {
    main_prepared(name, |_, _| Ok(()), |around, ()| make(around))
}

/// The same for a stage that needs something of the world before it starts. `prepare` is asked until it has it; a failure of
/// the kind [`ErrorKind::Stop`] ends the process.
pub fn main_prepared<P>(
    name: &'static str,
    prepare: impl Fn(&Settings, &LogNames) -> Result<P, LogError>,
    make: impl Fn(&Surroundings<'_>, &P) -> anyhow::Result<StageSpec>,
) -> ExitCode {
    // `--version` names the program, and not this crate.
    let command = ServiceArguments::command().display_name(format!("recrawl-{name}"));
    let arguments = ServiceArguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
    let settings = overrides(&arguments.sets)
        .map_err(anyhow::Error::msg)
        .and_then(|overrides| Ok(load(arguments.preset, arguments.config.as_deref(), &overrides)?));
    let mut settings = match settings {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if let Some(text) = arguments.print.printed(&settings) {
        print!("{text}");
        return ExitCode::SUCCESS;
    }
    logging::start(&settings.observability);
    // A group would wait in vain for a name that was made up for one process.
    settings.kafka.static_membership &= arguments.instance.is_some() || has_lasting_name(name);
    let instance = arguments.instance.unwrap_or_else(|| default_instance(name));
    match run(name, &settings, instance, prepare, make) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(service = name, error = format!("{error:#}"), "stopped");
            // The exit code separates failures that only the operator can fix from those that may pass.
            let for_operator = error.downcast_ref::<LogError>().is_some_and(|error| error.kind == ErrorKind::Stop);
            ExitCode::from(if for_operator { 2 } else { 3 })
        }
    }
}

/// A stage with state keeps its name over restarts, so that a new process fences its predecessor and ends its open
/// transactions. It has its own data directory and usually its own host. Any number of fetchers may run on one host: the
/// little that they keep is refilled within a moment.
fn default_instance(stage: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if has_lasting_name(stage) { host } else { format!("{host}-{}", std::process::id()) }
}

fn has_lasting_name(stage: &str) -> bool {
    stage != "fetcher"
}

fn run<P>(
    name: &'static str,
    settings: &Settings,
    instance: String,
    prepare: impl Fn(&Settings, &LogNames) -> Result<P, LogError>,
    make: impl Fn(&Surroundings<'_>, &P) -> anyhow::Result<StageSpec>,
) -> anyhow::Result<()> {
    let stop = StopSignal::on_signals().context("cannot install the signal handler")?;
    let names = LogNames::new(settings);
    let clock = Arc::new(WebClock::new(&settings.clock));
    // Serve from the start: a process that waits for Kafka is alive, and shows what it waits for.
    let waiting = Arc::new(Mutex::new(StageStatus { name: name.to_owned(), ..StageStatus::default() }));
    let board = Board::new(vec![waiting.clone()], clock.speed());
    let mut background = Background::new(&stop);
    // Hints are for the scheduler; any of its processes accepts them for all.
    let hints = (name == "scheduler").then(|| HintIntake::new(settings, &names, clock.clone())).flatten();
    let site = HttpSite {
        board: board.clone(),
        commands: None,
        documents: None,
        hints: hints.clone(),
        names: settings.http.names.clone(),
        hung_after: hung_after(settings),
        step_timeout: http::STEP_TIMEOUT,
    };
    let address = http::serve(settings.http.bind, site, &stop, &mut background)
        .with_context(|| format!("http.bind: cannot listen on {}", settings.http.bind))?;
    let Some(Ready { log, partitions }) = await_log(settings, &names, name, &stop, &waiting)? else { return Ok(()) };
    let patience = Patience { service: name, stop: &stop, status: &waiting };
    let Some(prepared) = patience.until("waiting", || prepare(settings, &names))? else { return Ok(()) };
    if let Some(hints) = &hints {
        hints.open(log.clone(), partitions);
    }
    let data = settings.crawl.data.clone().unwrap_or_else(|| PathBuf::from("recrawl-data"));
    let memory = match settings.log.state_memory {
        Some(bytes) => StoreMemory::of(bytes.try_into().unwrap_or(usize::MAX)),
        None => memory_limit::of_this_process().map_or_else(StoreMemory::default, memory_limit::for_stores),
    };
    let stores = Arc::new(RocksStores::new(&data, memory));
    let around = Surroundings { settings, names: &names, clock: clock.clone(), partitions, data: &data };
    let spec = make(&around, &prepared)?;
    let pace = topology::runner_settings(settings, spec.punctuate_every, &*clock);
    // Ends behind the stage, whose last spans it sends.
    let traces = TraceExporter::start(settings, &names, &instance, "kafka", board.spans().clone())
        .map_err(|error| LogError::new(ErrorKind::Stop, error.to_string()))?;
    let stage = StageRunner::new(spec, &instance, log.clone(), stores, clock.clone(), pace)
        .traced(traces.as_ref().map(TraceExporter::tracing));
    board.replace(vec![stage.status()]);
    background.add(backlog::watch(log, &names, clock, board, &stop)?);
    info!(service = name, %address, partitions, data = %data.display(), "started");
    let stages: Vec<(&'static str, Box<dyn Stage>)> = vec![(name, Box::new(stage))];
    let threads = StageThreads::start(stages, settings.log.drain_timeout, &stop)
        .context("cannot start the thread of the stage")?;
    while !stop.is_stopped() {
        std::thread::sleep(Duration::from_millis(50));
    }
    info!(service = name, "draining");
    threads.finish().map_err(anyhow::Error::msg)?;
    drop(traces);
    info!(service = name, "drained");
    Ok(())
}

/// Maximum time for one turn of a loop; the longest wait in it is a commit that a broker does not answer.
fn hung_after(settings: &Settings) -> Duration {
    Duration::from_secs(50).max(3 * settings.kafka.transaction_timeout)
}

/// A log whose loop topics exist.
struct Ready {
    log: Arc<dyn Log>,
    partitions: u32,
}

/// Waits until Kafka answers and the topics exist. `None` if stopped meanwhile.
fn await_log(
    settings: &Settings,
    names: &LogNames,
    service: &str,
    stop: &StopSignal,
    status: &Mutex<StageStatus>,
) -> Result<Option<Ready>, LogError> {
    let (_, input) =
        topology::STAGES.iter().find(|(stage, _)| *stage == service).expect("a service is one of the stages");
    let input = names.topic(*input);
    let mut connected: Option<Arc<dyn Log>> = None;
    Patience { service, stop, status }.until("waiting for Kafka", || {
        let log = match &connected {
            Some(log) => log.clone(),
            None => {
                let static_membership = settings.kafka.static_membership;
                Arc::new(connect_with(settings, &format!("recrawl-{service}"), static_membership)?) as Arc<dyn Log>
            }
        };
        connected = Some(log.clone());
        let missing = || format!("topic {input} does not exist; create it with recrawl topics create");
        let topic = log.topic(&input)?.ok_or_else(|| LogError::new(ErrorKind::Retry, missing()))?;
        Ok(Ready { log, partitions: topic.partitions })
    })
}

/// How a process waits for what it cannot do without. Its status says what that is.
struct Patience<'a> {
    service: &'a str,
    stop: &'a StopSignal,
    status: &'a Mutex<StageStatus>,
}

impl Patience<'_> {
    /// Tries until it succeeds, or fails for good. `None` if stopped meanwhile.
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
            warn!(service = self.service, problem, attempt, wait_ms = wait.as_millis() as u64, "{what}");
            let until = std::time::Instant::now() + wait;
            while !self.stop.is_stopped() && std::time::Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(None)
    }
}
