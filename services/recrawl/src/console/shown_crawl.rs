//! The crawl that a console shows: one that runs in this process, or one over Kafka.

use crate::CommandFailure;
use crate::stages::topologies;
use daemon::{Board, Status, TopicReader};
use messages::topics::TopicSpec;
use operate::state::{Asker, CrawlState, Inspection};
use settings::Settings;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use stream_rocksdb::EmbeddedBackend;
use topology::LogNames;

/// Name of the clients of Kafka that read topics for a screen.
const CLIENT: &str = "recrawl-console";

/// Where a console finds what it shows. Each screen asks anew.
pub(crate) trait ShownCrawl: Send + Sync {
    /// The state of pages and hosts.
    fn state(&self) -> Result<Box<dyn CrawlState + '_>, CommandFailure>;
    /// The state of the stages, with the figures of the crawl.
    fn status(&self, state: &dyn CrawlState) -> Result<Status, CommandFailure>;
    /// A reader of a topic, which is named without prefix.
    fn reader(&self, topic: TopicSpec) -> Result<TopicReader, CommandFailure>;
    /// Whether a data directory has a token for this port.
    fn has_directory(&self) -> bool;
}

/// A crawl that runs in this process.
pub(crate) struct RunningCrawl {
    pub(crate) settings: Settings,
    pub(crate) data: PathBuf,
    pub(crate) names: LogNames,
    pub(crate) log: Arc<EmbeddedBackend>,
    pub(crate) board: Board,
}

impl ShownCrawl for RunningCrawl {
    fn state(&self) -> Result<Box<dyn CrawlState + '_>, CommandFailure> {
        Ok(Box::new(Inspection::of_running(&self.settings, topologies(), &self.data, self.log.clone())?))
    }

    fn status(&self, _: &dyn CrawlState) -> Result<Status, CommandFailure> {
        Ok(self.board.status())
    }

    fn reader(&self, topic: TopicSpec) -> Result<TopicReader, CommandFailure> {
        TopicReader::of_running(self.log.clone(), &self.names, topic)
    }

    fn has_directory(&self) -> bool {
        true
    }
}

/// A crawl over Kafka, whose stages answer questions.
pub(crate) struct CrawlOverKafka {
    pub(crate) settings: Settings,
    /// How long stages have to answer.
    pub(crate) wait: Duration,
}

impl ShownCrawl for CrawlOverKafka {
    fn state(&self) -> Result<Box<dyn CrawlState + '_>, CommandFailure> {
        Ok(Box::new(Asker::open(&self.settings, topologies(), self.wait)?))
    }

    fn status(&self, state: &dyn CrawlState) -> Result<Status, CommandFailure> {
        // The status names the stages that have not answered.
        state.status().map(|(status, _)| status)
    }

    fn reader(&self, topic: TopicSpec) -> Result<TopicReader, CommandFailure> {
        TopicReader::open(&self.settings, topic, CLIENT)
    }

    fn has_directory(&self) -> bool {
        false
    }
}
