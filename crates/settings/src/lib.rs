//! Reads the operator's settings.
//!
//! Settings come in layers: [`DEFAULT_TOML`], a [`Preset`] if one is asked for, the operator's files, environment variables (`RECRAWL_<SECTION>_<KEY>`),
//! and flags. [`Settings::from_layers`] merges them into typed values, or returns the faults of all layers at once,
//! each with its place, the problem and the remedy. Watch rules come from files alone. [`seeds`] reads the list of seed pages.
//!
//! This crate takes text and returns values. It never opens a file or reads the environment, does not interpret a
//! setting, and has no global state.

mod check;
mod fault;
mod fetch;
mod form;
mod kafka;
mod preset;
mod raw;
mod reader;
mod rules;
mod sections;
pub mod seeds;
mod sites;
#[cfg(test)]
mod tests;
mod values;

use topic::IcuSegmenter;

pub use crate::fault::{Faults, Origin, SettingFault};
pub use crate::fetch::AllowedAddress;
pub use crate::form::Secrets;
pub use crate::kafka::{KafkaProperties, SaslMechanism, SecurityProtocol};
pub use crate::preset::Preset;
pub use crate::sections::{
    Budget, Clock, Contents, Crawl, Detector, Discover, Estimator, Fetch, Hints, Http, Kafka, Log, LogFormat,
    Observability, Output, OutputFormat, Policy, Politeness, RankMethod, Ranker, Settings, Topics, Trace, TrustedPages,
    Urls,
};
pub use crate::values::{Credentials, MediaRange, PortRange, Proxy, Secret};

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
    /// Merges the layers over [`DEFAULT_TOML`] and checks them all. Values that a higher layer overrides are checked
    /// too.
    ///
    /// # Errors
    /// Returns all faults, in the order of layers and lines.
    pub fn from_layers<E>(layers: Layers<'_, E>) -> Result<Settings, Faults>
    where
        E: IntoIterator<Item = (String, String)>,
    {
        let mut reader = reader::SettingsReader::default();
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

/// What a rule says of the crawl of its pages, as lines of TOML with secrets masked.
pub fn lines_of_orders(orders: &scope::CrawlOrders) -> Vec<String> {
    let mut lines = Vec::new();
    rules::write_orders(orders, Secrets::Masked, &mut lines);
    lines
}

impl Settings {
    /// Adds a filter of addresses, one of `crawl.url_filters`: the name and the text of its file.
    ///
    /// # Errors
    /// Returns every line that is none.
    pub fn add_url_filter(&mut self, name: &str, text: &str) -> Result<(), Faults> {
        match scope::UrlFilter::parse(name, text) {
            Ok(filter) => self.scope.add_filter(filter),
            Err(faults) => {
                let fault = |fault: scope::FilterFault| SettingFault {
                    origin: Some(Origin::File { layer: 0, line: fault.line, name: name.to_owned() }),
                    key: None,
                    problem: fault.problem,
                    remedy: fault.remedy,
                };
                return Err(Faults(faults.into_iter().map(fault).collect()));
            }
        }
        Ok(())
    }
}

impl Settings {
    /// Adds a topic that `topics.files` names as a built-in class. Returns `false` if there is no class of the name.
    ///
    /// # Errors
    /// When the settings have another topic of the name, or too many.
    pub fn add_topic_class(&mut self, name: &str) -> Result<bool, Faults> {
        match topic::class(name, &IcuSegmenter::default()) {
            Some(topic) => self.add_topic(topic, None).map(|()| true),
            None => Ok(false),
        }
    }

    /// Adds a topic of `topics.files`: the name and the text of its file.
    ///
    /// # Errors
    /// Returns every line that is wrong.
    pub fn add_topic_file(&mut self, name: &str, text: &str) -> Result<(), Faults> {
        let topic = topic::read_topic(text, &IcuSegmenter::default()).map_err(|error| {
            let fault = |fault: topic::TopicFault| SettingFault {
                origin: Some(Origin::File { layer: 0, line: fault.line, name: name.to_owned() }),
                key: None,
                problem: fault.problem,
                remedy: "recrawl topic list CLASS prints a topic to compare with".to_owned(),
            };
            Faults(error.faults.into_iter().map(fault).collect())
        })?;
        self.add_topic(topic, Some(name))
    }

    fn add_topic(&mut self, topic: topic::Topic, file: Option<&str>) -> Result<(), Faults> {
        let (problem, remedy) = if self.wanted.iter().any(|known| known.name == topic.name) {
            (format!("another topic is called {:?}, too", topic.name), "give each topic a name of its own")
        } else if self.wanted.len() == topic::MAX_TOPICS {
            (format!("there are more than {} topics", topic::MAX_TOPICS), "put the words of several topics into one")
        } else {
            self.wanted.push(topic);
            return Ok(());
        };
        Err(Faults(vec![SettingFault {
            origin: file.map(|name| Origin::File { layer: 0, line: 1, name: name.to_owned() }),
            key: file.is_none().then(|| "topics.files".to_owned()),
            problem,
            remedy: remedy.to_owned(),
        }]))
    }
}

/// The values of [`DEFAULT_TOML`].
impl Default for Settings {
    fn default() -> Self {
        let layers = Layers { files: &[], environment: [], overrides: &[] };
        Settings::from_layers(layers).expect("default.toml is part of this crate and tested to be complete and valid")
    }
}
