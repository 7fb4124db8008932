//! A second build of recrawl, whose records have a field more.
//!
//! The source is copied to a place of its own below the target directory, edited there, and its program is built under
//! another name into the same target directory, so that what comes from outside is compiled once. A file is written only
//! where it changed: a second run builds nothing.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod edits;

use crate::{programs, workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Files and directories of the workspace that are copied.
const COPIED: [&str; 7] = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "crates", "services", "schemas", "tests"];
/// Where the crates of the copy lie below it. Cargo distinguishes packages by their place within their workspace: at the
/// same place they would be taken for ours, and overwrite them.
const WITHIN: &str = "next";
/// Workspaces of their own below the copied directories.
const LEFT_OUT: [&str; 4] = ["tests/fuzz", "tests/bench-peers", "tests/kafka", "tests/kubernetes"];
/// Follows the name of the other build's program.
pub const SUFFIX: &str = "-next";

/// Builds the program of the other build, once: `recrawl-next`, beside ours.
pub fn build() {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(build_now);
}

fn build_now() {
    let (target, profile) = (programs().target(), programs().profile());
    let copy = target.join("upgrade");
    // Tests are processes, and several want this build at once.
    std::fs::create_dir_all(&copy).unwrap();
    let lock = std::fs::File::create(copy.join("lock")).unwrap();
    lock.lock().unwrap();
    write_changed(&copy, &edited(workspace()));
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    command.args([
        "build",
        "--quiet",
        "--locked",
        "--offline",
        "--package",
        "recrawl",
        "--profile",
        profile,
        "--target-dir",
    ]);
    command.arg(target).current_dir(&copy);
    command.args(["--bin", &format!("recrawl{SUFFIX}")]);
    let status = command.status().expect("cargo, which built this test, can be started");
    assert!(status.success(), "the build with more fields does not compile, see above: {}", copy.display());
}

/// The files of the other build by their paths.
fn edited(from: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    COPIED.iter().for_each(|name| read_all(from, Path::new(name), &mut files));
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (path, bytes) in &files {
        let is_edited = ["rs", "avsc", "toml"].map(OsStr::new).contains(&path.extension().unwrap_or_default());
        if is_edited && !path.starts_with("tests") {
            texts.insert(path.clone(), String::from_utf8(bytes.clone()).expect("source is text"));
        }
    }
    edits::add_fields(&mut texts);
    edits::rename_program(&mut texts, SUFFIX);
    edits::compile_quickly(&mut texts);
    edits::move_members(&mut texts, WITHIN);
    files.extend(texts.into_iter().map(|(path, text)| (path, text.into_bytes())));
    let is_directory = |path: &Path| path.components().count() > 1;
    let moved = |path: PathBuf| if is_directory(&path) { Path::new(WITHIN).join(path) } else { path };
    files.into_iter().map(|(path, bytes)| (moved(path), bytes)).collect()
}

fn read_all(root: &Path, path: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    if LEFT_OUT.iter().any(|left_out| path == Path::new(left_out)) {
        return;
    }
    let place = root.join(path);
    if !place.is_dir() {
        files.insert(path.to_owned(), std::fs::read(&place).unwrap_or_else(|error| panic!("{place:?}: {error}")));
        return;
    }
    for entry in std::fs::read_dir(&place).unwrap() {
        read_all(root, &path.join(entry.unwrap().file_name()), files);
    }
}

/// Writes what differs, and removes what is there no more.
fn write_changed(copy: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in files {
        let place = copy.join(path);
        if std::fs::read(&place).ok().as_ref() != Some(bytes) {
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(&place, bytes).unwrap();
        }
    }
    let mut found = BTreeMap::new();
    if copy.join(WITHIN).exists() {
        read_all(copy, Path::new(WITHIN), &mut found);
    }
    let gone: BTreeSet<_> = found.keys().filter(|path| !files.contains_key(*path)).collect();
    for path in gone {
        std::fs::remove_file(copy.join(path)).unwrap();
        // An empty directory of a crate that is gone would still match the workspace's members. Others stay.
        let above = path.ancestors().skip(1).take_while(|above| above.components().count() > 1);
        above.map(|above| copy.join(above)).take_while(|above| std::fs::remove_dir(above).is_ok()).count();
    }
}
