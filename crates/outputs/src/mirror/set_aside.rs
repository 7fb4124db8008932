//! Updates that an index has rejected, beside the progress of the mirror.

use super::batch::PageUpdate;
use daemon::CommandFailure;
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Size after which the file grows no further. Later rejections are only counted.
const MAX_BYTES: u64 = 16 << 20;
/// Longest reason, in characters.
const MAX_REASON: usize = 500;

/// A file with a line of JSON for each of them.
pub(super) struct SetAside {
    path: PathBuf,
}

impl SetAside {
    /// The file beside this one, with `.rejected.jsonl` behind its name.
    pub(super) fn beside(note: &str) -> Self {
        Self { path: PathBuf::from(format!("{note}.rejected.jsonl")) }
    }

    /// Where it is, for people.
    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Adds updates with the reasons.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn add(&self, rejected: &[(&PageUpdate, String)]) -> Result<(), CommandFailure> {
        let mut lines = String::new();
        for (update, reason) in rejected {
            let content = update.content();
            let reason: String = reason.chars().take(MAX_REASON).collect();
            let line = json!({
                "url": content.url.as_str(), "page_id": content.page_id, "verdict": content.verdict,
                "seen_at": content.seen_at.to_string(), "reason": reason,
            });
            lines.push_str(&format!("{line}\n"));
        }
        let add = || {
            let mut file = File::options().create(true).append(true).mode(0o600).open(&self.path)?;
            if file.metadata()?.len() < MAX_BYTES { file.write_all(lines.as_bytes()) } else { Ok(()) }
        };
        add().map_err(|error: std::io::Error| CommandFailure::World(format!("{}: {error}", self.path.display())))
    }
}
