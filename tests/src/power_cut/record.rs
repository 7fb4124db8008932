//! A program's operations on the files below a directory, and the bytes that it sent to other programs.

use super::strace::{self, CALLS, Call};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An operation on files. Paths are relative to the recorded directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A name for a new, empty file.
    Create(PathBuf),
    /// Bytes at a place of the file that has this name.
    Write {
        /// Its name when it was opened.
        file: FileId,
        at: usize,
        bytes: Vec<u8>,
    },
    /// A length of a file.
    Truncate(FileId, usize),
    /// All operations on a file that had ended before the given one are on the disk.
    SyncFile(FileId, usize),
    /// The same of the names in a directory.
    SyncDirectory(PathBuf, usize),
    /// A name for a file that was opened. It has no effect, and gives the file its number.
    Open(PathBuf, FileId),
    MakeDirectory(PathBuf),
    RemoveDirectory(PathBuf),
    Rename(PathBuf, PathBuf),
    Link(PathBuf, PathBuf),
    Unlink(PathBuf),
}

/// Bytes that went to another program, over a socket or a pipe.
#[derive(Clone, Debug)]
pub struct SentBytes {
    /// Number of operations that had ended when they could be seen.
    pub after: usize,
    pub bytes: Vec<u8>,
}

/// A file of one opening.
pub(super) type FileId = usize;

/// The operations of one program or several, in order.
#[derive(Debug, Default)]
pub struct Recording {
    pub operations: Vec<Operation>,
    pub sent: Vec<SentBytes>,
    files: usize,
}

/// The thing that a file descriptor of a process stands for.
#[derive(Clone)]
enum Opened {
    File {
        file: FileId,
        at: usize,
        appends: bool,
    },
    Directory(PathBuf),
    /// Outside of the directory, or opened for reading.
    Other,
}

impl Recording {
    /// A command that runs another under strace, with the record in a file.
    pub fn command(of: &Command, to: &Path) -> Command {
        let mut command = Command::new("strace");
        command.args(["-D", "-f", "-q", "--seccomp-bpf", "-xx", "-s", "100000000", "-e"]).arg(format!("trace={CALLS}"));
        command.arg("-o").arg(to).arg("--").arg(of.get_program()).args(of.get_args());
        for (name, value) in of.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Adds what a process has done below `root`, by the record of strace.
    ///
    /// # Panics
    /// If the process changed a file in a way that the model does not know.
    pub fn add(&mut self, record: &str, root: &Path) {
        let mut numbers = HashMap::new();
        // Index of the operations by the number of calls that had ended before.
        let mut operations_by_call = Vec::new();
        for call in strace::calls(record) {
            let began = operations_by_call.get(call.began).copied().unwrap_or(self.operations.len());
            operations_by_call.push(self.operations.len());
            self.add_call(&call, began, root, &mut numbers);
        }
    }

    fn add_call(&mut self, call: &Call, began: usize, root: &Path, numbers: &mut HashMap<i64, Opened>) {
        let argument = |index: usize| call.arguments.get(index).map_or("", String::as_str);
        let path = |index: usize| {
            let text = String::from_utf8(strace::bytes(argument(index))).expect("paths of tests are texts");
            Path::new(&text).strip_prefix(root).ok().map(Path::to_owned)
        };
        // A path, or a name in a directory whose number comes before it.
        let path_at = |index: usize, numbers: &HashMap<i64, Opened>| {
            let directory = argument(index).parse().ok().and_then(|number: i64| numbers.get(&number));
            match directory {
                Some(Opened::Directory(directory)) => path_in(directory, argument(index + 1)),
                _ => path(index + 1),
            }
        };
        let number = |index: usize| argument(index).parse::<i64>().unwrap_or(-1);
        let opened = numbers.get(&number(0)).cloned().unwrap_or(Opened::Other);
        match call.name.as_str() {
            "openat" | "open" | "creat" => {
                let (path, flags) = match call.name.as_str() {
                    "openat" => (path_at(0, numbers), argument(2)),
                    "open" => (path(0), argument(1)),
                    _ => (path(0), "O_WRONLY|O_CREAT|O_TRUNC"),
                };
                let opened = path.map_or(Opened::Other, |path| self.open(path, flags));
                numbers.insert(call.result, opened);
            }
            "close" => drop(numbers.remove(&number(0))),
            "dup" | "dup2" | "dup3" => drop(numbers.insert(call.result, opened)),
            "fcntl" if argument(1).starts_with("F_DUPFD") => drop(numbers.insert(call.result, opened)),
            "lseek" => {
                if let Some(Opened::File { at, .. }) = numbers.get_mut(&number(0)) {
                    *at = usize::try_from(call.result).expect("places are positive");
                }
            }
            "write" | "writev" | "sendto" | "sendmsg" => {
                let mut bytes = strace::bytes(argument(1));
                bytes.truncate(usize::try_from(call.result).expect("lengths are positive"));
                self.write(number(0), bytes, began, numbers);
            }
            "pwrite64" => {
                if let Opened::File { file, .. } = opened {
                    let mut bytes = strace::bytes(argument(1));
                    bytes.truncate(usize::try_from(call.result).expect("lengths are positive"));
                    let at = argument(3).parse().expect("strace writes places in decimals");
                    self.operations.push(Operation::Write { file, at, bytes });
                }
            }
            "ftruncate" => {
                if let Opened::File { file, .. } = opened {
                    self.operations.push(Operation::Truncate(file, argument(1).parse().expect("a length")));
                }
            }
            "fsync" | "fdatasync" => match opened {
                Opened::File { file, .. } => self.operations.push(Operation::SyncFile(file, began)),
                Opened::Directory(path) => self.operations.push(Operation::SyncDirectory(path, began)),
                Opened::Other => {}
            },
            // The disk may have it earlier than this says. No promise rests on it.
            "sync_file_range" | "fcntl" | "chdir" => {}
            "rename" | "renameat" | "renameat2" => {
                let (from, to) = match call.name.as_str() {
                    "rename" => (path(0), path(1)),
                    _ => (path_at(0, numbers), path_at(2, numbers)),
                };
                self.paired(from, to, Operation::Rename);
            }
            "link" | "linkat" => {
                let (from, to) = match call.name.as_str() {
                    "link" => (path(0), path(1)),
                    _ => (path_at(0, numbers), path_at(2, numbers)),
                };
                self.paired(from, to, Operation::Link);
            }
            "unlink" => self.operations.extend(path(0).map(Operation::Unlink)),
            "unlinkat" => {
                let is_directory = argument(2).contains("AT_REMOVEDIR");
                let kind = if is_directory { Operation::RemoveDirectory } else { Operation::Unlink };
                self.operations.extend(path_at(0, numbers).map(kind));
            }
            "rmdir" => self.operations.extend(path(0).map(Operation::RemoveDirectory)),
            "mkdir" => self.operations.extend(path(0).map(Operation::MakeDirectory)),
            "mkdirat" => self.operations.extend(path_at(0, numbers).map(Operation::MakeDirectory)),
            "mmap" => {
                let is_of_file = numbers.get(&number(4)).is_some_and(|opened| matches!(opened, Opened::File { .. }));
                let writes = argument(3).contains("MAP_SHARED") && argument(2).contains("PROT_WRITE");
                assert!(!(is_of_file && writes), "the model knows no writes through maps: {:?}", call.arguments);
            }
            other => {
                let concerns = matches!(opened, Opened::File { .. }) || path(0).is_some() || path(1).is_some();
                assert!(!concerns, "the model does not know {other}{:?}", call.arguments);
            }
        }
    }

    fn open(&mut self, path: PathBuf, flags: &str) -> Opened {
        let has = |flag: &str| flags.split('|').any(|part| part == flag);
        if !(has("O_WRONLY") || has("O_RDWR")) {
            // Directories are opened for reading, and synced then. A file may be, too.
            return Opened::Directory(path);
        }
        if has("O_CREAT") {
            self.operations.push(Operation::Create(path.clone()));
        }
        let file = self.files;
        self.files += 1;
        self.operations.push(Operation::Open(path, file));
        if has("O_TRUNC") {
            self.operations.push(Operation::Truncate(file, 0));
        }
        Opened::File { file, at: 0, appends: has("O_APPEND") }
    }

    fn write(&mut self, number: i64, bytes: Vec<u8>, began: usize, numbers: &mut HashMap<i64, Opened>) {
        match numbers.get_mut(&number) {
            Some(Opened::File { file, at, appends }) => {
                let place = if *appends { usize::MAX } else { *at };
                *at += bytes.len();
                self.operations.push(Operation::Write { file: *file, at: place, bytes });
            }
            Some(_) => {}
            // The other side may have it as soon as the call begins.
            None => self.sent.push(SentBytes { after: began, bytes }),
        }
    }

    fn paired(&mut self, from: Option<PathBuf>, to: Option<PathBuf>, make: fn(PathBuf, PathBuf) -> Operation) {
        match (from, to) {
            (Some(from), Some(to)) => self.operations.push(make(from, to)),
            (None, None) => {}
            (from, to) => panic!("a file moves across the recorded directory: {from:?} to {to:?}"),
        }
    }
}

/// The path of a name, or of `.`, in an opened directory.
fn path_in(directory: &Path, argument: &str) -> Option<PathBuf> {
    let name = String::from_utf8(strace::bytes(argument)).ok()?;
    Some(directory.join(name))
}
