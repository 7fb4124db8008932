//! A disk that knows what was synced and what was only written.

use super::record::{FileId, Operation};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Size of a block, which a disk writes as a whole or not at all.
const BLOCK_BYTES: usize = 4_096;

/// The part that a power cut takes of everything that was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// All of it.
    Everything,
    /// None of it, as after a kill.
    Nothing,
    /// The last states of blocks of files, each by itself, and the last names in directories, as a seed draws. Names are lost in the
    /// order of their operations, as a journal loses them.
    Some(u64),
}

/// The files below a directory.
#[derive(Debug)]
pub struct Disk {
    nodes: Vec<Node>,
    files: HashMap<FileId, usize>,
}

#[derive(Debug)]
enum Node {
    File(File),
    Directory(Directory),
}

#[derive(Debug, Default)]
struct File {
    live: Vec<u8>,
    synced: Vec<u8>,
    /// Changes that were not synced, each with the number of its operation.
    pending: Vec<(usize, FileChange)>,
}

#[derive(Debug)]
enum FileChange {
    Write(usize, Vec<u8>),
    Length(usize),
}

#[derive(Debug, Default)]
struct Directory {
    live: Names,
    synced: Names,
    /// Names that were not synced, with what they stand for.
    pending: Vec<(usize, OsString, Option<usize>)>,
}

type Names = BTreeMap<OsString, usize>;

impl Disk {
    /// A disk after these operations on an empty directory.
    pub fn after(operations: &[Operation]) -> Self {
        let mut disk = Self { nodes: vec![Node::Directory(Directory::default())], files: HashMap::new() };
        operations.iter().enumerate().for_each(|(number, operation)| disk.apply(number, operation));
        disk
    }

    fn apply(&mut self, number: usize, operation: &Operation) {
        match operation {
            Operation::Create(path) => {
                if self.find(path).is_none() {
                    self.name(number, path, Node::File(File::default()));
                }
            }
            Operation::MakeDirectory(path) => self.name(number, path, Node::Directory(Directory::default())),
            Operation::Open(path, file) => {
                let node = self.find(path).unwrap_or_else(|| panic!("{} was opened", path.display()));
                self.files.insert(*file, node);
            }
            Operation::Write { file, at, bytes } => {
                let file = self.file(*file);
                let at = (*at).min(if *at == usize::MAX { file.live.len() } else { *at });
                write(&mut file.live, at, bytes);
                file.pending.push((number, FileChange::Write(at, bytes.clone())));
            }
            Operation::Truncate(file, length) => {
                let file = self.file(*file);
                file.live.resize(*length, 0);
                file.pending.push((number, FileChange::Length(*length)));
            }
            Operation::SyncFile(file, began) => self.file(*file).sync(*began),
            Operation::SyncDirectory(path, began) => match self.find(path).map(|node| &mut self.nodes[node]) {
                Some(Node::Directory(directory)) => directory.sync(*began),
                Some(Node::File(file)) => file.sync(*began),
                None => {}
            },
            Operation::Rename(from, to) => {
                let node = self.find(from);
                self.rename(number, to, node);
                self.rename(number, from, None);
            }
            Operation::Link(from, to) => {
                let node = self.find(from);
                self.rename(number, to, node);
            }
            Operation::Unlink(path) | Operation::RemoveDirectory(path) => self.rename(number, path, None),
        }
    }

    fn file(&mut self, file: FileId) -> &mut File {
        match &mut self.nodes[self.files[&file]] {
            Node::File(file) => file,
            Node::Directory(_) => panic!("a directory is written to"),
        }
    }

    fn find(&self, path: &Path) -> Option<usize> {
        path.iter().try_fold(0, |node, name| match &self.nodes[node] {
            Node::Directory(directory) => directory.live.get(name).copied(),
            Node::File(_) => None,
        })
    }

    fn name(&mut self, number: usize, path: &Path, node: Node) {
        self.nodes.push(node);
        let node = self.nodes.len() - 1;
        self.rename(number, path, Some(node));
    }

    fn rename(&mut self, number: usize, path: &Path, node: Option<usize>) {
        // The recorded directory itself is there before the program.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        let parent = self.find(parent).unwrap_or_else(|| panic!("{} has a directory", path.display()));
        let Node::Directory(directory) = &mut self.nodes[parent] else { panic!("{} is in a file", path.display()) };
        set(&mut directory.live, name.to_owned(), node);
        directory.pending.push((number, name.to_owned(), node));
    }

    /// Writes a directory that a power cut could have left.
    pub fn write(&self, to: &Path, loss: Loss) {
        let mut random = Pcg64::seed_from_u64(match loss {
            Loss::Some(seed) => seed,
            Loss::Everything | Loss::Nothing => 0,
        });
        let kept = self.kept_names(loss, &mut random);
        self.write_directory(0, to, loss, &kept, &mut random);
    }

    /// The operations on names that are on the disk though they were not synced. A rename is one, in one directory or two.
    fn kept_names(&self, loss: Loss, random: &mut Pcg64) -> BTreeSet<usize> {
        let directories = self.nodes.iter().filter_map(|node| match node {
            Node::Directory(directory) => Some(directory),
            Node::File(_) => None,
        });
        let pending: BTreeSet<usize> =
            directories.flat_map(|directory| directory.pending.iter().map(|(number, ..)| *number)).collect();
        match loss {
            Loss::Everything => BTreeSet::new(),
            Loss::Nothing => pending,
            Loss::Some(_) => {
                let kept = random.random_range(0..=pending.len());
                pending.into_iter().take(kept).collect()
            }
        }
    }

    fn write_directory(&self, node: usize, to: &Path, loss: Loss, kept: &BTreeSet<usize>, random: &mut Pcg64) {
        let Node::Directory(directory) = &self.nodes[node] else { panic!("{} is no directory", to.display()) };
        fs::create_dir_all(to).expect("the test's directory takes directories");
        let mut names = directory.synced.clone();
        for (number, name, node) in &directory.pending {
            if kept.contains(number) {
                set(&mut names, name.clone(), *node);
            }
        }
        for (name, node) in names {
            let path = to.join(name);
            match &self.nodes[node] {
                Node::Directory(_) => self.write_directory(node, &path, loss, kept, random),
                Node::File(file) => {
                    fs::write(&path, file.left(loss, random)).expect("the test's directory takes files");
                }
            }
        }
    }
}

impl File {
    fn sync(&mut self, began: usize) {
        let later = self.pending.iter().position(|(number, _)| *number >= began).unwrap_or(self.pending.len());
        for (_, change) in self.pending.drain(..later) {
            match change {
                FileChange::Write(at, bytes) => write(&mut self.synced, at, &bytes),
                FileChange::Length(length) => self.synced.resize(length, 0),
            }
        }
    }

    /// The bytes that a power cut leaves.
    fn left(&self, loss: Loss, random: &mut Pcg64) -> Vec<u8> {
        let mut left = match loss {
            Loss::Nothing => return self.live.clone(),
            Loss::Everything | Loss::Some(_) => self.synced.clone(),
        };
        if loss == Loss::Everything {
            return left;
        }
        // A block goes to the disk as a whole: with a write also those before it.
        let mut writes = BTreeMap::<usize, usize>::new();
        self.pending
            .iter()
            .flat_map(|(_, change)| change.blocks())
            .for_each(|(block, ..)| *writes.entry(block).or_default() += 1);
        writes.values_mut().for_each(|count| *count = random.random_range(0..=*count));
        for (_, change) in &self.pending {
            match change {
                FileChange::Length(length) if random.random() => left.resize(*length, 0),
                FileChange::Length(_) => {}
                FileChange::Write(..) => {
                    for (block, at, bytes) in change.blocks() {
                        let kept = writes.entry(block).or_default();
                        if *kept > 0 {
                            *kept -= 1;
                            write(&mut left, at, bytes);
                        }
                    }
                }
            }
        }
        left
    }
}

impl FileChange {
    /// The blocks that are written to, each with the place and the bytes.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize, &[u8])> {
        let (at, bytes) = match self {
            Self::Write(at, bytes) => (*at, bytes.as_slice()),
            Self::Length(_) => (0, &[][..]),
        };
        let mut done = 0;
        std::iter::from_fn(move || {
            let place = at + done;
            let length = (BLOCK_BYTES - place % BLOCK_BYTES).min(bytes.len() - done);
            let block = &bytes[done..done + length];
            done += length;
            (length > 0).then_some((place / BLOCK_BYTES, place, block))
        })
    }
}

impl Directory {
    fn sync(&mut self, began: usize) {
        let later = self.pending.iter().position(|(number, ..)| *number >= began).unwrap_or(self.pending.len());
        for (_, name, node) in self.pending.drain(..later) {
            set(&mut self.synced, name, node);
        }
    }
}

fn set(names: &mut Names, name: OsString, node: Option<usize>) {
    match node {
        Some(node) => drop(names.insert(name, node)),
        None => drop(names.remove(&name)),
    }
}

fn write(to: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if to.len() < at + bytes.len() {
        to.resize(at + bytes.len(), 0);
    }
    to[at..at + bytes.len()].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// The names and texts of the files that a cut leaves.
    fn left(operations: &[Operation], loss: Loss) -> Vec<(String, String)> {
        let directory = tempfile::tempdir().unwrap();
        Disk::after(operations).write(directory.path(), loss);
        let files = fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap());
        let text = |file: fs::DirEntry| {
            let name = file.file_name().into_string().unwrap();
            (name, fs::read_to_string(file.path()).unwrap().replace('\0', "0"))
        };
        let mut left: Vec<_> = files.map(text).collect();
        left.sort();
        left
    }

    fn named(names: &[(&str, &str)]) -> Vec<(String, String)> {
        names.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_file_survives_with_what_was_synced_under_the_name_that_was_synced() {
        let path = |name: &str| PathBuf::from(name);
        let write = |at, text: &str| Operation::Write { file: 0, at, bytes: text.as_bytes().to_vec() };
        let operations = [
            Operation::Create(path("new")),
            Operation::Open(path("new"), 0),
            write(0, "abc"),
            Operation::SyncFile(0, 3),
            write(3, "def"),
            Operation::SyncDirectory(path(""), 5),
            Operation::Rename(path("new"), path("old")),
            write(usize::MAX, "g"),
        ];
        for (count, expected) in [(3, vec![]), (5, vec![]), (6, vec![("new", "abc")]), (8, vec![("new", "abc")])] {
            assert_eq!(left(&operations[..count], Loss::Everything), named(&expected), "after {count}");
        }
        assert_eq!(left(&operations, Loss::Nothing), named(&[("old", "abcdefg")]));
        // A sync that began before a write does not hold it.
        let early =
            [&operations[..4], &[write(3, "x"), Operation::SyncFile(0, 4), Operation::SyncDirectory(path(""), 6)]];
        assert_eq!(left(&early.concat(), Loss::Everything), named(&[("new", "abc")]));
        // Whatever a seed draws, the renamed file is there under one of its names.
        for seed in 0..20 {
            let left = left(&operations, Loss::Some(seed));
            assert!(left.len() == 1 && left[0].1.starts_with("abc"), "{seed}: {left:?}");
            // Of the writes to one block, the last are lost.
            assert!(["abc", "abcdef", "abcdefg"].contains(&left[0].1.as_str()), "{seed}: {left:?}");
        }
    }
}
