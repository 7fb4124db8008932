//! Which histories of pages were recorded, and how would the detector have judged them?
//!
//! A directory of recorded histories holds tables (`pages.csv.zst`, `changes.csv.zst` and others: CSV with a header,
//! compressed with zstd; [`CsvTable`]), and bytes of versions in frames, each compressed as a whole ([`Frames`]).
//!
//! [`Archive`] reads one (`pages`, `changes`, `blobs` and `frames`) and passes every version of every page to a
//! [`change::PageState`], in the order of the fetches and with no other input: no labels, no selectors, no look ahead.
//! [`Archive::judge`] returns a [`JudgedChange`] per raw change.
//!
//! The verdicts on a page depend on that page alone. So pages are read one by one, which unpacks every frame once. The
//! lines are then sorted by time, as a live detector would have written them.
//!
//! [`LabelScore`] compares the lines with the archive's labels. The detector never sees a label.

mod adjudged;
mod archive;
mod blobs;
mod frames;
mod judge;
mod live;
mod read_error;
mod score;
mod table;

pub use crate::archive::{Archive, ArchiveError, ArchivedPage};
pub use crate::frames::Frames;
pub use crate::judge::{ArchivedLook, JudgedChange};
pub use crate::live::LivePage;
pub use crate::read_error::ReadError;
pub use crate::score::LabelScore;
pub use crate::table::{CsvRow, CsvTable};
