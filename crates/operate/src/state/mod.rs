//! The state of a crawl: one set of questions, answered from the tables of a data directory or by the stages over Kafka.

mod answers;
mod copies;
mod directory;
mod stages;

pub use self::directory::{Inspection, has_crawl};
pub use self::stages::Asker;

use crate::{ExplanationParts, NamedSource, PageParts, RuleSets};
use daemon::{CommandFailure, Status};
use detector::{BlindPage, PageSketch, VersionFacts};
use messages::{HostSelection, PageContent, PageSelection};
use page::CanonicalUrl;
use scheduler::{HostListing, ListedPage};
use settings::Settings;
use std::ops::ControlFlow;
use std::time::Duration;
use stream::StageTopology;

/// The stored state of a page that a watch rule is tried on.
#[derive(Debug, Default)]
pub struct WatchedPage {
    /// As of a page that was never looked at, if the detector knows none.
    pub sketch: PageSketch,
    /// `None` if its rule sees all.
    pub blind: Option<BlindPage>,
    /// `None` if no copy is kept, or over Kafka only its text.
    pub copy: Option<PageContent>,
}

/// Takes a stored copy and the title of its page. `Break` ends the visits.
pub type VisitCopy<'a> = dyn FnMut(PageContent, Option<&str>) -> Result<ControlFlow<()>, CommandFailure> + 'a;

/// Answers questions about a crawl.
pub trait CrawlState {
    /// Number of partitions of the loop.
    fn partitions(&self) -> u32;
    /// The records that the stages keep of a page.
    fn page(&self, url: &CanonicalUrl) -> Result<PageParts, CommandFailure>;
    /// The stored copy of a page. `None` if no copy is kept.
    fn copy(&self, url: &CanonicalUrl) -> Result<Option<PageContent>, CommandFailure>;
    /// Visits all stored copies, with the titles of their pages where they are known, until a visit ends it. Over Kafka titles are
    /// not known.
    fn each_copy(&self, visit: &mut VisitCopy<'_>) -> Result<ControlFlow<()>, CommandFailure>;
    /// The kept versions of a page, the oldest first.
    fn history(&self, url: &CanonicalUrl) -> Result<Vec<VersionFacts>, CommandFailure>;
    /// The copy of a version of a page, by its number. `None` if it is not kept.
    fn version(&self, url: &CanonicalUrl, number: u32) -> Result<Option<PageContent>, CommandFailure>;
    /// Visits the selected pages, in no order, and no more than the selection allows in all.
    fn list_pages(&self, selection: &PageSelection, visit: &mut dyn FnMut(ListedPage)) -> Result<(), CommandFailure>;
    /// Visits the stored state of these pages.
    fn watched(
        &self,
        urls: &[CanonicalUrl],
        visit: &mut dyn FnMut(&CanonicalUrl, WatchedPage) -> Result<(), CommandFailure>,
    ) -> Result<(), CommandFailure>;
    /// Why a page is or is not due.
    fn explain(&self, url: &CanonicalUrl) -> Result<ExplanationParts, CommandFailure>;
    /// The first hosts in some order.
    fn hosts(&self, selection: HostSelection) -> Result<HostListing, CommandFailure>;
    /// Number of pages that were found first on a source, and are no seeds. A page is named by its canonical address.
    fn discovered_on(&self, source: &NamedSource) -> Result<u64, CommandFailure>;
    /// The watch rules that operators have saved.
    fn saved_rules(&self) -> Result<RuleSets, CommandFailure>;
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
