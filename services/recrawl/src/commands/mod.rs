//! One file per command.

pub mod audit;
pub mod backup;
pub mod changes;
pub mod console;
pub mod dead_letters;
pub mod deliver;
mod delivery;
pub mod diff;
pub mod explain;
pub mod export;
pub mod feed;
pub mod fetch;
pub mod focus;
pub mod forget;
pub mod history;
pub mod hosts;
pub mod identity;
pub mod key;
pub mod lab;
pub mod manual;
pub mod mcp;
pub mod mirror;
pub mod operate;
pub mod page;
pub mod pages;
pub mod robots;
pub mod rules;
pub mod run;
pub mod seed;
pub mod sitemap;
pub mod stage;
pub mod state;
pub mod status;
pub mod study;
pub mod text;

pub mod topics;
pub mod url;

use crate::CommandFailure;
use crate::help::COMMON_OPTIONS;
use crate::one_fetch;
use crate::stages::topologies;
use ::operate::CrawlState;
use ::page::CanonicalUrl;
use clap::Args;
use outputs::source::FollowOptions;
use settings::{Preset, Secrets, Settings};
use std::path::{Path, PathBuf};

/// The configuration file that is read if none is given.
const CONFIG_HERE: &str = "recrawl.toml";

/// Source of the settings, shared by every command that needs them.
#[derive(Args, Clone, Debug, Default)]
pub struct SettingsArguments {
    /// Configuration file (TOML). Its keys can also be set as RECRAWL_SECTION_KEY. Without it `recrawl.toml` in the working directory
    /// is read, if there is one; /dev/null has no settings.
    #[arg(long, env = "RECRAWL_CONFIG", value_name = "FILE", help_heading = COMMON_OPTIONS)]
    pub config: Option<PathBuf>,
    /// Settings of a published system, below those of the configuration file: tianwang, chile, webfountain, site-rank,
    /// skyreach or classified. A state directory keeps the preset of its last `recrawl run`; `none` leaves it.
    #[arg(long, env = "RECRAWL_PRESET", value_name = "SYSTEM", help_heading = COMMON_OPTIONS)]
    pub preset: Option<PresetChoice>,
    /// Overrides one setting: section.key=value. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = COMMON_OPTIONS)]
    pub sets: Vec<String>,
}

/// A preset as it is given: a published system, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetChoice(pub Option<Preset>);

impl std::str::FromStr for PresetChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "none" => Ok(Self(None)),
            name => Ok(Self(Some(name.parse()?))),
        }
    }
}

impl SettingsArguments {
    /// The configuration file: the one given, else that of the working directory.
    fn config_file(&self) -> Option<&Path> {
        let here = || Some(Path::new(CONFIG_HERE)).filter(|here| here.is_file());
        self.config.as_deref().or_else(here)
    }

    /// Loads the settings. `--set` overrides `further`.
    pub fn load(&self, further: &[(&str, Option<String>)]) -> Result<Settings, CommandFailure> {
        self.load_with_preset(further).map(|(settings, _)| settings)
    }

    /// Loads the settings, and says which preset they have: the one given, else the one that the state directory keeps.
    pub fn load_with_preset(
        &self,
        further: &[(&str, Option<String>)],
    ) -> Result<(Settings, Option<Preset>), CommandFailure> {
        let mut overrides: Vec<_> =
            further.iter().filter_map(|(key, value)| value.clone().map(|value| ((*key).to_owned(), value))).collect();
        overrides.extend(setting_overrides(&self.sets)?);
        let config = self.config_file();
        let load = |preset| crate::load::load(preset, config, &overrides);
        if let Some(PresetChoice(preset)) = self.preset {
            return Ok((load(preset)?, preset));
        }
        let data = crate::load::data_directory(config, &overrides)?;
        let kept = data.as_deref().map(::operate::noted_preset).transpose()?.flatten();
        Ok((load(kept)?, kept))
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
    fn open(&self) -> Result<(Settings, Box<dyn CrawlState>), CommandFailure> {
        let settings =
            self.settings.load(&[("crawl.data", self.data.as_ref().map(|path| path.display().to_string()))])?;
        let state = ::operate::state::open(&settings, topologies(), *self.wait.wait)?;
        Ok((settings, state))
    }
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
    fn open(&self) -> Result<(CanonicalUrl, Box<dyn CrawlState>), CommandFailure> {
        self.open_with_settings().map(|(url, _, state)| (url, state))
    }

    fn open_with_settings(&self) -> Result<(CanonicalUrl, Settings, Box<dyn CrawlState>), CommandFailure> {
        let url = one_fetch::parsed(&self.url)?;
        let (settings, state) = self.crawl.open()?;
        Ok((settings.urls.rules().apply(url), settings, state))
    }
}
