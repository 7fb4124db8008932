//! Where records go.

mod bucket;
mod companions;
mod directory;
mod files;
pub mod mail;
mod names;
mod objects;
pub mod printer;
pub mod program;
pub mod signature;
pub mod webhook;

pub use self::bucket::StorageAddress;
pub use self::directory::Directory;
pub use self::files::{FileSink, OpenFiles};

use self::bucket::Bucket;
use self::directory::OPEN;
use self::names::NumberedNames;
use self::objects::Objects;
use crate::encoder::FileEncoder;
use crate::progress::Progress;
use crate::record::{ChangeDigest, PublishedChange};
use clap::Args;
use daemon::CommandFailure;
use std::io::BufRead;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest time for which uploads may be tried again. Storage refuses requests that were signed 15 minutes ago.
const LONGEST_RETRY: Duration = Duration::from_secs(600);
/// Default of the longest size of files.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Files of a directory or of a bucket. One is written at a time.
pub trait FileStore {
    /// The directory or the prefix, for people.
    fn address(&self) -> String;
    /// A file, for people.
    fn shown(&self, name: &str) -> String;
    /// Names of all files. Those that are not complete end in `.open`.
    fn names(&self) -> Result<Vec<String>, CommandFailure>;
    /// Whether there is a complete file of this name.
    fn has(&self, name: &str) -> Result<bool, CommandFailure>;
    /// A small file that is written as a whole.
    fn read_note(&mut self, name: &str) -> Result<Option<Vec<u8>>, CommandFailure>;
    /// Replaces it. Whatever happens, either the old or the new text is there.
    fn write_note(&mut self, name: &str, text: &str) -> Result<(), CommandFailure>;
    /// Begins a file, which is not complete yet. Returns the id of its upload.
    fn begin(&mut self, name: &str) -> Result<String, CommandFailure>;
    /// Writes as many of these bytes to the open file as are worth a write, and removes them; all if they are the last
    /// for now.
    fn write(&mut self, ready: &mut Vec<u8>, is_last: bool) -> Result<(), CommandFailure>;
    /// Waits until all bytes of the open file have arrived. `last` may still be there. Returns their number.
    fn arrive(&mut self, last: Vec<u8>) -> Result<u64, CommandFailure>;
    /// Writes a file as a whole, as a companion of the open one.
    fn write_companion(&mut self, name: &str, content: Vec<u8>) -> Result<(), CommandFailure>;
    /// The content of a complete file, where it can be read back at little cost.
    fn read_back(&self, name: &str) -> Result<Option<Box<dyn BufRead>>, CommandFailure>;
    /// Takes back a companion, if it is there, of a file that did not become complete.
    fn retract(&mut self, name: &str) -> Result<(), CommandFailure>;
    /// Completes the open file.
    fn complete(&mut self) -> Result<(), CommandFailure>;
    /// Deletes the parts of a file that is not complete.
    fn abort(&mut self, name: &str, upload: &str) -> Result<(), CommandFailure>;
}

/// Where files go, how they are called, and when one is complete.
#[derive(Args, Clone, Debug)]
pub struct FileOptions {
    /// Directory for files. Created if necessary. The command goes on where the last one to the same place has stopped.
    #[arg(long, value_name = "DIR", group = "files")]
    out: Option<PathBuf>,
    /// Object storage for files: s3://BUCKET/PREFIX. Credentials, region and endpoint come from the environment
    /// (AWS_ACCESS_KEY_ID …). The command goes on where the last one to the same place has stopped.
    #[arg(long, value_name = "URL", conflicts_with = "out", group = "files")]
    to: Option<StorageAddress>,
    /// Prefix of the file names: PREFIX-TIME-NUMBER. Default: recrawl for fetches, changes for changes.
    #[arg(long, value_parser = prefix, requires = "files")]
    prefix: Option<String>,
    /// Longest file. A file with a single record may be longer.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_FILE_BYTES, requires = "files")]
    max_file_bytes: u64,
    /// Completes a file after so long, even if it is short. By default it may stay open for as long as --follow waits.
    #[arg(long, value_name = "DURATION", requires = "files")]
    max_file_age: Option<humantime::Duration>,
}

impl FileOptions {
    /// Whether records go into files.
    pub fn is_given(&self) -> bool {
        self.out.is_some() || self.to.is_some()
    }

    /// Opens the directory or the bucket for the files of an encoder and, unless another is given, this prefix. `topic` has
    /// its own prefix. A bucket that does not answer is tried again for `give_up_after`, ten minutes at most.
    ///
    /// # Errors
    /// The directory or the bucket cannot be used, or its progress is of another topic.
    pub fn open<E: FileEncoder>(
        &self,
        prefix: &str,
        topic: &str,
        give_up_after: Duration,
    ) -> Result<OpenFiles<'_>, CommandFailure> {
        let (prefix, ending) = (self.prefix.as_deref().unwrap_or(prefix).to_owned(), E::ENDING);
        // Programs that read tables pass over names with an underscore.
        let note = format!("_{prefix}{ending}.progress");
        let elsewhere =
            if self.to.is_some() { "give another --to or --prefix" } else { "give another --out or --prefix" };
        let mut store: Box<dyn FileStore> = match (&self.to, &self.out) {
            (Some(address), _) => {
                Box::new(Objects::new(Bucket::open(address, give_up_after.min(LONGEST_RETRY))?, self.max_file_bytes))
            }
            (None, Some(directory)) => Box::new(Directory::open(directory, &note, elsewhere)?),
            (None, None) => return Err(CommandFailure::Input("give --out or --to".to_owned())),
        };
        let progress = Progress::read(&mut *store, note, topic, elsewhere)?;
        let mut names = NumberedNames { prefix, ending, next: progress.next() };
        if !progress.is_known() {
            for name in store.names()? {
                let complete = name.strip_suffix(OPEN).unwrap_or(&name);
                if names.pass(complete) && complete != name {
                    let shown = store.shown(&name);
                    eprintln!("recrawl: {shown} is incomplete, and of no known export: it is left alone");
                }
            }
        }
        if let Some(ending) = E::COMPANION {
            companions::restore::<E>(&mut *store, &names, ending)?;
        }
        let (address, shown) = (store.address(), progress.shown(&*store));
        eprintln!("recrawl: exporting to {address} {}; progress is in {shown}", progress.continues());
        Ok(OpenFiles { store, names, progress, options: self })
    }

    /// Whether a file that was begun then has been open for long enough.
    fn is_over(&self, begun: Instant) -> bool {
        self.max_file_age.is_some_and(|age| begun.elapsed() >= Duration::from(age))
    }
}

fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '.';
    if !text.is_empty() && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("give letters, digits, dots and underscores, such as my_crawl".to_owned())
}

/// Takes changes in, one by one.
pub trait Receiver: Send {
    /// Delivers a parcel once. `attempt` counts from 1.
    fn deliver(&mut self, parcel: &Parcel<'_>, attempt: u32) -> Result<(), Undelivered>;
}

/// The unit that a receiver takes at a time.
#[derive(Clone, Copy, Debug)]
pub enum Parcel<'a> {
    /// A change.
    Change(&'a PublishedChange),
    /// Changes of some time together.
    Digest(&'a ChangeDigest),
}

impl Parcel<'_> {
    /// Its id, the same at every attempt.
    pub fn id(&self) -> &str {
        match self {
            Self::Change(change) => &change.change_id,
            Self::Digest(digest) => &digest.digest_id,
        }
    }

    /// Number of its changes.
    pub fn changes(&self) -> u64 {
        match self {
            Self::Change(_) => 1,
            Self::Digest(digest) => digest.changes,
        }
    }

    /// How messages call it.
    pub fn shown(&self) -> String {
        match self {
            Self::Change(change) => format!("change {} of {}", change.change_id, change.url),
            Self::Digest(digest) => format!("digest {}", digest.digest_id),
        }
    }

    /// The parcel as JSON, on one line.
    pub fn json(&self) -> Vec<u8> {
        let json = match self {
            Self::Change(change) => serde_json::to_vec(change),
            Self::Digest(digest) => serde_json::to_vec(digest),
        };
        json.expect("changes and their counts are JSON")
    }
}

/// Why something was not delivered.
#[derive(Debug)]
pub enum Undelivered {
    /// It may go better later, and not before this time if the receiver says one.
    Later {
        /// The failure, as a sentence.
        problem: String,
        /// The wait that the receiver asks for.
        after: Option<Duration>,
    },
    /// The same would be refused again.
    Refused(String),
    /// Refused for good, and no fault of the receiver: it is left out and counted.
    SetAside(String),
    /// The arguments are wrong, for any change.
    Wrong(String),
}

impl Undelivered {
    pub(crate) fn later(problem: impl Into<String>) -> Self {
        Self::Later { problem: problem.into(), after: None }
    }
}
