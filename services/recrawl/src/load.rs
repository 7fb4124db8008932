//! Loads settings from a file, the environment and flags, and lets each crate check the texts that it gives a meaning.

use settings::{Draft, Faults, Layers, Preset, Settings, TextFile, WantedFocus};
use std::path::{Path, PathBuf};

/// Why the settings could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The file could not be read.
    Unreadable(String),
    /// The settings are invalid; all problems at once.
    Faults(Faults),
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

impl From<LoadError> for crate::CommandFailure {
    fn from(error: LoadError) -> Self {
        Self::Input(error.to_string())
    }
}

/// The settings of these layers, with names and rules checked. Files that they name are not read.
///
/// # Errors
/// Returns all faults, in the order of layers and lines.
pub fn from_layers<E>(layers: Layers<'_, E>) -> Result<Settings, Faults>
where
    E: IntoIterator<Item = (String, String)>,
{
    let mut draft = Draft::from_layers(layers);
    frontier::check_names(&mut draft);
    scope::check_rules(&mut draft);
    watch::check_rules(&mut draft);
    outputs::delivery::check_receivers(&mut draft);
    ranker::check_trusted(&mut draft);
    draft.finish()
}

/// The state directory that the file, the environment and the overrides name. The settings may be valid only with the preset that
/// it keeps, so they are not checked.
pub fn data_directory(file: Option<&Path>, overrides: &[(String, String)]) -> Result<Option<PathBuf>, LoadError> {
    let (name, text) = read(file)?;
    let files = [(name.as_str(), text.as_str())];
    let layers = Layers { files: &files[..usize::from(file.is_some())], environment: std::env::vars(), overrides };
    Ok(Draft::from_layers(layers).settings().crawl.data.clone())
}

/// Name and text of a configuration file; empty without one.
fn read(file: Option<&Path>) -> Result<(String, String), LoadError> {
    let Some(path) = file else { return Ok(Default::default()) };
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let problem = format!("cannot read configuration file {name}: {error}; check --config");
            Err(LoadError::Unreadable(problem))
        }
    }
}

/// Loads the settings: defaults, then the preset, then the file, then `RECRAWL_…` variables, then `overrides` (`section.key`, value).
pub fn load(
    preset: Option<Preset>,
    file: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Settings, LoadError> {
    let (name, text) = read(file)?;
    let preset = preset.map(|preset| (format!("preset {}", preset.name()), preset.toml()));
    let preset = preset.as_ref().map(|(name, text)| (name.as_str(), *text));
    let files: Vec<_> = preset.into_iter().chain(file.map(|_| (name.as_str(), text.as_str()))).collect();
    let layers = Layers { files: &files, environment: std::env::vars(), overrides };
    let mut settings = from_layers(layers).map_err(LoadError::Faults)?;
    for path in settings.crawl.url_filters.clone() {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            LoadError::Unreadable(format!("crawl.url_filters: cannot read {name}: {error}; check the name"))
        })?;
        settings.url_filters.push(TextFile { name, text });
    }
    if !settings.url_filters.is_empty() {
        scope::configured(&settings).map_err(LoadError::Faults)?;
    }
    if !settings.focus.files.is_empty() {
        add_focuses(&mut settings)?;
    }
    Ok(settings)
}

/// Adds the focuses that the settings name, and checks them.
fn add_focuses(settings: &mut Settings) -> Result<(), LoadError> {
    let segmenter = focus::IcuSegmenter::default();
    let classes: Vec<_> = focus::classes(&segmenter).into_iter().map(|class| class.name).collect();
    for path in settings.focus.files.clone() {
        let name = path.display().to_string();
        if classes.contains(&name) {
            settings.wanted.push(WantedFocus::Class(name));
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let problem = format!("focus.files: cannot read {name}: {error}");
            LoadError::Unreadable(format!("{problem}; check the name, or take one of recrawl focus list"))
        })?;
        settings.wanted.push(WantedFocus::File(TextFile { name, text }));
    }
    focus::configured(settings, &segmenter).map_err(LoadError::Faults)?;
    Ok(())
}
