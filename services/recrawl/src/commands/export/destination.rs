//! Where an export's files go: a directory, or object storage.

use super::Limits;
use super::files::{NumberedFiles, NumberedNames, cannot};
use super::objects::NumberedObjects;
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{FollowArguments, Start};
use crate::object_storage::{Bucket, StorageAddress};
use clap::Args;
use page::Timestamp;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Longest time for which uploads may be tried again. Storage refuses requests that were signed 15 minutes ago.
const LONGEST_RETRY: std::time::Duration = std::time::Duration::from_secs(600);

/// Object storage that files go to.
#[derive(Args, Debug)]
pub(super) struct StorageArguments {
    /// Object storage for the files: s3://BUCKET/PREFIX. Credentials, region and endpoint come from the environment
    /// (AWS_ACCESS_KEY_ID …). The export goes on where the last one to the same place has stopped.
    #[arg(long, value_name = "URL", conflicts_with = "out")]
    to: Option<StorageAddress>,
    /// Ends with an error when object storage has not answered for so long.
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = retry, requires = "to")]
    give_up_after: std::time::Duration,
}

fn retry(text: &str) -> Result<std::time::Duration, String> {
    let duration: std::time::Duration = text.parse::<humantime::Duration>().map_err(|error| error.to_string())?.into();
    if duration <= LONGEST_RETRY { Ok(duration) } else { Err("give at most 10m".to_owned()) }
}

impl StorageArguments {
    /// Whether files go to object storage.
    pub(super) fn is_given(&self) -> bool {
        self.to.is_some()
    }
}

/// A completed file.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) records: u64,
}

/// Takes files, one at a time.
pub(super) enum Destination {
    Directory(NumberedFiles),
    Storage(Box<NumberedObjects>),
}

/// A file that is being written. What goes to object storage is held until it makes a part.
pub(super) enum Output {
    File(File),
    Held(Vec<u8>),
}

impl Destination {
    /// Opens object storage, or else the directory. `topic` has its prefix.
    pub(super) fn open(
        storage: &StorageArguments,
        out: Option<&Path>,
        (limits, ending): (&Limits, &'static str),
        topic: &str,
    ) -> Result<Self, CommandFailure> {
        let names = NumberedNames { prefix: limits.prefix.clone(), ending, next: 0 };
        match (&storage.to, out) {
            (Some(address), _) => {
                let bucket = Bucket::open(address, storage.give_up_after)?;
                let objects = NumberedObjects::open(bucket, names, limits.max_file_bytes, topic)?;
                Ok(Destination::Storage(Box::new(objects)))
            }
            (None, Some(directory)) => Ok(Destination::Directory(NumberedFiles::open(directory, names)?)),
            (None, None) => Err(CommandFailure::Input("give --out or --to".to_owned())),
        }
    }

    /// Where reading begins.
    pub(super) fn start(&self, follow: &FollowArguments) -> Result<Start, CommandFailure> {
        let Destination::Storage(objects) = self else { return Ok(follow.start()) };
        let (Some(cursor), shown) = objects.position() else { return Ok(follow.start()) };
        if follow.has_cursor() {
            return Err(CommandFailure::Input(format!(
                "--cursor: {shown} has a cursor already; leave --cursor out, or delete the object"
            )));
        }
        Ok(Start { cursor: Some(cursor), named: format!("the cursor in {shown}") })
    }

    /// Begins a file whose first record is of this time. Returns it with its name when complete.
    pub(super) fn begin(&mut self, first: Timestamp) -> Result<(Output, String), CommandFailure> {
        match self {
            Destination::Directory(files) => files.begin(first).map(|(file, name)| (Output::File(file), name)),
            Destination::Storage(objects) => Ok((Output::Held(Vec::new()), objects.begin(first)?)),
        }
    }

    /// Sends what makes whole parts.
    pub(super) fn send_parts(&mut self, out: &mut Output) -> Result<(), CommandFailure> {
        match (self, out) {
            (Destination::Storage(objects), Output::Held(held)) => objects.send_parts(held),
            (_, Output::File(_)) | (Destination::Directory(_), Output::Held(_)) => Ok(()),
        }
    }

    /// Completes a file, which has everything before this position that earlier ones have not.
    pub(super) fn complete(
        &mut self,
        name: &str,
        out: Output,
        records: u64,
        cursor: &Cursor,
    ) -> Result<Finished, CommandFailure> {
        let (file, bytes) = match (self, out) {
            (Destination::Directory(files), Output::File(file)) => {
                let path = files.complete(name, &file)?;
                (path.display().to_string(), file.metadata()?.len())
            }
            (Destination::Storage(objects), Output::Held(held)) => objects.complete(held, cursor)?,
            (Destination::Directory(_), Output::Held(_)) | (Destination::Storage(_), Output::File(_)) => {
                unreachable!("a destination gets its own files back")
            }
        };
        Ok(Finished { file, bytes, records })
    }

    /// Notes that there is nothing to write before this position.
    pub(super) fn pass(&mut self, cursor: &Cursor) -> Result<(), CommandFailure> {
        match self {
            Destination::Directory(_) => Ok(()),
            Destination::Storage(objects) => objects.pass(cursor),
        }
    }

    /// The failure of a write to a file.
    pub(super) fn cannot(&self, name: &str, error: &std::io::Error) -> CommandFailure {
        match self {
            Destination::Directory(files) => cannot(&files.path_of_open(name), error),
            Destination::Storage(_) => CommandFailure::World(format!("{name}: {error}")),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Output::File(file) => file.write(bytes),
            Output::Held(held) => held.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Output::File(file) => file.flush(),
            Output::Held(_) => Ok(()),
        }
    }
}
