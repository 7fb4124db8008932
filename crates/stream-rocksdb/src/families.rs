//! Column families of a database, and their owners.
//!
//! Every family carries an identity: the log, the task, its own name. The default family lists all others. This
//! distinguishes a family that RocksDB lost, or that came from another database, from one that a new version has just
//! created.

use crate::rocks::{Database, durable};
use rocksdb::{Options, WriteBatch};
use std::collections::BTreeSet;
use std::path::Path;
use stream::TaskId;

/// Version of the database layout. Other versions cannot be read.
pub(crate) const FORMAT: u32 = 1;
/// Prefix of this module's keys. Keys of records and state never begin with it: that would be topic or partition number
/// 2³² − 1.
const RESERVED: [u8; 4] = [0xff; 4];
/// The family of data that concerns the whole database.
pub(crate) const DEFAULT: &str = "default";

/// Owner of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Id of the log.
    pub(crate) log: String,
    /// The task whose state it is; `None` for the log itself.
    pub(crate) task: Option<TaskId>,
}

impl Owner {
    /// Identity of a family of this owner.
    pub(crate) fn identity(&self, family: &str) -> String {
        let task = self.task.as_ref().map(|task| format!("task {task}\n")).unwrap_or_default();
        format!("format {FORMAT}\nlog {}\n{task}family {family}\n", self.log)
    }

    /// Why a family does not belong to this owner; `None` if it does.
    fn fault(&self, family: &str, found: Option<&[u8]>) -> Option<String> {
        let Some(found) = found else { return Some(format!("the contents of column family {family} are lost")) };
        let found = String::from_utf8_lossy(found);
        let expected = self.identity(family);
        if found == expected {
            return None;
        }
        let other =
            expected.lines().zip(found.lines().chain(std::iter::repeat(""))).find(|(ours, theirs)| ours != theirs);
        let (ours, theirs) = other.unwrap_or(("nothing more", "more"));
        Some(format!("column family {family} belongs to {theirs:?}, not to {ours:?}"))
    }
}

/// Key of the identity; every family has one.
pub(crate) fn identity_key() -> Vec<u8> {
    [&RESERVED[..], b"identity"].concat()
}

/// Key of the list of families, in the default family.
fn list_key() -> Vec<u8> {
    [&RESERVED[..], b"families"].concat()
}

/// Whether a key is reserved for this module.
pub(crate) fn is_reserved(key: &[u8]) -> bool {
    key.starts_with(&RESERVED)
}

pub(crate) fn create(
    path: &Path,
    mut options: Options,
    default: Options,
    owner: impl FnOnce(&Database) -> Result<Owner, rocksdb::Error>,
) -> Result<Database, rocksdb::Error> {
    options.create_if_missing(true);
    options.set_error_if_exists(true);
    let database = Database::open_cf_with_opts(&options, path, [(DEFAULT, default)])?;
    let mut batch = WriteBatch::default();
    batch.put(identity_key(), owner(&database)?.identity(DEFAULT));
    batch.put(list_key(), "");
    database.write_opt(batch, &durable())?;
    Ok(database)
}

/// Opens an existing database with all its families.
pub(crate) fn open(
    path: &Path,
    options: &Options,
    family_options: impl Fn(&str) -> Options,
) -> Result<(Database, Vec<String>), rocksdb::Error> {
    let families = Database::list_cf(options, path)?;
    let with_options = families.iter().map(|name| (name.clone(), family_options(name)));
    let database = Database::open_cf_with_opts(options, path, with_options)?;
    Ok((database, families))
}

/// Id of the log, as recorded in the default family.
pub(crate) fn log_id(database: &Database) -> Result<Option<String>, rocksdb::Error> {
    let identity = database.get(identity_key())?.unwrap_or_default();
    let identity = String::from_utf8_lossy(&identity);
    Ok(crate::sealed::field(&identity, "log").map(str::to_owned))
}

/// The families listed by the database, after verifying that each belongs to the owner. The inner error describes a
/// mismatch.
pub(crate) fn verify(database: &Database, owner: &Owner) -> Result<Result<BTreeSet<String>, String>, rocksdb::Error> {
    if let Some(fault) = owner.fault(DEFAULT, database.get(identity_key())?.as_deref()) {
        return Ok(Err(fault));
    }
    let Some(listed) = listed(database)? else { return Ok(Err("its list of stores is missing".to_owned())) };
    for name in &listed {
        let Some(family) = database.cf_handle(name) else { return Ok(Err(format!("column family {name} is missing"))) };
        if let Some(fault) = owner.fault(name, database.get_cf(&family, identity_key())?.as_deref()) {
            return Ok(Err(fault));
        }
    }
    Ok(Ok(listed))
}

/// The listed families, without the default one; `None` if there is no list.
fn listed(database: &Database) -> Result<Option<BTreeSet<String>>, rocksdb::Error> {
    let list = database.get(list_key())?;
    Ok(list.map(|names| String::from_utf8_lossy(&names).lines().map(str::to_owned).collect()))
}

/// Adds an empty family.
pub(crate) fn add(
    database: &Database,
    listed: &mut BTreeSet<String>,
    owner: &Owner,
    name: &str,
    options: &Options,
) -> Result<(), rocksdb::Error> {
    // Left over from an interrupted addition or removal.
    if database.cf_handle(name).is_some() {
        database.drop_cf(name)?;
    }
    database.create_cf(name, options)?;
    let family = database.cf_handle(name).expect("the family was created above");
    let mut after = listed.clone();
    after.insert(name.to_owned());
    let mut batch = WriteBatch::default();
    batch.put_cf(&family, identity_key(), owner.identity(name));
    batch.put(list_key(), list(&after));
    database.write(batch)?;
    *listed = after;
    Ok(())
}

/// Removes a family, with `further` writes in the same batch. If the process dies half-way, the remaining family is not
/// listed. Synced, because the removal itself is: after a power cut, a list that names a removed family would look like
/// damage.
pub(crate) fn remove(
    database: &Database,
    listed: &mut BTreeSet<String>,
    name: &str,
    mut further: WriteBatch,
) -> Result<(), rocksdb::Error> {
    listed.remove(name);
    further.put(list_key(), list(listed));
    database.write_opt(further, &durable())?;
    database.drop_cf(name)
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}
