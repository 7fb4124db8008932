//! Pages that an operator has forgotten. What was published of them before is shown to no reader any more.

use super::ReadBudget;
use daemon::{CommandFailure, TopicReader};
use messages::{Encoded, FetchResult, Message, PageChange, PageRemoval, Verdict};
use page::{PageId, Timestamp};
use std::collections::HashMap;
use stream::InputRecord;

/// A record about a page.
pub trait PageRecord: Message {
    fn page(&self) -> PageId;

    /// Number of the request that it answers, if it says so.
    fn attempt(&self) -> Option<i64>;

    /// The removal that a record of the topic stands for. `decoded` is the record, if it is decoded already.
    fn removal(record: &InputRecord, decoded: Option<&Self>) -> Option<Removal>;
}

/// A page is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    pub page: PageId,
    pub removed_at: Timestamp,
    /// Answers to this request and to earlier ones are hidden, also those that come later.
    pub last_attempt: Option<i64>,
}

impl PageRecord for PageChange {
    fn page(&self) -> PageId {
        self.page_id
    }

    fn attempt(&self) -> Option<i64> {
        None
    }

    fn removal(record: &InputRecord, decoded: Option<&Self>) -> Option<Removal> {
        let of = |change: &Self| {
            let removal = Removal { page: change.page_id, removed_at: change.seen_at, last_attempt: None };
            (change.verdict == Verdict::Forgotten).then_some(removal)
        };
        match decoded {
            Some(change) => of(change),
            None => of(&Self::decode(record.value.as_deref()?).ok()?),
        }
    }
}

impl PageRecord for FetchResult {
    fn page(&self) -> PageId {
        self.look.page_id
    }

    fn attempt(&self) -> Option<i64> {
        Some(self.look.attempt)
    }

    fn removal(record: &InputRecord, _: Option<&Self>) -> Option<Removal> {
        let PageRemoval { url, removed_at, last_attempt } = PageRemoval::decode(record.value.as_deref()?).ok()?;
        // Pages that make room for others stay published.
        last_attempt.is_some().then(|| Removal { page: url.page_id(), removed_at, last_attempt })
    }
}

/// The removals in a partition, as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Removals(HashMap<PageId, (u64, Removal)>);

impl Removals {
    /// Takes note of a record if it is a removal. The last one of a page counts.
    pub(crate) fn note<M: PageRecord>(&mut self, record: &InputRecord, decoded: Option<&M>) {
        if let Some(removal) = M::removal(record, decoded) {
            let last = self.0.entry(removal.page).or_insert((record.offset, removal));
            if last.0 < record.offset {
                *last = (record.offset, removal);
            }
        }
    }

    /// The removal that hides a message.
    pub(crate) fn hiding<M: PageRecord>(&self, offset: u64, message: &M) -> Option<&Removal> {
        let (at, removal) = self.0.get(&message.page())?;
        let is_late = message.attempt().zip(removal.last_attempt).is_some_and(|(attempt, last)| attempt <= last);
        (offset < *at || is_late).then_some(removal)
    }

    /// Whether a message that is passed on is hidden. A removal that is passed on itself hides nothing any more.
    pub(crate) fn hide<M: PageRecord>(&mut self, offset: u64, message: &M) -> bool {
        if self.0.get(&message.page()).is_some_and(|(at, _)| *at == offset) {
            self.0.remove(&message.page());
        }
        self.hiding(offset, message).is_some()
    }
}

/// The removals of a whole topic, for programs that read parts of it again and again. Each record is read once for it.
#[derive(Debug, Default)]
pub struct RemovalIndex {
    partitions: Vec<IndexedPartition>,
}

#[derive(Debug, Default)]
struct IndexedPartition {
    removals: Removals,
    read_to: u64,
}

impl RemovalIndex {
    /// Reads on until the end of the topic, or until enough is read. Returns whether the end is reached.
    ///
    /// # Errors
    /// Those of the log.
    pub fn advance<M: PageRecord>(
        &mut self,
        reader: &mut TopicReader,
        batch: usize,
        budget: &mut ReadBudget,
    ) -> Result<bool, CommandFailure> {
        self.partitions.resize_with(reader.partitions() as usize, IndexedPartition::default);
        for (partition, known) in (0..).zip(&mut self.partitions) {
            let start = reader.bounds(partition)?.start;
            if start > known.read_to {
                known.read_to = start;
            }
            known.removals.0.retain(|_, (at, removal)| *at >= start || removal.last_attempt.is_some());
            loop {
                if budget.is_spent() {
                    return Ok(false);
                }
                let (records, next) = reader.read(partition, known.read_to, batch)?;
                known.read_to = next.max(known.read_to);
                if records.is_empty() {
                    break;
                }
                budget.spend(&records);
                records.iter().for_each(|record| known.removals.note::<M>(record, None));
            }
        }
        Ok(true)
    }

    /// Whether a removal hides a message.
    pub fn hides<M: PageRecord>(&self, partition: u32, offset: u64, message: &M) -> bool {
        let known = self.partitions.get(partition as usize);
        known.is_some_and(|known| known.removals.hiding(offset, message).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use page::CanonicalUrl;

    fn record(offset: u64, value: Vec<u8>) -> InputRecord {
        let timestamp = Timestamp::from_secs(1);
        InputRecord { partition: 0, offset, timestamp, key: Vec::new(), value: Some(value.into()), trace: None }
    }

    fn change(name: &str, verdict: Verdict) -> PageChange {
        let url = CanonicalUrl::parse(&format!("http://a.test/{name}")).expect("it is a URL");
        PageChange::bare(name.to_owned(), url, verdict, Timestamp::from_secs(1))
    }

    #[test]
    fn what_was_published_before_the_last_removal_is_hidden_and_nothing_else() {
        let (one, other) = (change("one", Verdict::First), change("other", Verdict::First));
        let removal = change("one", Verdict::Forgotten);
        let mut removals = Removals::default();
        for offset in [7, 3] {
            removals.note::<PageChange>(&record(offset, removal.encode()), None);
        }
        removals.note(&record(5, other.encode()), Some(&other));
        assert!(removals.hide(3, &removal) && removals.hide(6, &one) && !removals.hide(6, &other));
        // The page came back since.
        assert!(!removals.hide(8, &one));
        assert!(!removals.hide(7, &removal), "the last removal is shown");
        assert!(removals.0.is_empty(), "and then takes no room any more");
    }
}
