//! The section `[focus]`.

use crate::form::{Count, List, Number, Optional, Path};
use std::path::PathBuf;

section! {
    /// The focuses that pages should be about.
    focus: Focus {
        /// Files of focuses, or names of built-in classes.
        files: Vec<PathBuf> = List(Path("names of focus files or of built-in classes, such as [\"sailing.toml\", \"sport\"]")),
        /// Relevance from which a page is about a focus, in place of the focuses' own.
        page_threshold: Option<f64> = Optional(Number(0.0, 1.0)),
        /// Closeness to a focus below which the words of a link promise nothing.
        link_threshold: f64 = Number(0.0, 1.0),
        /// Most links from a page in a focus by which others without promise are reached.
        tunnel_depth: u32 = Count::new(0, 1_000),
    }
}
