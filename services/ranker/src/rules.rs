//! The settings of the ranker.

use importance::weight::WeightMap;
use scope::PagePattern;
use settings::{Draft, RankMethod, Settings};
use std::sync::Arc;

/// A score above this many times the mean counts as so much, …
const LARGEST_SCORE: f64 = 1_000.0;
/// … and no weight is below this.
pub(crate) const LEAST_WEIGHT: f64 = 0.05;

/// Accounts of a partition for each page that its scheduler may know, …
const ACCOUNTS_PER_PAGE: u64 = 4;
/// … at least so many, as one page may link to ten thousand others, …
const LEAST_ACCOUNTS: u64 = 1 << 14;
/// … and at most as many as can be numbered.
const MOST_ACCOUNTS: u64 = 1 << 30;

#[derive(Clone, Debug)]
pub struct RankerRules {
    pub(crate) method: RankMethod,
    pub(crate) map: WeightMap,
    /// Least change of a weight that is sent to the scheduler, as a ratio.
    pub(crate) least_ratio: f64,
    pub(crate) partitions: u32,
    /// Most accounts of a partition.
    pub(crate) max_accounts: usize,
    /// Most links from a page in a focus by which others without promise are reached.
    pub(crate) tunnel_depth: u32,
    /// Whether sites that live on exchanged links are demoted.
    pub(crate) spam_shape: bool,
    /// Pages at which trust begins. Without any, trust plays no part.
    pub(crate) trusted: Arc<[PagePattern]>,
}

impl RankerRules {
    /// Extracts the ranker's part of the settings.
    pub fn new(settings: &Settings, partitions: u32) -> Self {
        Self {
            method: settings.ranker.importance,
            map: WeightMap::new(settings.ranker.exponent, LARGEST_SCORE, LEAST_WEIGHT)
                .expect("the settings keep the exponent in range"),
            least_ratio: 1.0 + settings.ranker.min_change,
            partitions,
            max_accounts: max_accounts(settings.crawl.max_pages.div_ceil(u64::from(partitions))),
            tunnel_depth: settings.focus.tunnel_depth,
            spam_shape: settings.ranker.spam_shape,
            trusted: settings.ranker.trusted.iter().map(|text| trusted_pages(text)).collect(),
        }
    }
}

/// Most accounts of a partition that may know so many pages.
fn max_accounts(pages: u64) -> usize {
    pages.saturating_mul(ACCOUNTS_PER_PAGE).clamp(LEAST_ACCOUNTS, MOST_ACCOUNTS) as usize
}

/// Refuses entries of `ranker.trusted` that are no patterns of pages.
pub fn check_trusted(draft: &mut Draft) {
    draft.check_list(("ranker", "trusted"), settings::TRUSTED_PAGES, |text| PagePattern::parse(text).is_ok());
}

fn trusted_pages(text: &str) -> PagePattern {
    PagePattern::parse(text).expect("trusted pages were checked when the settings were loaded")
}
