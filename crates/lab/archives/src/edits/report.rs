//! Report of the benchmark: how much of each kind of edit and noise the detector reported as a change.

use super::choice::Half;
use super::editable_page::EditablePage;
use super::kinds::{EDITS, Origin};
use super::noise::NOISE;
use serde::Serialize;
use std::fmt;

/// Number of edits or looks, and how many of them the detector reported as changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToldRate {
    /// Number of those reported as changes.
    pub told: usize,
    /// All.
    pub of: usize,
}

impl ToldRate {
    /// Share of those reported as changes, from 0 to 1; `None` if there were none at all.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.told as f64 / self.of as f64)
    }

    fn plus(self, other: Self) -> Self {
        Self { told: self.told + other.told, of: self.of + other.of }
    }
}

/// As in a table: `.987`, or nothing.
impl fmt::Display for ToldRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.share().map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
        formatter.pad(text.strip_prefix('0').unwrap_or(&text))
    }
}

/// A kind of edit or noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToldRow {
    /// Name of the kind: the edited part, or the noise.
    pub name: &'static str,
    /// Where the text comes from.
    pub origin: Origin,
    /// On the pages that may be looked at.
    pub known: ToldRate,
    /// On the pages that are only counted.
    pub held_out: ToldRate,
}

impl ToldRow {
    fn new(name: &'static str, origin: Origin) -> Self {
        Self { name, origin, known: ToldRate::default(), held_out: ToldRate::default() }
    }

    pub(crate) fn add(&mut self, half: Half, told: usize, of: usize) {
        let rate = match half {
            Half::Known => &mut self.known,
            Half::HeldOut => &mut self.held_out,
        };
        *rate = rate.plus(ToldRate { told, of });
    }

    /// On all pages.
    pub fn all(&self) -> ToldRate {
        self.known.plus(self.held_out)
    }

    /// The sum of rows.
    pub fn total(name: &'static str, rows: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> ToldRate| rows.iter().map(of).fold(ToldRate::default(), ToldRate::plus);
        Self { known: sum(|row| row.known), held_out: sum(|row| row.held_out), ..Self::new(name, Origin::Either) }
    }
}

/// The result of the benchmark: how much of each kind of edit and noise was reported as a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditReport {
    /// Pages of the half that may be looked at.
    pub known_pages: usize,
    /// Pages of the half that is only counted.
    pub held_out_pages: usize,
    /// By kind of edit: edits that were reported. All should be.
    pub edits: Vec<ToldRow>,
    /// By kind of noise: looks that were reported as changes, after the noise had shown itself six times. None should be.
    pub noise: Vec<ToldRow>,
    /// Looks at a page most of which truly changes each time, and edits of a page while noise goes on. All should be
    /// reported.
    pub must_be_told: [ToldRow; 2],
}

impl EditReport {
    pub(crate) fn new(pages: &[EditablePage]) -> Self {
        let known_pages = pages.iter().filter(|page| page.half == Half::Known).count();
        Self {
            known_pages,
            held_out_pages: pages.len() - known_pages,
            edits: EDITS.iter().map(|kind| ToldRow::new(kind.name, kind.origin)).collect(),
            noise: NOISE.iter().map(|kind| ToldRow::new(kind.name, Origin::Inserted)).collect(),
            must_be_told: [
                ToldRow::new("most of the page changes at every look", Origin::Real),
                ToldRow::new("word in a paragraph, while noise goes on", Origin::Real),
            ],
        }
    }

    /// All edits.
    pub fn all_edits(&self) -> ToldRow {
        ToldRow::total("all edits", &self.edits)
    }

    /// All looks at noise.
    pub fn all_noise(&self) -> ToldRow {
        ToldRow::total("all noise", &self.noise)
    }
}
