//! Compares lines with labels.

use crate::adjudged;
use crate::archive::{Archive, ArchiveError};
use crate::judge::JudgedChange;
use std::collections::{HashMap, HashSet};

/// Pages with the same bytes, fetched within this many seconds, are one document archived under several names.
const SAME_LOOK_S: i64 = 3_600;

/// Agreement of lines and labels. Several names of one document (most of their versions have the same bytes) count as
/// one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelScore {
    /// Number of raw changes with a label.
    pub labelled: usize,
    /// Meaningful by line and label.
    pub hits: usize,
    /// Meaningful by line only.
    pub false_alarms: usize,
    /// Meaningful by label only.
    pub misses: usize,
    /// Number of the false alarms that are edits of the page which no label covers, read by eye.
    pub edits_without_label: usize,
}

impl LabelScore {
    /// Compares lines with the labels of their archive.
    pub fn of(archive: &Archive, lines: &[JudgedChange]) -> Result<Self, ArchiveError> {
        let labels = archive.labels()?;
        let names = documents(archive);
        let key = |page_id: u32, unix_time: i64| match names.get(&page_id) {
            Some(document) => (*document, unix_time / SAME_LOOK_S),
            None => (page_id, unix_time),
        };
        let (mut said, mut true_changes, mut read) = (HashSet::new(), HashSet::new(), HashSet::new());
        let hosts: HashMap<u32, &str> =
            archive.pages().iter().map(|page| (page.page_id, host(&page.address))).collect();
        let mut labelled = 0;
        for line in lines {
            let Some(label) = labels.get(&(line.page_id, line.unix_time)) else { continue };
            labelled += 1;
            if line.meaningful {
                said.insert(key(line.page_id, line.unix_time));
                let host = hosts.get(&line.page_id).copied().unwrap_or_default();
                if adjudged::is_edit(host, line.unix_time) {
                    read.insert(key(line.page_id, line.unix_time));
                }
            }
            if *label {
                true_changes.insert(key(line.page_id, line.unix_time));
            }
        }
        let hits = said.intersection(&true_changes).count();
        let edits_without_label = read.difference(&true_changes).count();
        let (false_alarms, misses) = (said.len() - hits, true_changes.len() - hits);
        Ok(Self { labelled, hits, false_alarms, misses, edits_without_label })
    }

    /// Share of the reported changes that are meaningful by label.
    pub fn precision(&self) -> f64 {
        self.hits as f64 / (self.hits + self.false_alarms).max(1) as f64
    }

    /// Share of the reported changes that are meaningful by label, or edits that no label covers.
    pub fn precision_as_read(&self) -> f64 {
        (self.hits + self.edits_without_label) as f64 / (self.hits + self.false_alarms).max(1) as f64
    }

    /// Share of the meaningful changes by label that were reported.
    pub fn recall(&self) -> f64 {
        self.hits as f64 / (self.hits + self.misses).max(1) as f64
    }
}

fn host(address: &str) -> &str {
    address.split('/').nth(2).unwrap_or_default()
}

/// Maps each page of a document with several names to the smallest page number among them.
fn documents(archive: &Archive) -> HashMap<u32, u32> {
    let mut first_of: HashMap<&str, u32> = HashMap::new();
    let mut names = HashMap::new();
    for page in archive.pages() {
        let Some(canonical) = page.document.as_deref() else { continue };
        let first = *first_of.entry(canonical).or_insert(page.page_id);
        if first != page.page_id {
            names.insert(first, first);
            names.insert(page.page_id, first);
        }
    }
    names
}
