//! Focused crawling: what share of the pages that a crawl fetches is in the focus, in which order of fetches?
//!
//! The web is [generated] or made of saved pages. Whether a page is truly in the focus is known apart from the words
//! that the crawls go by. Each crawl knows only the part of the web that it has fetched, except the oracle.

pub mod generated;
mod orders;
mod rank;
mod staged;
mod web;

pub use self::web::{FocusPage, FocusWeb};

use self::orders::CrawledPage;
use crate::error::SimulationError;
use focus::metrics::{harvest_rate, mean_height, target_recall};
use focus::{Focus, LinkPrediction};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOrder {
    /// Links in the order in which they are found.
    BreadthFirst,
    /// The best PageRank among the links found.
    PageRank,
    /// PageRank by the promise of links, predicted as published.
    IPageRank,
    /// The same with our prediction.
    IPageRankWithOurPrediction,
    /// By the stages of the running system.
    Recrawl,
    /// The nearest way to a page in the focus, known beforehand.
    Oracle,
}

impl FetchOrder {
    pub const ALL: [Self; 6] = [
        Self::BreadthFirst,
        Self::PageRank,
        Self::IPageRank,
        Self::IPageRankWithOurPrediction,
        Self::Recrawl,
        Self::Oracle,
    ];

    /// Its name, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "breadth-first",
            Self::PageRank => "pagerank",
            Self::IPageRank => "ipagerank",
            Self::IPageRankWithOurPrediction => "ipagerank, our prediction",
            Self::Recrawl => "recrawl",
            Self::Oracle => "oracle",
        }
    }
}

/// A crawler that looks for a focus, with the web as it reads it.
pub struct FocusCrawler<'a> {
    web: &'a FocusWeb,
    focus: &'a Focus,
    /// With our prediction of links, and with the published one.
    ours: Vec<CrawledPage>,
    published: Vec<CrawledPage>,
}

/// The pages that a crawl has fetched, and which of them are in the focus.
#[derive(Clone, Debug, PartialEq)]
pub struct Harvest {
    pub order: FetchOrder,
    /// Pages as fetched: places in [`FocusWeb::pages`].
    pub fetched: Vec<usize>,
    /// Whether each of them is in the focus.
    pub relevant: Vec<bool>,
    /// Number of pages in the focus that there are.
    pub known_relevant: usize,
}

impl Harvest {
    /// Share of pages in the focus among the first fetches. `None` if fewer were made.
    pub fn rate(&self, fetches: usize) -> Option<f64> {
        harvest_rate(&self.relevant, fetches)
    }

    /// Share of all pages in the focus that the first fetches found. `None` if fewer were made.
    pub fn recall(&self, fetches: usize) -> Option<f64> {
        target_recall(&self.relevant, fetches, self.known_relevant)
    }

    /// Mean harvest rate over these numbers of fetches, by the trapezoidal rule.
    pub fn mean_rate(&self, at: &[usize]) -> Option<f64> {
        let curve: Option<Vec<(usize, f64)>> =
            at.iter().map(|fetches| Some((*fetches, self.rate(*fetches)?))).collect();
        mean_height(&curve?)
    }
}

impl<'a> FocusCrawler<'a> {
    pub fn new(web: &'a FocusWeb, focus: &'a Focus) -> Self {
        Self {
            web,
            focus,
            ours: orders::read(&LinkPrediction::default(), focus, web),
            published: orders::read(&LinkPrediction::published(), focus, web),
        }
    }

    /// How often the words of pages give the true answer: of pages in the focus, and of the others.
    pub fn accuracy(&self) -> [f64; 2] {
        [true, false].map(|is_relevant| {
            let judged = self.web.pages().iter().zip(&self.ours).filter(|(page, _)| page.is_relevant == is_relevant);
            let right = judged.clone().filter(|(page, reading)| page.is_relevant == reading.is_relevant).count();
            right as f64 / judged.count() as f64
        })
    }

    /// Crawls in an order, up to `most` fetches. The crawl ends earlier if it knows no further page.
    ///
    /// # Errors
    /// If a stage of the running system fails.
    pub fn crawl(&self, order: FetchOrder, most: usize) -> Result<Harvest, SimulationError> {
        let seeds = self.web.seeds();
        let fetched = match order {
            FetchOrder::BreadthFirst => orders::breadth_first(&self.ours, seeds, most),
            FetchOrder::PageRank => orders::by_rank(&self.ours, seeds, most, |_| 1.0),
            FetchOrder::IPageRank => orders::by_rank(&self.published, seeds, most, |relevance| relevance),
            FetchOrder::IPageRankWithOurPrediction => orders::by_rank(&self.ours, seeds, most, |relevance| relevance),
            FetchOrder::Recrawl => staged::crawl(self.web, self.focus, most)?,
            FetchOrder::Oracle => orders::oracle(self.web, &self.ours, seeds, most),
        };
        let pages = self.web.pages();
        Ok(Harvest {
            order,
            relevant: fetched.iter().map(|page| pages[*page].is_relevant).collect(),
            fetched,
            known_relevant: pages.iter().filter(|page| page.is_relevant).count(),
        })
    }
}
