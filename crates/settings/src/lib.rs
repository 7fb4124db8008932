//! Reads the operator's settings.
//!
//! Settings come in layers: [`DEFAULT_TOML`], a [`Preset`] if one is asked for, the operator's files, environment variables (`RECRAWL_<SECTION>_<KEY>`),
//! and flags. [`Settings::from_layers`] merges them into typed values, or returns the faults of all layers at once,
//! each with its place, the problem and the remedy. Rules and receivers come from files alone. Names of policies, patterns of
//! pages and the like are texts here; a [`Draft`] collects the faults that their own crates find. [`seeds`] reads the list of seed pages.
//!
//! This crate takes text and returns values. It never opens a file or reads the environment, does not interpret a
//! setting, and has no global state.

mod check;
mod draft;
mod fault;
mod fetch;
mod form;
mod kafka;
mod preset;
mod raw;
mod reader;
mod receivers;
mod rules;
mod saved_rules;
mod sections;
pub mod seeds;
mod sites;
#[cfg(test)]
mod tests;
mod values;

pub use crate::draft::Draft;
pub use crate::fault::{Faults, Origin, RuleFault, SettingFault, edit_distance};
pub use crate::fetch::AllowedAddress;
pub use crate::form::Secrets;
pub use crate::kafka::{KafkaProperties, SaslMechanism, SecurityProtocol, is_secret_property};
pub use crate::preset::Preset;
pub use crate::receivers::{Begin, ChangeChoice, MailTarget, Receiver, Target, WebhookTarget};
pub use crate::rules::{CrawlOrders, Permission, Rendering, Rule, compile_rules};
pub use crate::saved_rules::{read_saved_rules, write_saved_rules};
pub use crate::sections::{
    Budget, Clock, Contents, Crawl, Detector, Discover, Estimator, Fetch, Focus, Hints, Http, Identity, Kafka, Log,
    LogFormat, Observability, Output, OutputFormat, Policy, Politeness, Preferences, RankMethod, Ranker, Search,
    Settings, Signing, TRUSTED_PAGES, TextFile, Trace, Urls, WantedFocus,
};
pub use crate::sites::fits_host;
pub use crate::values::{Credentials, MediaRange, PortRange, Proxy, Secret, SecretOrigin, is_host_pattern};

/// Every setting with its default, commented for the operator: the lowest layer.
pub const DEFAULT_TOML: &str = include_str!("../default.toml");

/// The layers above the defaults, lowest first.
pub struct Layers<'a, E> {
    /// Files as (name for messages, text). Later files override earlier ones. A [`Preset`] is the first of them.
    pub files: &'a [(&'a str, &'a str)],
    /// The environment. Variables that do not begin with `RECRAWL_<SECTION>_` are ignored.
    pub environment: E,
    /// Flags as (`section.key`, value), in the notation of environment variables. Later flags override earlier ones.
    pub overrides: &'a [(String, String)],
}

impl Settings {
    /// Merges the layers over [`DEFAULT_TOML`] and checks all that needs no other crate, in all layers: values that a higher
    /// one overrides, too. A [`Draft`] lets the crates that know names and rules check those.
    ///
    /// # Errors
    /// Returns all faults, in the order of layers and lines.
    pub fn from_layers<E>(layers: Layers<'_, E>) -> Result<Settings, Faults>
    where
        E: IntoIterator<Item = (String, String)>,
    {
        Draft::from_layers(layers).finish()
    }
}

/// The crawl orders of a rule as lines of TOML, with secrets masked.
pub fn lines_of_orders(orders: &CrawlOrders) -> Vec<String> {
    let mut lines = Vec::new();
    rules::write_orders(orders, Secrets::Masked, &mut lines);
    lines
}

/// The values of [`DEFAULT_TOML`].
impl Default for Settings {
    fn default() -> Self {
        let layers = Layers { files: &[], environment: [], overrides: &[] };
        Settings::from_layers(layers).expect("default.toml is part of this crate and tested to be complete and valid")
    }
}
