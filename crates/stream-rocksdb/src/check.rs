//! Reads a data directory from end to end and reports problems. Changes nothing.

use crate::checkpoint::{self, CHECKPOINT};
use crate::directory::{self, Paths};
use crate::families::{self, Owner, is_reserved};
use crate::high_water::{HighWater, Since};
use crate::layout::{Incarnation, LogKey, RECORDS, StoredRecord};
use crate::rocks::{self, Database};
use crate::store::HIGH_WATER;
use rocksdb::{DBRecoveryMode, Direction, IteratorMode, ReadOptions};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use stream::TaskId;

/// Contents of a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectoryReport {
    /// The embedded log, and task state kept beside another log.
    pub databases: Vec<DatabaseReport>,
    /// State set aside as untrustworthy. Nothing reads it.
    pub set_aside: Vec<String>,
}

/// Contents of one database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatabaseReport {
    /// Its directory.
    pub path: String,
    /// Id of the log it belongs to; `None` if it is not recorded.
    pub log: Option<String>,
    /// The task whose state it holds; `None` for the embedded log itself.
    pub task: Option<String>,
    pub families: Vec<FamilyReport>,
    /// Next input offset reflected by the state of a task.
    pub input_next: Option<u64>,
    /// Next changelog offset of each store.
    pub changelogs: Vec<(String, Option<u64>)>,
    /// Places where offsets jumped because writes may have been lost.
    pub gaps: Vec<GapReport>,
    /// Problems found; empty if the database is sound.
    pub problems: Vec<String>,
}

/// Contents of one column family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyReport {
    pub name: String,
    /// Number of entries, read one by one.
    pub entries: u64,
    /// Total size of keys and values.
    pub bytes: u64,
}

/// A jump of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GapReport {
    /// Incarnation of the log that began with it.
    pub incarnation: u32,
    /// Number of writes known to be missing.
    pub missing_writes: u64,
    /// Whether the machine may have lost power.
    pub power_cut: bool,
}

impl DirectoryReport {
    /// Whether no problems were found.
    pub fn is_sound(&self) -> bool {
        self.databases.iter().all(|database| database.problems.is_empty())
    }
}

/// Reads everything in a data directory, of an embedded crawl or of a service on another log. A process may be using
/// it; its current writes are left out.
///
/// # Errors
/// If a directory cannot be listed.
pub fn check(data_dir: &Path) -> io::Result<DirectoryReport> {
    let mut report = DirectoryReport::default();
    let paths = Paths::new(data_dir);
    if paths.any() {
        report.databases.push(check_log(&paths));
    }
    for (stage, directory) in directories(data_dir)?.into_iter().filter(|(_, path)| *path != paths.database) {
        for (name, path) in directories(&directory)? {
            if name.contains(".set-aside-") {
                report.set_aside.push(path.display().to_string());
            } else if let Ok(partition) = name.parse() {
                report.databases.push(check_task(&path, TaskId { stage: stage.clone(), partition }));
            }
        }
    }
    Ok(report)
}

/// Subdirectories of a directory, with their names.
fn directories(path: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

fn check_log(paths: &Paths) -> DatabaseReport {
    let mut check = Check::new(&paths.database, None);
    let Some((database, noted)) = check.open(&paths.high_water) else { return check.report };
    let sequence = database.latest_sequence_number();
    if let Some(missing) = noted.and_then(|noted| noted.sequence.checked_sub(sequence)).filter(|missing| *missing > 0) {
        check.problem(format!("its last {missing} writes are missing"));
    }
    check.read(&database, |check, family, key, value| {
        if family == RECORDS && !is_reserved(key) && StoredRecord::decode(value).is_none() {
            check.problem(format!("the record under {key:?} is unreadable"));
        }
    });
    check.gaps(&database);
    if let Some(expected) = directory::noted_log(paths).filter(|expected| check.report.log.as_ref() != Some(expected)) {
        check.problem(format!("the data directory belongs to log {expected}"));
    }
    check.report
}

fn check_task(path: &Path, task: TaskId) -> DatabaseReport {
    let mut check = Check::new(path, Some(task));
    let Some((database, _)) = check.open(&path.join(HIGH_WATER)) else { return check.report };
    check.read(&database, |_, _, _, _| {});
    match database.get(CHECKPOINT).map(|bytes| bytes.map(|bytes| checkpoint::parts(&bytes))) {
        Ok(None) => {}
        Ok(Some(Some((input_next, parts)))) => {
            check.report.input_next = input_next;
            check.report.changelogs = parts.into_iter().map(|(name, part)| (name, part.changelog_next)).collect();
        }
        Ok(Some(None)) => check.problem("its checkpoint is unreadable".to_owned()),
        Err(error) => check.problem(error.to_string()),
    }
    check.report
}

/// The check of one database.
struct Check<'a> {
    path: &'a Path,
    task: Option<TaskId>,
    report: DatabaseReport,
}

impl<'a> Check<'a> {
    fn new(path: &'a Path, task: Option<TaskId>) -> Self {
        let named = task.as_ref().map(ToString::to_string);
        let report = DatabaseReport { path: path.display().to_string(), task: named, ..DatabaseReport::default() };
        Self { path, task, report }
    }

    fn problem(&mut self, what: String) {
        if !self.report.problems.contains(&what) {
            self.report.problems.push(what);
        }
    }

    /// Opens the database and compares it with its high-water mark; `None` if it cannot be opened.
    fn open(&mut self, high_water: &Path) -> Option<(Database, Option<HighWater>)> {
        let noted = match HighWater::read(high_water) {
            Ok(noted) => noted,
            Err(error) => {
                self.problem(error.to_string());
                None
            }
        };
        match noted.as_ref().map(|noted| noted.compare(self.path)) {
            None => self.problem(format!("{} is missing or damaged", high_water.display())),
            Some(Ok(Since::Continued | Since::Later)) => {}
            // A backup.
            Some(Ok(Since::Earlier)) if noted.as_ref().is_some_and(HighWater::is_of_older_copy) => {}
            Some(Ok(Since::Earlier)) => self.problem("it is an older copy".to_owned()),
            Some(Ok(Since::Damaged(what))) => self.problem(what),
            Some(Err(error)) => self.problem(error.to_string()),
        }
        // Open strictly first: a record that point-in-time recovery skips is damage, unless it is being written right
        // now.
        let strictly = rocks::open_read_only(self.path, DBRecoveryMode::TolerateCorruptedTailRecords);
        let opened = strictly.or_else(|error| {
            self.problem(error.to_string());
            rocks::open_read_only(self.path, DBRecoveryMode::PointInTime)
        });
        match opened {
            Ok((database, _)) => Some((database, noted)),
            Err(error) => {
                self.problem(error.to_string());
                None
            }
        }
    }

    /// Reads every entry of every family, checksums included.
    fn read(&mut self, database: &Database, mut visit: impl FnMut(&mut Self, &str, &[u8], &[u8])) {
        for name in self.families(database) {
            let Some(family) = database.cf_handle(&name) else { continue };
            let mut options = ReadOptions::default();
            options.set_verify_checksums(true);
            options.fill_cache(false);
            let mut found = FamilyReport { name: name.clone(), entries: 0, bytes: 0 };
            let mut iterator = database.raw_iterator_cf_opt(&family, options);
            iterator.seek_to_first();
            while let Some((key, value)) = iterator.item() {
                found.entries += u64::from(!is_reserved(key));
                found.bytes += (key.len() + value.len()) as u64;
                visit(self, &name, key, value);
                iterator.next();
            }
            if let Err(error) = iterator.status() {
                self.problem(format!("column family {name} cannot be read to its end: {error}"));
            }
            self.report.families.push(found);
        }
    }

    /// The families listed by the database, after verifying their identities.
    fn families(&mut self, database: &Database) -> BTreeSet<String> {
        let mut verify = || -> Result<BTreeSet<String>, String> {
            self.report.log = families::log_id(database).map_err(|error| error.to_string())?;
            let log = self.report.log.clone().ok_or("the id of its log is missing")?;
            let owner = Owner { log, task: self.task.clone() };
            families::verify(database, &owner).map_err(|error| error.to_string())?
        };
        match verify() {
            Ok(mut listed) => {
                listed.insert(families::DEFAULT.to_owned());
                listed
            }
            Err(what) => {
                self.problem(what);
                BTreeSet::from([families::DEFAULT.to_owned()])
            }
        }
    }

    fn gaps(&mut self, database: &Database) {
        for entry in database.iterator(IteratorMode::From(&[LogKey::INCARNATION], Direction::Forward)) {
            let Ok((key, value)) = entry else { break };
            if key.first() != Some(&LogKey::INCARNATION) {
                break;
            }
            if let Some((incarnation, Incarnation { missing, power_cut })) = Incarnation::decode(&key, &value) {
                self.report.gaps.push(GapReport { incarnation, missing_writes: missing, power_cut });
            }
        }
    }
}
