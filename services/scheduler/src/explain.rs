//! Why a page is, or is not, due: from a partition's tables, beside the running loop.

pub use frontier::explain::{Explanation, HintQuality, Hints, HostCap, RateRange, SweepHazard};

use crate::outlook::read;
use crate::state::{HOSTS, OUTLOOK, PAGES};
use frontier::Rules;
use page::{CanonicalUrl, Timestamp};
use stream::{TableError, TaskTables};
use sweeps::Outlook;

/// A reading of the tables that failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExplainError {
    /// The tables.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// What they hold.
    #[error("{0}")]
    Record(String),
}

/// Explains the decision about a page; `None` when it is not known. `price`: the last one that was published.
///
/// # Errors
/// When the tables cannot be read.
pub fn explain(
    tables: &TaskTables,
    rules: &Rules,
    url: &CanonicalUrl,
    price: Option<f64>,
    now: Timestamp,
) -> Result<Option<Explanation>, ExplainError> {
    let mut outlook = Outlook::default();
    tables.scan(OUTLOOK, &mut |key, record| -> Result<(), ExplainError> {
        let changes = read(key, record).map_err(ExplainError::Record)?;
        outlook.apply(&changes).map_err(|error| ExplainError::Record(error.to_string()))
    })?;
    let schedule = tables.get(HOSTS, &url.host())?;
    let (site, mut pages) = (url.site_key(), Vec::new());
    tables.scan(PAGES, &mut |id, page| -> Result<(), ExplainError> {
        if page.url.site_key() == site {
            pages.push((id, page));
        }
        Ok(())
    })?;
    Ok(frontier::explain::explain(rules, url, outlook, &pages, schedule, price, now))
}
