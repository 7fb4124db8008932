//! Copies of a running log, and copies that become a log of their own.

use crate::EmbeddedBackend;
use crate::directory::{self, Paths, RESTORE, stop};
use crate::families::{self, DEFAULT, Owner};
use crate::high_water::HighWater;
use crate::rocks::{self, durable};
use crate::sealed;
use rocksdb::checkpoint::Checkpoint;
use rocksdb::{DBRecoveryMode, WriteBatch};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use stream::LogError;

impl EmbeddedBackend {
    /// Makes a data directory that holds this log at one moment, also while it is written to. A commit is one batch of
    /// records, positions and state, so each is in the copy as a whole or not at all. Records of transient topics are missing, as after
    /// a kill. Tables, which never change, are links where both directories are on one file system.
    ///
    /// The directory appears when it is complete. Its offsets jump at the first opening, because the original goes on to
    /// assign those that follow.
    pub fn back_up(&self, to: &Path) -> Result<(), LogError> {
        if to.exists() {
            return Err(stop(format!("{} exists; name a directory that does not, for the backup", to.display())));
        }
        let unfinished = unfinished(to);
        let unusable = |error: io::Error| stop(rocks::unusable("backup", &unfinished, &error));
        match fs::remove_dir_all(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unusable(error)),
            _ => {}
        }
        sealed::create_private_directory(&unfinished).map_err(unusable)?;
        let paths = Paths::new(&unfinished);
        let fault = |error: rocksdb::Error| stop(rocks::explain("backup", &paths.database, &error, "make another"));
        {
            // Meanwhile no store is added or removed.
            let _families = self.families();
            Checkpoint::new(&self.database)
                .and_then(|checkpoint| checkpoint.create_checkpoint(&paths.database))
                .map_err(fault)?;
        }
        let (view, _) = rocks::open_read_only(&paths.database, DBRecoveryMode::AbsoluteConsistency).map_err(fault)?;
        let noted = HighWater::of_older_copy(view.latest_sequence_number());
        drop(view);
        let finish = || {
            let identity = directory::identity_lines(self.log_id(), self.incarnation.load(Ordering::Relaxed));
            sealed::write(&paths.identity, &identity, true)?;
            sealed::write(&paths.high_water, &noted.lines(), true)?;
            fs::rename(&unfinished, to)?;
            sealed::sync_directory(to)
        };
        finish().map_err(unusable)
    }
}

/// The directory of a backup until it is complete.
fn unfinished(to: &Path) -> PathBuf {
    let mut path = to.as_os_str().to_owned();
    path.push(".unfinished");
    path.into()
}

/// Gives the log of a data directory a new id, and returns it. A copy that goes on beside the original is then a crawl of its own:
/// cursors and the progress of exports belong to one of the two.
pub fn make_new_log(data_dir: &Path) -> Result<String, LogError> {
    let paths = Paths::new(data_dir);
    if !paths.any() {
        return Err(stop(format!("no log in {}; check the data directory", data_dir.display())));
    }
    let log = EmbeddedBackend::open(data_dir)?;
    let unusable = |path: &Path, error: io::Error| stop(rocks::unusable("log", path, &error));
    let source = Path::new("/proc/sys/kernel/random/uuid");
    let id = fs::read_to_string(source).map_err(|error| unusable(source, error))?.trim().to_owned();
    let owner = Owner { log: id.clone(), task: None };
    let mut batch = WriteBatch::default();
    batch.put(families::identity_key(), owner.identity(DEFAULT));
    for name in log.families().iter() {
        batch.put_cf(&log.family(name)?, families::identity_key(), owner.identity(name));
    }
    // If the process ends before the next file is written, the id is read from the database.
    fs::remove_file(&paths.identity)
        .and_then(|()| sealed::sync_directory(&paths.identity))
        .map_err(|error| unusable(&paths.identity, error))?;
    let written = log.database.write_opt(batch, &durable());
    written.map_err(|error| stop(rocks::explain("log", &paths.database, &error, RESTORE)))?;
    let lines = directory::identity_lines(&id, log.incarnation.load(Ordering::Relaxed));
    sealed::write(&paths.identity, &lines, true).map_err(|error| unusable(&paths.identity, error))?;
    Ok(id)
}
