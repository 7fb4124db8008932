//! One file per command.

pub mod changes;
pub mod dead_letters;
pub mod demo;
pub mod detect;
pub mod diff;
pub mod explain;
pub mod export;
pub mod fetch;
pub mod hosts;
pub mod mirrors;
pub mod operate;
pub mod page;
pub mod rank;
pub mod robots;
pub mod rules;
pub mod run;
pub mod seed;
pub mod simulate;
pub mod sitemap;
pub mod state;
pub mod status;
pub mod text;
pub mod topic;
pub mod topics;
pub mod url;

use crate::CommandFailure;
use crate::embedded::{CommandSender, stages};
use crate::inspect::Inspection;
use ::page::CanonicalUrl;
use clap::Args;
use daemon::WebClock;
use scheduler::ForgottenPage;
use settings::{Preset, Settings};
use std::path::{Path, PathBuf};
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
        overrides.extend(daemon::service::overrides(&self.sets).map_err(CommandFailure::Input)?);
        Ok(daemon::load(self.preset, self.config.as_deref(), &overrides)?)
    }

    /// Loads the settings and opens the crawl in a data directory, or in that of the settings.
    fn inspect(&self, data: Option<&Path>) -> Result<(Settings, Inspection), CommandFailure> {
        let settings = self.load(&[("crawl.data", data.map(|path| path.display().to_string()))])?;
        let Some(data) = &settings.crawl.data else {
            return Err(CommandFailure::Input("no crawl given: give --data DIR".to_owned()));
        };
        let inspection = Inspection::open(&settings, data)?;
        Ok((settings, inspection))
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
            (None, None, Some(_)) => Arc::new(daemon::service::connect(settings, client)?),
            (None, Some(data), _) => {
                let log = stream_rocksdb::open_log(data)?;
                log.create_topics(&topology::topic_configs(settings, &stages(), settings.log.partitions))?;
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

/// Selects a page of a crawl in a data directory.
#[derive(Args, Debug)]
pub struct OnePageArguments {
    /// URL of the page.
    url: String,
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
}

impl OnePageArguments {
    /// The page's URL, the settings, and the crawl's stored state.
    fn open(&self) -> Result<(CanonicalUrl, Settings, Inspection), CommandFailure> {
        let url =
            CanonicalUrl::parse(&self.url).map_err(|error| CommandFailure::Input(format!("{}: {error}", self.url)))?;
        let (settings, inspection) = self.settings.inspect(self.data.as_deref())?;
        Ok((settings.urls.rules().apply(url), settings, inspection))
    }
}

/// That a page is not known, and what became of it if an operator has forgotten it.
fn not_known(url: &CanonicalUrl, inspection: &Inspection) -> CommandFailure {
    let problem = match inspection.forgotten(url) {
        Err(failure) => return failure,
        Ok(None) => format!("page {url} is not known in this crawl; add it with recrawl seed"),
        Ok(Some(ForgottenPage { forgotten_at, gone_at: Some(gone_at) })) => format!(
            "page {url} was forgotten at {forgotten_at}, and was gone from all stages at {gone_at}; recrawl seed brings it back"
        ),
        Ok(Some(ForgottenPage { forgotten_at, gone_at: None })) => {
            format!("page {url} was forgotten at {forgotten_at}, and is being removed from all stages")
        }
    };
    CommandFailure::No(problem)
}
