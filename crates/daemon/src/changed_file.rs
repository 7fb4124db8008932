//! Notices that a file was replaced or written to.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Differs between two contents of a file, as far as the file system shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

/// The stamp of a file; `None` if there is no file. Symbolic links are followed, because Kubernetes replaces files by changing
/// a link.
pub(crate) fn stamp(file: &Path) -> Option<FileStamp> {
    let metadata = std::fs::metadata(file).ok()?;
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    Some(FileStamp { inode: metadata.ino(), length: metadata.len(), modified })
}
