//! Operations on directories that several tests need.

use std::fs;
use std::path::{Path, PathBuf};

/// Copies what is in a directory. Files that go away meanwhile are left out.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            let _ = fs::copy(entry.path(), target);
        }
    }
}

/// Copies the directory of a running process as a kill would leave it. A kill leaves one moment; a copy that met a
/// compaction half-way is made again until it is `sound`.
pub(crate) fn copy_as_killed(from: &Path, sound: impl Fn(&Path) -> bool) -> tempfile::TempDir {
    for _ in 0..1_000 {
        let (copied, tried) = (tempfile::TempDir::new().unwrap(), tempfile::TempDir::new().unwrap());
        copy(from, copied.path());
        copy(copied.path(), tried.path());
        if sound(tried.path()) {
            return copied;
        }
    }
    panic!("no copy of {} is sound", from.display());
}

/// All files in a directory and those below it, in order.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
