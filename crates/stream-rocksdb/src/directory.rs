//! The directory of an embedded log: the files beside the database, and the checks on opening it.
//!
//! An offset of a partition is never assigned twice, although writes are not synced. Each incarnation of the log
//! assigns offsets from its own range. A new incarnation begins whenever writes may be missing: after a power cut, and
//! when the database is behind its high-water mark.

use crate::families::{self, Owner};
use crate::high_water::{HighWater, Since};
use crate::incarnation::{self, Jump, Opened, judge, may_have_lost_power};
use crate::layout::{Incarnation, LogKey, RECORDS};
use crate::options::FamilyOptions;
use crate::rocks::{self, Database};
use crate::sealed::{self, Sealed, field};
use rocksdb::DBRecoveryMode;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use stream::{ErrorKind, LogError};
use tracing::warn;

/// Advice on damage to data that exists nowhere else.
pub(crate) const RESTORE: &str = "restore the data directory from a backup, or move it away to start over";

/// Paths of an embedded log.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub(crate) database: PathBuf,
    /// The database while it is being created.
    new: PathBuf,
    /// Identity file: records that there is a database, and its owner.
    pub(crate) identity: PathBuf,
    /// File of the [`HighWater`] mark.
    pub(crate) high_water: PathBuf,
    /// Lock file, locked by the process that owns the log.
    lock: PathBuf,
}

impl Paths {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self {
            database: data_dir.join("log"),
            new: data_dir.join("log.new"),
            identity: data_dir.join("log.identity"),
            high_water: data_dir.join("log.high-water"),
            lock: data_dir.join("log.lock"),
        }
    }

    /// Whether there is a log, or traces of one.
    pub(crate) fn any(&self) -> bool {
        self.database.exists() || self.identity.exists() || self.high_water.exists()
    }
}

/// The first notes of a log, in its directory until they are moved beside it.
const FIRST_IDENTITY: &str = "first.identity";
const FIRST_HIGH_WATER: &str = "first.high-water";

/// An open log database, with what opening it revealed.
pub(crate) struct Opening {
    pub(crate) database: Database,
    /// Its families except the default one.
    pub(crate) families: BTreeSet<String>,
    pub(crate) owner: Owner,
    pub(crate) opened: Opened,
    pub(crate) options: FamilyOptions,
    /// Locked as long as the database is open.
    pub(crate) lock: File,
}

/// Id of the machine's current boot; `None` if the system provides none.
pub(crate) fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Opens the log of a data directory, or creates it if there was none.
pub(crate) fn open(data_dir: &Path, boot: Option<&str>) -> Result<Opening, LogError> {
    let paths = Paths::new(data_dir);
    sealed::create_private_directory(data_dir).map_err(|error| unusable(data_dir, &error))?;
    let lock = lock(data_dir, &paths.lock)?;
    if !paths.any() {
        create(&paths)?;
    }
    finish_creation(&paths).map_err(|error| unusable(&paths.database, &error))?;
    if !paths.database.join("CURRENT").exists() {
        let (database, identity) = (paths.database.display(), paths.identity.display());
        return Err(stop(format!(
            "log {database} is missing, but {identity} says that it existed; restore the data directory from a \
             backup, or delete the directory to start over and lose everything learned"
        )));
    }
    let noted = HighWater::read(&paths.high_water).map_err(|error| unusable(&paths.high_water, &error))?;
    let since = match &noted {
        Some(noted) => noted.compare(&paths.database).map_err(|error| unusable(&paths.database, &error))?,
        None => Since::Continued,
    };
    if let Since::Damaged(what) = &since {
        return Err(damaged(&paths, what));
    }
    let options = FamilyOptions::new();
    let may_have_holes = may_have_lost_power(noted.as_ref(), boot);
    let (database, _) =
        recover(&paths, &options, may_have_holes).map_err(|error| cannot_open(data_dir, &paths, &error))?;
    let mut opening = verify(database, &paths, options, lock)?;
    opening.begin(&paths, judge(noted.as_ref(), &since, opening.database.latest_sequence_number(), boot))?;
    Ok(opening)
}

fn lock(data_dir: &Path, path: &Path) -> Result<File, LogError> {
    let file = File::create(path).map_err(|error| unusable(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(in_use(data_dir)),
        // A file system without locks. RocksDB's own lock remains.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Creates a log. It is renamed into place once it is complete.
fn create(paths: &Paths) -> Result<(), LogError> {
    if paths.new.exists() {
        fs::remove_dir_all(&paths.new).map_err(|error| unusable(&paths.new, &error))?;
    }
    let fault = |error: rocksdb::Error| stop(rocks::explain("log", &paths.new, &error, RESTORE));
    let options = FamilyOptions::new();
    let mode = DBRecoveryMode::TolerateCorruptedTailRecords;
    let owner = |database: &Database| {
        let log = String::from_utf8_lossy(&database.get_db_identity()?).into_owned();
        Ok(Owner { log, task: None })
    };
    let default = options.of(families::DEFAULT);
    let database = families::create(&paths.new, options.database(mode, true), default, owner).map_err(fault)?;
    let log = families::log_id(&database).map_err(fault)?.unwrap_or_default();
    let owner = Owner { log, task: None };
    families::add(&database, &mut BTreeSet::new(), &owner, RECORDS, &options.of(RECORDS)).map_err(fault)?;
    database.flush_wal(true).map_err(fault)?;
    let noted = HighWater::of(&database, &paths.new, None, true, None).map_err(|error| unusable(&paths.new, &error))?;
    drop(database);
    let finish = || -> io::Result<()> {
        sealed::write(&paths.new.join(FIRST_IDENTITY), &identity_lines(&owner.log, 0), true)?;
        sealed::write(&paths.new.join(FIRST_HIGH_WATER), &noted.lines(), true)?;
        fs::rename(&paths.new, &paths.database)?;
        sealed::sync_directory(&paths.database)
    };
    finish().map_err(|error| unusable(&paths.database, &error))
}

/// Moves the first notes of a new log beside it. A kill before or between the moves leaves them for the next start, which
/// would otherwise take the log for one that has lost its notes.
fn finish_creation(paths: &Paths) -> io::Result<()> {
    for (first, beside) in [(FIRST_IDENTITY, &paths.identity), (FIRST_HIGH_WATER, &paths.high_water)] {
        match fs::rename(paths.database.join(first), beside) {
            Ok(()) => sealed::sync_directory(beside)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens the database and replays its write-ahead log. A kill leaves half a record at the end. A power cut may leave a
/// hole in the middle; then everything after the hole is dropped. Without a power cut a hole is damage.
fn recover(
    paths: &Paths,
    options: &FamilyOptions,
    may_have_holes: bool,
) -> Result<(Database, Vec<String>), rocksdb::Error> {
    let open = |recovery, verify_wals| {
        families::open(&paths.database, &options.database(recovery, verify_wals), |name| options.of(name))
    };
    match open(DBRecoveryMode::TolerateCorruptedTailRecords, true) {
        Err(error) if may_have_holes && rocks::is_damage(&error) => {
            warn!(
                log = %paths.database.display(), %error,
                "the write-ahead log has a gap; the writes after it are lost"
            );
            open(DBRecoveryMode::PointInTime, false)
        }
        opened => opened,
    }
}

/// Checks that all families exist and belong to the log named by the identity file.
fn verify(database: Database, paths: &Paths, options: FamilyOptions, lock: File) -> Result<Opening, LogError> {
    let fault = |error: rocksdb::Error| stop(rocks::explain("log", &paths.database, &error, RESTORE));
    let log = families::log_id(&database).map_err(fault)?;
    let log = log.ok_or_else(|| damaged(paths, "the id of the log is missing"))?;
    let owner = Owner { log, task: None };
    let families = families::verify(&database, &owner).map_err(fault)?.map_err(|what| damaged(paths, &what))?;
    if !families.contains(RECORDS) {
        return Err(damaged(paths, "column family records is missing"));
    }
    let mut incarnation = incarnation::latest(&database).map_err(fault)?;
    match sealed::read(&paths.identity).map_err(|error| unusable(&paths.identity, &error))? {
        Sealed::Whole(lines) => {
            let expected = field(&lines, "log").unwrap_or_default();
            if expected != owner.log {
                let (path, found) = (paths.database.display(), &owner.log);
                return Err(stop(format!(
                    "log {path} is log {found}, but this data directory belongs to log {expected}; restore the right \
                     one, or delete {} to continue with this one",
                    paths.identity.display()
                )));
            }
            incarnation = incarnation.max(field(&lines, "incarnation").and_then(|n| n.parse().ok()).unwrap_or(0));
        }
        Sealed::Missing | Sealed::Damaged => {
            warn!(file = %paths.identity.display(), "missing or damaged; it is rewritten from the database");
        }
    }
    Ok(Opening { database, families, owner, opened: Opened { incarnation, jump: None }, options, lock })
}

impl Opening {
    /// Begins a new incarnation if offsets must jump, before any offset is assigned.
    fn begin(&mut self, paths: &Paths, jump: Option<Jump>) -> Result<(), LogError> {
        let path = paths.database.display();
        if let Some(Jump { missing_writes, power_cut }) = jump {
            self.opened.incarnation += 1;
            let incarnation = self.opened.incarnation;
            if power_cut {
                warn!(
                    log = %path, missing_writes, incarnation,
                    "the machine may have lost power while this log was written: its last writes may be missing. \
                     Offsets jump ahead, so that none is used twice"
                );
            } else {
                warn!(
                    log = %path, missing_writes, incarnation,
                    "this log has changed since it was closed: it is an older copy, or its end is lost. Offsets jump \
                     ahead, so that none is used twice"
                );
            }
        }
        self.opened.jump = jump;
        let Opened { incarnation, .. } = self.opened;
        let lines = identity_lines(&self.owner.log, incarnation);
        if sealed::read(&paths.identity).ok() != Some(Sealed::Whole(lines.clone())) {
            sealed::write(&paths.identity, &lines, true).map_err(|error| unusable(&paths.identity, &error))?;
        }
        if let Some(Jump { missing_writes, power_cut }) = jump {
            let value = Incarnation { missing: missing_writes, power_cut }.encode();
            let written = self.database.put_opt(LogKey::Incarnation(incarnation).encode(), value, &rocks::durable());
            written.map_err(|error| stop(rocks::explain("log", &paths.database, &error, RESTORE)))?;
        }
        Ok(())
    }
}

/// Id of the log that a data directory belongs to; `None` if it is not recorded.
pub(crate) fn noted_log(paths: &Paths) -> Option<String> {
    match sealed::read(&paths.identity) {
        Ok(Sealed::Whole(lines)) => field(&lines, "log").map(str::to_owned),
        _ => None,
    }
}

pub(crate) fn identity_lines(log: &str, incarnation: u32) -> String {
    format!("format {}\nlog {log}\nincarnation {incarnation}\n", families::FORMAT)
}

fn cannot_open(data_dir: &Path, paths: &Paths, error: &rocksdb::Error) -> LogError {
    if rocks::is_locked(error) {
        in_use(data_dir)
    } else {
        stop(rocks::explain("log", &paths.database, error, RESTORE))
    }
}

fn in_use(data_dir: &Path) -> LogError {
    let path = data_dir.display();
    stop(format!("data directory {path} is in use by another recrawl; stop it first, or choose another directory"))
}

fn damaged(paths: &Paths, what: &str) -> LogError {
    stop(rocks::damaged("log", &paths.database, &what, RESTORE))
}

fn unusable(path: &Path, error: &io::Error) -> LogError {
    stop(rocks::unusable("log", path, error))
}

pub(crate) fn stop(message: String) -> LogError {
    LogError::new(ErrorKind::Stop, message)
}
