//! Finds the corpora, in `RECRAWL_CORPORA` or beside the project.

use std::path::{Path, PathBuf};

/// The directory `content` of the corpora, if it holds this file. Otherwise `None`, and the output says so.
pub(crate) fn content_with(file: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/corpora");
    let directory = std::env::var_os("RECRAWL_CORPORA").map_or_else(default, PathBuf::from).join("content");
    if directory.join(file).exists() {
        return Some(directory);
    }
    println!("left out: no corpora; set RECRAWL_CORPORA to the directory that holds content/");
    None
}
