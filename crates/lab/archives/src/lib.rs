//! Which histories of pages were recorded, and what would the detector have said of them?
//!
//! A directory of recorded histories holds tables (`pages.csv.zst`, `changes.csv.zst` and others: CSV with a header, packed
//! with zstd; [`Table`]), and bytes of versions in frames, each packed as a whole ([`Frames`]).
//!
//! [`Archive`] reads one (`pages`, `changes`, `blobs` and `frames`) and hands every version of every page to a
//! [`change::PageState`], in the order in which they were fetched and with nothing else to go by: no labels, no selectors,
//! no look ahead. [`Archive::judge`] gives a [`Line`] per raw change.
//!
//! What is decided of a page depends on that page alone, so pages are read one after the other, which unpacks every frame
//! once; the lines are then put in the order of time, as a live detector would have written them.
//!
//! [`Score`] lays the lines beside the labels of those who kept the archive. The detector never sees a label.

mod archive;
mod blobs;
mod frames;
mod judge;
mod read_error;
mod score;
mod table;

pub use crate::archive::{Archive, ArchiveError, Page};
pub use crate::frames::Frames;
pub use crate::judge::{ArchivedLook, Line};
pub use crate::read_error::ReadError;
pub use crate::score::Score;
pub use crate::table::{Row, Table};
