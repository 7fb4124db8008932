//! Edits that the detector must report and noise that it must not, made on real pages: test data, which no program has.
//!
//! Labels say what one archive thought of the changes that it saw. They say nothing of the changes that people watch
//! pages for. So here an edit of one kind is made in the newest version of a real page, where a reader counts what
//! stands, and the detector looks at the page before and after it, as it runs live ([`LivePage`](archives::LivePage)).
//! Noise is made in the same way: one element of a real page differs at every fetch.
//!
//! [`measure`] returns how much of each kind was reported. [`for_each_pair`] shows a sample of the same edits and noise as
//! pairs of versions, for other rules. [`measure_mirrors`] makes copies of pages and searches for them. Everything is drawn by a seed.

mod choice;
mod controls;
mod data;
mod draw;
mod editable_page;
mod fixtures;
mod histories;
mod html_places;
mod in_place;
mod kinds;
mod languages;
mod line_places;
mod looks;
mod markup;
mod measure;
mod mirrors;
mod noise;
mod pairs;
mod places;
mod report;
mod structure;
mod values;

pub use crate::choice::Half;
pub use crate::histories::{
    HistoryRow, changes_on_made_pages, noise_on_made_pages, noise_on_real_pages, pairs_on_made_pages,
};
pub use crate::kinds::Origin;
pub use crate::measure::measure;
pub use crate::mirrors::{MirrorRow, MirrorsFound, RealPage, measure_mirrors, mirror_total, real_pages};
pub use crate::pairs::{EditPair, for_each_pair};
pub use crate::report::{EditReport, ReportedRate, ReportedRow};
