//! The preset of a crawl, beside its state: later starts and commands that read the directory go by it.

use crate::access::write_private;
use daemon::CommandFailure;
use settings::Preset;
use std::path::Path;
use std::{fs, io};

/// File in the data directory with the name of the preset.
const PRESET_FILE: &str = "preset";

/// Notes the preset of a start in its data directory; `None` removes the note of an earlier start.
///
/// # Errors
/// The file cannot be written.
pub fn note_preset(data: &Path, preset: Option<Preset>) -> io::Result<()> {
    let file = data.join(PRESET_FILE);
    match preset {
        Some(preset) => write_private(&file, format!("{}\n", preset.name()).as_bytes()),
        None => match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

/// The preset that a start on a data directory has noted.
///
/// # Errors
/// The file cannot be read, or names no preset.
pub fn noted_preset(data: &Path) -> Result<Option<Preset>, CommandFailure> {
    let file = data.join(PRESET_FILE);
    let failed = |problem: &str| {
        let next = "give --preset SYSTEM, or --preset none, to the next recrawl run, which writes it anew";
        CommandFailure::Input(format!("{}: {problem}; {next}", file.display()))
    };
    match fs::read_to_string(&file) {
        // A path that is not a directory is reported when the log is opened.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failed(&error.to_string())),
        Ok(name) => name.trim().parse().map(Some).map_err(|problem: String| failed(&problem)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_noted_until_a_start_without_one() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(noted_preset(data.path()).unwrap(), None);
        for preset in Preset::ALL.into_iter().map(Some).chain([None, None]) {
            note_preset(data.path(), preset).unwrap();
            assert_eq!(noted_preset(data.path()).unwrap(), preset);
        }
        fs::write(data.path().join(PRESET_FILE), "google\n").unwrap();
        let failure = noted_preset(data.path()).unwrap_err().to_string();
        assert!(failure.contains("no preset google") && failure.contains("--preset none"), "{failure}");
    }
}
