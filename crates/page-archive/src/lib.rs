//! What would the detector have said, version by version, of an archive of pages?
//!
//! [`Archive`] reads a directory of the corpus format (`pages`, `changes`, `blobs` and `frames` as `.csv.zst`, and the files
//! of frames) and hands every version of every page to a [`change::PageState`], in the order in which they were fetched and
//! with nothing else to go by: no labels, no selectors, no look ahead. [`Archive::judge`] gives a [`Line`] per raw change.
//!
//! What is decided of a page depends on that page alone, so pages are read one after the other, which unpacks every frame
//! once; the lines are then put in the order of time, as a live detector would have written them.
//!
//! [`Score`] lays the lines beside the labels of those who kept the archive. The detector never sees a label.

mod archive;
mod frames;
mod judge;
mod score;

pub use crate::archive::{Archive, ArchiveError, Page};
pub use crate::judge::{Line, Look};
pub use crate::score::Score;
