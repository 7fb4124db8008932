//! The stored copies of a crawl over Kafka, read from their topic, the changelog of the detectors' table.

use super::VisitCopy;
use daemon::{CommandFailure, TopicReader};
use messages::{Encoded, PageContent, topics};
use settings::Settings;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Visits the last copy of each page.
pub(super) fn copies_in_topic(
    settings: &Settings,
    visit: &mut VisitCopy<'_>,
) -> Result<ControlFlow<()>, CommandFailure> {
    let mut reader = TopicReader::open(settings, topics::PAGE_CONTENTS, "recrawl-contents")?;
    // Earlier copies of a page stand in the topic until it is compacted.
    let mut last: HashMap<Vec<u8>, u64> = HashMap::new();
    reader.read_all(|record| {
        last.insert(record.key.to_vec(), record.offset);
        Ok(())
    })?;
    let mut flow = ControlFlow::Continue(());
    reader.read_all(|record| {
        // A page may have been written again since, and the noted copy compacted away.
        let is_last = last.get(&record.key[..]).is_some_and(|last| record.offset >= *last);
        let Some(value) = record.value.as_deref().filter(|_| is_last && flow.is_continue()) else { return Ok(()) };
        let copy = PageContent::decode(value).map_err(|error| {
            let (partition, offset) = (record.partition, record.offset);
            CommandFailure::World(format!("page-contents: record {partition}@{offset} cannot be read: {error}"))
        })?;
        flow = visit(copy, None)?;
        Ok(())
    })?;
    Ok(flow)
}
