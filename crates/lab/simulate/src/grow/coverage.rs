//! Coverage by quality: the share of the importance of the web that a crawl has copied, by number of fetches.

use super::web::GrowingWeb;
use crate::error::SimulationError;

/// Points of the course of a crawl, where the fetches of the whole budget are divided evenly.
const POINTS: f64 = 20.0;

/// The pages that a crawl has copied by a number of fetches.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CoveragePoint {
    /// Fetches since the start, those that renewed copies included.
    pub fetches: u64,
    /// Pages that have a copy, of all that were there by then.
    pub page_share: f64,
    /// The same, pages counted by their PageRank at the end of the run.
    pub importance_share: f64,
}

/// The course of a crawl.
#[derive(Clone, Debug)]
pub(super) struct CoverageTally {
    /// By number of page.
    importance: Vec<f64>,
    /// Times of birth, rising, each with the importance of all pages born by then.
    born: Vec<(f64, f64)>,
    copied_pages: usize,
    copied_importance: f64,
    fetches: u64,
    every_fetches: u64,
    points: Vec<CoveragePoint>,
}

impl CoverageTally {
    /// For a crawl of this many fetches, if it spends its budget.
    ///
    /// # Errors
    /// If the web is too large for a graph.
    pub(super) fn new(web: &GrowingWeb, end_days: f64, fetches: f64) -> Result<Self, SimulationError> {
        let importance = web.importance(end_days)?;
        let mut born: Vec<(f64, f64)> =
            web.pages().iter().zip(&importance).map(|(page, importance)| (page.born_days, *importance)).collect();
        born.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut sum = 0.0;
        for (_, importance) in &mut born {
            sum += *importance;
            *importance = sum;
        }
        let every_fetches = (fetches / POINTS).ceil().max(1.0) as u64;
        Ok(Self {
            importance,
            born,
            copied_pages: 0,
            copied_importance: 0.0,
            fetches: 0,
            every_fetches,
            points: Vec::new(),
        })
    }

    /// A page is copied for the first time; [`CoverageTally::look`] counts the fetch.
    pub(super) fn copied(&mut self, page: usize) {
        self.copied_pages += 1;
        self.copied_importance += self.importance[page];
    }

    /// The budget begins: copies that were there before cost nothing.
    pub(super) fn begin(&mut self) {
        self.fetches = 0;
        self.points.clear();
    }

    /// A fetch is over.
    pub(super) fn look(&mut self, now_days: f64) {
        self.fetches += 1;
        if !self.fetches.is_multiple_of(self.every_fetches) {
            return;
        }
        let there = self.born.partition_point(|born| born.0 <= now_days);
        let Some((_, importance)) = there.checked_sub(1).and_then(|last| self.born.get(last)) else { return };
        self.points.push(CoveragePoint {
            fetches: self.fetches,
            page_share: self.copied_pages as f64 / there as f64,
            importance_share: self.copied_importance / importance,
        });
    }

    pub(super) fn points(self) -> Vec<CoveragePoint> {
        self.points
    }
}
