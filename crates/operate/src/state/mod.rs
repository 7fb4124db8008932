//! The state of a crawl: one set of questions, answered from the tables of a data directory or by the stages over Kafka.

mod directory;
mod stages;

pub use self::directory::{Inspection, has_crawl};
pub use self::stages::Asker;

use crate::{ExplanationParts, NamedSource, PageParts};
use daemon::{CommandFailure, Status};
use messages::{HostSelection, PageContent};
use page::CanonicalUrl;
use scheduler::HostListing;
use settings::Settings;
use std::time::Duration;
use stream::StageTopology;

/// Answers questions about a crawl.
pub trait CrawlState {
    /// Number of partitions of the loop.
    fn partitions(&self) -> u32;
    /// The records that the stages keep of a page.
    fn page(&self, url: &CanonicalUrl) -> Result<PageParts, CommandFailure>;
    /// The stored copy of a page. `None` if no copy is kept.
    fn copy(&self, url: &CanonicalUrl) -> Result<Option<PageContent>, CommandFailure>;
    /// Why a page is or is not due.
    fn explain(&self, url: &CanonicalUrl) -> Result<ExplanationParts, CommandFailure>;
    /// The first hosts in some order.
    fn hosts(&self, selection: HostSelection) -> Result<HostListing, CommandFailure>;
    /// Number of pages that were found first on a source, and are no seeds. A page is named by its canonical address.
    fn discovered_on(&self, source: &NamedSource) -> Result<u64, CommandFailure>;
    /// Number of hosts that can be listed at most.
    fn most_hosts(&self) -> Option<i32>;
    /// The state of the crawl, and whether all stages have answered.
    fn status(&self) -> Result<(Status, Result<(), CommandFailure>), CommandFailure>;
}

/// Opens the state of the crawl that the settings name. Stages over Kafka have this long to answer, a day at most.
///
/// # Errors
/// The settings name no crawl, or it cannot be opened.
pub fn open(
    settings: &Settings,
    topologies: Vec<StageTopology>,
    wait: Duration,
) -> Result<Box<dyn CrawlState>, CommandFailure> {
    match (&settings.crawl.data, &settings.kafka.brokers) {
        (Some(data), _) => Ok(Box::new(Inspection::open(settings, topologies, data)?)),
        (None, Some(_)) => Ok(Box::new(Asker::open(settings, topologies, wait)?)),
        (None, None) => {
            Err(CommandFailure::Input("no crawl given: give --data DIR, or --config with kafka.brokers".to_owned()))
        }
    }
}
