//! High-water mark of a database, kept in a file beside it.
//!
//! If the end of a write-ahead log or of the manifest is missing, RocksDB silently recovers to *some* earlier state.
//! Comparing the opened database with this mark reveals that.

use crate::rocks::Database;
use crate::sealed::{self, Sealed, field};
use std::fs;
use std::io;
use std::path::Path;

/// State of a database at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HighWater {
    /// Sequence number of the last write.
    pub(crate) sequence: u64,
    /// Whether the database was closed and synced. If not, it may have been written to since.
    pub(crate) clean: bool,
    /// Id of the machine's boot at that time; `None` if the system provides none.
    pub(crate) boot: Option<String>,
    /// The manifest at that time. Manifests only grow, and a later one has a higher number.
    pub(crate) manifest: Manifest,
}

/// The first bytes of a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    number: u64,
    bytes: usize,
    digest: String,
}

/// Comparison of a database's manifest with the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// Same manifest, possibly grown.
    Continued,
    /// A later manifest: something opened the database since without recording it.
    Later,
    /// An earlier manifest: an older copy was restored.
    Earlier,
    /// Same manifest number, different bytes.
    Damaged(String),
}

impl HighWater {
    /// State of an open database. `before` saves reading a manifest that has not changed.
    pub(crate) fn of(
        database: &Database,
        path: &Path,
        boot: Option<&str>,
        clean: bool,
        before: Option<&Self>,
    ) -> io::Result<Self> {
        // In this order, the manifest is at least as new as its recorded part.
        let sequence = database.latest_sequence_number();
        let manifest = Manifest::of(path, before.map(|before| &before.manifest))?;
        Ok(Self { sequence, clean, boot: boot.map(str::to_owned), manifest })
    }

    /// A mark beside a copy of a database whose original goes on: it names a later manifest than the copy has.
    pub(crate) fn of_older_copy(sequence: u64) -> Self {
        let manifest = Manifest { number: u64::MAX, ..Manifest::default() };
        Self { sequence, clean: true, boot: None, manifest }
    }

    /// Whether it is such a mark, which is gone once the copy was opened.
    pub(crate) fn is_of_older_copy(&self) -> bool {
        self.manifest.number == u64::MAX
    }

    /// Formats it as lines of a sealed file.
    pub(crate) fn lines(&self) -> String {
        let Manifest { number, bytes, digest } = &self.manifest;
        let (sequence, clean) = (self.sequence, self.clean);
        let boot = self.boot.as_ref().map(|boot| format!("boot {boot}\n")).unwrap_or_default();
        format!("sequence {sequence}\nclean {clean}\n{boot}manifest {number}\nbytes {bytes}\ndigest {digest}\n")
    }

    /// Reads a file; `None` if it is missing or damaged.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let Sealed::Whole(lines) = sealed::read(path)? else { return Ok(None) };
        Ok(Self::parse(&lines))
    }

    pub(crate) fn parse(lines: &str) -> Option<Self> {
        let number = |word| field(lines, word)?.parse::<u64>().ok();
        Some(Self {
            sequence: number("sequence")?,
            clean: field(lines, "clean")? == "true",
            boot: field(lines, "boot").map(str::to_owned),
            manifest: Manifest {
                number: number("manifest")?,
                bytes: usize::try_from(number("bytes")?).ok()?,
                digest: field(lines, "digest")?.to_owned(),
            },
        })
    }

    /// Compares the manifest of a closed database with the recorded one.
    pub(crate) fn compare(&self, path: &Path) -> io::Result<Since> {
        let Some(number) = current(path)? else {
            return Ok(Since::Damaged("its file CURRENT is missing or unreadable".to_owned()));
        };
        let noted = &self.manifest;
        match number.cmp(&noted.number) {
            std::cmp::Ordering::Less => return Ok(Since::Earlier),
            std::cmp::Ordering::Greater => return Ok(Since::Later),
            std::cmp::Ordering::Equal => {}
        }
        let name = manifest_name(number);
        let bytes = match fs::read(path.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Since::Damaged(format!("its file {name} is missing")));
            }
            bytes => bytes?,
        };
        Ok(match bytes.get(..noted.bytes) {
            None => Since::Damaged(format!("its file {name} is truncated")),
            Some(bytes) if sealed::digest(bytes) != noted.digest => {
                Since::Damaged(format!("its file {name} was changed after it was written"))
            }
            Some(_) => Since::Continued,
        })
    }
}

impl Manifest {
    /// The manifest of a database; `before` is an earlier reading of it.
    pub(crate) fn of(path: &Path, before: Option<&Self>) -> io::Result<Self> {
        let missing = || io::Error::other("CURRENT names no manifest");
        let number = current(path)?.ok_or_else(missing)?;
        let file = path.join(manifest_name(number));
        let length = fs::metadata(&file)?.len();
        if let Some(before) = before.filter(|before| before.number == number && before.bytes as u64 == length) {
            return Ok(before.clone());
        }
        let bytes = fs::read(&file)?;
        Ok(Self { number, bytes: bytes.len(), digest: sealed::digest(&bytes) })
    }
}

fn manifest_name(number: u64) -> String {
    format!("MANIFEST-{number:06}")
}

/// Number of the manifest named by CURRENT.
fn current(path: &Path) -> io::Result<Option<u64>> {
    let bytes = match fs::read(path.join("CURRENT")) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let name = std::str::from_utf8(&bytes).ok();
    Ok(name.and_then(|name| name.strip_prefix("MANIFEST-")?.strip_suffix('\n')?.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted() -> HighWater {
        let manifest = Manifest { number: 5, bytes: 3, digest: sealed::digest(b"abc") };
        HighWater { sequence: 7, clean: true, boot: Some("b".to_owned()), manifest }
    }

    #[test]
    fn what_was_noted_is_read_back() {
        let without_boot = HighWater { boot: None, clean: false, ..noted() };
        for noted in [noted(), without_boot] {
            assert_eq!(HighWater::parse(&noted.lines()), Some(noted));
        }
    }

    #[test]
    fn a_manifest_may_grow_and_be_followed_by_another_but_not_change() {
        let directory = tempfile::TempDir::new().unwrap();
        let put = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let compare = || noted().compare(directory.path()).unwrap();
        assert!(matches!(compare(), Since::Damaged(what) if what.contains("CURRENT")));
        put("CURRENT", "MANIFEST-000005\n");
        assert!(matches!(compare(), Since::Damaged(what) if what.contains("MANIFEST-000005 is missing")));
        put("MANIFEST-000005", "abc");
        assert_eq!(compare(), Since::Continued);
        put("MANIFEST-000005", "abcd");
        assert_eq!(compare(), Since::Continued);
        put("MANIFEST-000005", "ab");
        assert!(matches!(compare(), Since::Damaged(what) if what.contains("is truncated")));
        put("MANIFEST-000005", "abd");
        assert!(matches!(compare(), Since::Damaged(what) if what.contains("changed after it was written")));
        put("CURRENT", "MANIFEST-000006\n");
        assert_eq!(compare(), Since::Later);
        put("CURRENT", "MANIFEST-000004\n");
        assert_eq!(compare(), Since::Earlier);
        put("CURRENT", "MANIFEST-0000");
        assert!(matches!(compare(), Since::Damaged(_)));
    }
}
