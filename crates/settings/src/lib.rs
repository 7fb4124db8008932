//! What did the operator ask for?
//!
//! Settings come in layers: [`DEFAULT_TOML`], the operator's files, environment variables
//! (`RECRAWL_<SECTION>_<KEY>`), flags. [`Settings::from_layers`] lays them over each other and gives typed values, or
//! every fault of every layer at once: where it is, what is wrong, what to write instead. [`seeds`] reads the list of
//! pages to begin with.
//!
//! This crate never opens a file, reads the environment, or decides what a setting is good for; it is handed text and
//! gives values. There is no global.

mod check;
mod fault;
mod fetch;
mod form;
mod kafka;
mod raw;
mod reader;
mod sections;
pub mod seeds;
mod sites;
#[cfg(test)]
mod tests;
mod values;

pub use crate::fault::{Fault, Faults, Origin};
pub use crate::fetch::AllowedAddress;
pub use crate::kafka::{KafkaProperties, SaslMechanism, SecurityProtocol};
pub use crate::sections::{
    Budget, Clock, Contents, Crawl, Detector, Discover, Estimator, Fetch, Hints, Http, Kafka, Log, LogFormat,
    Observability, Policy, Politeness, Settings, Urls,
};
pub use crate::values::{Credentials, MediaRange, PortRange, Proxy, Secret};

/// Every setting with its default, commented for the operator: the lowest layer.
pub const DEFAULT_TOML: &str = include_str!("../default.toml");

/// What lies above the defaults, lowest first.
pub struct Layers<'a, E> {
    /// Files as (name for messages, text); a later one counts above an earlier one.
    pub files: &'a [(&'a str, &'a str)],
    /// The environment. Variables that do not begin with `RECRAWL_<SECTION>_` are passed over.
    pub environment: E,
    /// Flags as (`section.key`, value), written as in an environment variable; a later one counts above an earlier one.
    pub overrides: &'a [(String, String)],
}

impl Settings {
    /// Lays the layers over [`DEFAULT_TOML`] and checks everything. Every layer is checked, also where a higher one
    /// overrides it.
    ///
    /// # Errors
    /// All faults at once, in the order of the layers and lines.
    pub fn from_layers<E>(layers: Layers<'_, E>) -> Result<Settings, Faults>
    where
        E: IntoIterator<Item = (String, String)>,
    {
        let mut reader = reader::Reader::default();
        reader.add_file("default.toml", DEFAULT_TOML);
        for (name, text) in layers.files {
            reader.add_file(name, text);
        }
        let mut environment: Vec<_> = layers.environment.into_iter().collect();
        environment.sort();
        for (variable, value) in &environment {
            reader.add_variable(variable, value);
        }
        for (key, value) in layers.overrides {
            reader.add_override(key, value);
        }
        let settings = Settings::read(&mut reader);
        check::check(&settings, &mut reader);
        reader.finish(settings)
    }
}

/// The defaults alone: what [`DEFAULT_TOML`] says.
impl Default for Settings {
    fn default() -> Self {
        let layers = Layers { files: &[], environment: [], overrides: &[] };
        Settings::from_layers(layers).expect("default.toml is part of this crate and tested to be complete and valid")
    }
}
