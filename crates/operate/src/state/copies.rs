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
    for partition in 0..reader.partitions() {
        // Earlier copies of a page stand in the topic until it is compacted. A page has one partition.
        let mut last: HashMap<Vec<u8>, u64> = HashMap::new();
        let _ = reader.read_partition(partition, |record| {
            last.insert(record.key.to_vec(), record.offset);
            Ok(ControlFlow::Continue(()))
        })?;
        let flow = reader.read_partition(partition, |record| {
            // A page may have been written again since, and the noted copy compacted away.
            let is_last = last.get(&record.key[..]).is_some_and(|last| record.offset >= *last);
            let Some(value) = record.value.as_deref().filter(|_| is_last) else { return Ok(ControlFlow::Continue(())) };
            let copy = PageContent::decode(value).map_err(|error| {
                let offset = record.offset;
                CommandFailure::World(format!("page-contents: record {partition}@{offset} cannot be read: {error}"))
            })?;
            visit(copy, None)
        })?;
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}
