//! Where the real pages lie.

use std::path::{Path, PathBuf};

/// The directory of recorded pages in the corpora: those that `RECRAWL_CORPORA` names, relative to the workspace, or else
/// those beside the project. It need not exist.
pub fn recorded_pages() -> PathBuf {
    let corpora = std::env::var_os("RECRAWL_CORPORA").unwrap_or_else(|| "../shared/corpora".into());
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(corpora).join("content")
}
