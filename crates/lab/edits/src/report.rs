//! Report of the benchmark: how much of each kind of edit and noise the detector reported as a change.

use crate::choice::Half;
use crate::editable_page::EditablePage;
use crate::kinds::{EDITS, Origin};
use crate::noise::NOISE;
use std::fmt;

/// Number of edits or looks, and how many of them the detector reported as changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedRate {
    /// Number of those reported as changes.
    pub reported: usize,
    /// All.
    pub of: usize,
}

impl ReportedRate {
    /// Share of those reported as changes, from 0 to 1; `None` if there were none at all.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.reported as f64 / self.of as f64)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { reported: self.reported + other.reported, of: self.of + other.of }
    }
}

/// As in a table: `.987`, or nothing.
impl fmt::Display for ReportedRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.share().map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
        formatter.pad(text.strip_prefix('0').unwrap_or(&text))
    }
}

/// A kind of edit or noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedRow {
    /// Name of the kind: the edited part, or the noise.
    pub name: &'static str,
    pub origin: Origin,
    /// On the pages that may be looked at.
    pub known: ReportedRate,
    /// On the pages that are only counted.
    pub held_out: ReportedRate,
}

impl ReportedRow {
    fn new(name: &'static str, origin: Origin) -> Self {
        Self { name, origin, known: ReportedRate::default(), held_out: ReportedRate::default() }
    }

    pub(crate) fn add(&mut self, half: Half, reported: usize, of: usize) {
        let rate = match half {
            Half::Known => &mut self.known,
            Half::HeldOut => &mut self.held_out,
        };
        *rate = rate.plus(ReportedRate { reported, of });
    }

    /// On all pages.
    pub fn all(&self) -> ReportedRate {
        self.known.plus(self.held_out)
    }

    /// The sum of rows.
    pub fn total(name: &'static str, rows: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> ReportedRate| rows.iter().map(of).fold(ReportedRate::default(), ReportedRate::plus);
        Self { known: sum(|row| row.known), held_out: sum(|row| row.held_out), ..Self::new(name, Origin::Either) }
    }
}

/// The result of the benchmark: how much of each kind of edit and noise was reported as a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditReport {
    /// Pages of the half that may be looked at.
    pub known_pages: usize,
    /// Pages of the half that is only counted.
    pub held_out_pages: usize,
    /// By kind of edit: edits that were reported. All should be.
    pub edits: Vec<ReportedRow>,
    /// By kind of noise: looks that were reported as changes, after the noise had shown itself six times. None should be.
    pub noise: Vec<ReportedRow>,
    /// Looks at a page most of which truly changes each time, and edits of a page while noise goes on. All should be
    /// reported.
    pub must_be_reported: [ReportedRow; 2],
}

impl EditReport {
    pub(crate) fn new(pages: &[EditablePage]) -> Self {
        let known_pages = pages.iter().filter(|page| page.half == Half::Known).count();
        Self {
            known_pages,
            held_out_pages: pages.len() - known_pages,
            edits: EDITS.iter().map(|kind| ReportedRow::new(kind.name, kind.origin)).collect(),
            noise: NOISE.iter().map(|kind| ReportedRow::new(kind.name, Origin::Inserted)).collect(),
            must_be_reported: [
                ReportedRow::new("most of the page changes at every look", Origin::Real),
                ReportedRow::new("word in a paragraph, while noise goes on", Origin::Real),
            ],
        }
    }

    /// All edits.
    pub fn all_edits(&self) -> ReportedRow {
        ReportedRow::total("all edits", &self.edits)
    }

    /// All looks at noise.
    pub fn all_noise(&self) -> ReportedRow {
        ReportedRow::total("all noise", &self.noise)
    }
}
