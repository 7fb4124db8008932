//! One file per command.

pub mod changes;
pub mod dead_letters;
mod delivery;
pub mod diff;
pub mod explain;
pub mod export;
pub mod feed;
pub mod fetch;
pub mod hosts;
pub mod lab;
pub mod mirrors;
pub mod operate;
pub mod page;
pub mod rank;
pub mod robots;
pub mod rules;
pub mod run;
pub mod seed;
pub mod sitemap;
pub mod stage;
pub mod state;
pub mod status;
pub mod text;
pub mod topic;
pub mod topics;
pub mod url;

use crate::CommandFailure;
use crate::ask::Asker;
use crate::embedded::CommandSender;
use crate::inspect::Inspection;
use crate::stages::topologies;
use ::page::CanonicalUrl;
use clap::Args;
use daemon::WebClock;
use outputs::source::FollowOptions;
use settings::{Preset, Secrets, Settings};
use std::path::PathBuf;
use std::sync::Arc;
use stream::Log;
use topology::LogNames;

/// Source of the settings, shared by every command that needs them.
#[derive(Args, Clone, Debug, Default)]
pub struct SettingsArguments {
    /// Configuration file (TOML). Its keys can also be set as RECRAWL_SECTION_KEY.
    #[arg(long, env = "RECRAWL_CONFIG")]
    pub config: Option<PathBuf>,
    /// Settings of a published system, below those of the configuration file: tianwang, chile, webfountain, site-rank,
    /// skyreach or classified.
    #[arg(long, env = "RECRAWL_PRESET", value_name = "SYSTEM")]
    pub preset: Option<Preset>,
    /// Overrides one setting: section.key=value. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
}

impl SettingsArguments {
    /// Loads the settings. `--set` overrides `further`.
    pub fn load(&self, further: &[(&str, Option<String>)]) -> Result<Settings, CommandFailure> {
        let mut overrides: Vec<_> =
            further.iter().filter_map(|(key, value)| value.clone().map(|value| ((*key).to_owned(), value))).collect();
        overrides.extend(setting_overrides(&self.sets)?);
        Ok(crate::load::load(self.preset, self.config.as_deref(), &overrides)?)
    }
}

/// Splits `section.key=value` flags.
pub fn setting_overrides(sets: &[String]) -> Result<Vec<(String, String)>, CommandFailure> {
    let split = |set: &String| match set.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(CommandFailure::Input(format!(
            "--set {set}: write section.key=value, such as --set budget.fetches_per_second=5"
        ))),
    };
    sets.iter().map(split).collect()
}

/// Arguments that ask for the settings instead of a run.
#[derive(Args, Debug)]
struct PrintArguments {
    /// Prints the effective configuration, with secrets masked, and ends.
    #[arg(long)]
    print_config: bool,
    /// Shows the secrets in what --print-config prints, so that it can be read back.
    #[arg(long, requires = "print_config")]
    secrets: bool,
}

impl PrintArguments {
    /// The settings as text. `None` if they are not asked for.
    fn printed(&self, settings: &Settings) -> Option<String> {
        let secrets = if self.secrets { Secrets::Shown } else { Secrets::Masked };
        self.print_config.then(|| settings.to_toml(secrets))
    }
}

/// The crawl that a command is for.
enum Crawl {
    /// One that is running, at this address.
    Running(String),
    /// The log of one that is stopped, or is over Kafka.
    Log(CommandSender),
}

impl Crawl {
    /// The crawl named by an address, by the data directory, or by the brokers in the settings.
    fn find(settings: &Settings, address: Option<&str>, client: &str) -> Result<Self, CommandFailure> {
        let running = address.map(str::to_owned).or_else(|| settings.crawl.data.as_deref().and_then(status::running));
        let log: Arc<dyn Log> = match (running, &settings.crawl.data, &settings.kafka.brokers) {
            (Some(address), _, _) => return Ok(Self::Running(address)),
            (None, None, Some(_)) => Arc::new(daemon::connect(settings, client)?),
            (None, Some(data), _) => {
                let log = stream_rocksdb::open_log(data)?;
                log.create_topics(&topology::topic_configs(settings, &topologies(), settings.log.partitions))?;
                Arc::new(log)
            }
            (None, None, None) => {
                return Err(CommandFailure::Input(
                    "no crawl given: give --data DIR, --url HOST:PORT, or --config with kafka.brokers".into(),
                ));
            }
        };
        let clock = Arc::new(WebClock::new(&settings.clock));
        Ok(Self::Log(CommandSender::new(log, &LogNames::new(settings), clock)?))
    }
}

/// Selects a crawl whose state is asked for.
#[derive(Args, Debug)]
pub struct CrawlArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    #[command(flatten)]
    wait: WaitArguments,
}

/// Selects a crawl and a part of one of its topics.
#[derive(Args, Debug)]
pub struct FollowArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    #[command(flatten)]
    options: FollowOptions,
}

impl FollowArguments {
    /// The settings that name the crawl.
    fn settings(&self) -> Result<Settings, CommandFailure> {
        let data = self.data.as_ref().map(|path| path.display().to_string());
        self.settings.load(&[("crawl.data", data)])
    }
}

/// How long answers are waited for.
#[derive(Args, Clone, Copy, Debug)]
pub struct WaitArguments {
    /// How long the stages have to answer, over Kafka; a day at most.
    #[arg(long, default_value = "10s", value_name = "DURATION")]
    wait: humantime::Duration,
}

impl CrawlArguments {
    fn open(&self) -> Result<CrawlState, CommandFailure> {
        let settings =
            self.settings.load(&[("crawl.data", self.data.as_ref().map(|path| path.display().to_string()))])?;
        let source = match (&settings.crawl.data, &settings.kafka.brokers) {
            (Some(data), _) => StateSource::Directory(Box::new(Inspection::open(&settings, data)?)),
            (None, Some(_)) => StateSource::Stages(Box::new(Asker::open(&settings, *self.wait.wait)?)),
            (None, None) => {
                return Err(CommandFailure::Input(
                    "no crawl given: give --data DIR, or --config with kafka.brokers".to_owned(),
                ));
            }
        };
        Ok(CrawlState { settings, source })
    }
}

/// The state of a crawl, to be asked for.
struct CrawlState {
    settings: Settings,
    source: StateSource,
}

/// Where the state of a crawl is.
enum StateSource {
    /// In a data directory.
    Directory(Box<Inspection>),
    /// With its stages, over Kafka.
    Stages(Box<Asker>),
}

/// Selects a page of a crawl.
#[derive(Args, Debug)]
pub struct OnePageArguments {
    /// URL of the page.
    url: String,
    #[command(flatten)]
    crawl: CrawlArguments,
}

impl OnePageArguments {
    /// The page's URL, and the crawl's state.
    fn open(&self) -> Result<(CanonicalUrl, CrawlState), CommandFailure> {
        let url =
            CanonicalUrl::parse(&self.url).map_err(|error| CommandFailure::Input(format!("{}: {error}", self.url)))?;
        let state = self.crawl.open()?;
        Ok((state.settings.urls.rules().apply(url), state))
    }
}
