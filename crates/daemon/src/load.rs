//! Loads settings from a file, the environment and flags.

use settings::{Layers, Preset, Settings};
use std::path::Path;

/// Why the settings could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The file could not be read.
    Unreadable(String),
    /// The settings are invalid; all problems at once.
    Faults(settings::Faults),
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Unreadable(problem) => f.write_str(problem),
            LoadError::Faults(faults) => faults.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

/// Loads the settings: defaults, then the preset, then the file, then `RECRAWL_…` variables, then `overrides` (`section.key`, value).
pub fn load(
    preset: Option<Preset>,
    file: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Settings, LoadError> {
    let name = file.map(|path| path.display().to_string()).unwrap_or_default();
    let text = match file {
        Some(path) => std::fs::read_to_string(path).map_err(|error| {
            LoadError::Unreadable(format!("cannot read configuration file {name}: {error}; check --config"))
        })?,
        None => String::new(),
    };
    let preset = preset.map(|preset| (format!("preset {}", preset.name()), preset.toml()));
    let preset = preset.as_ref().map(|(name, text)| (name.as_str(), *text));
    let files: Vec<_> = preset.into_iter().chain(file.map(|_| (name.as_str(), text.as_str()))).collect();
    let layers = Layers { files: &files, environment: std::env::vars(), overrides };
    let mut settings = Settings::from_layers(layers).map_err(LoadError::Faults)?;
    for path in settings.crawl.url_filters.clone() {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            LoadError::Unreadable(format!("crawl.url_filters: cannot read {name}: {error}; check the name"))
        })?;
        settings.add_url_filter(&name, &text).map_err(LoadError::Faults)?;
    }
    for path in settings.topics.files.clone() {
        let name = path.display().to_string();
        if settings.add_topic_class(&name).map_err(LoadError::Faults)? {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let problem = format!("topics.files: cannot read {name}: {error}");
            LoadError::Unreadable(format!("{problem}; check the name, or take one of recrawl topic list"))
        })?;
        settings.add_topic_file(&name, &text).map_err(LoadError::Faults)?;
    }
    Ok(settings)
}
