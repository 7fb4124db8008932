//! Which record a stage is at, noted where it outlives the process, so that a record that ends the process is found.
//!
//! A crash leaves no time to note anything, and a note costs a write to a file. So records are noted only by a process
//! whose predecessor did not end in order. A record at which two processes end while records are noted is set aside.

use crate::record::InputRecord;
use page::{DAY, Timestamp};
use std::time::Duration;

/// Number of noted crashes from which a record is set aside. One proves nothing: a process that
/// is killed for another reason is at some record, too.
const SET_ASIDE_FROM: u32 = 2;
/// How long a record is set aside after its last crash. Then a process risks it again: the program may be another, or have
/// more memory.
const SET_ASIDE_FOR: Duration = DAY;

/// The matter of a record, by which it is recognised when it is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Unique among the subjects of the stage.
    pub id: [u8; 16],
    /// For people, such as a page's URL.
    pub name: String,
}

/// Finds the subject of a record, if it has one.
pub type SubjectOf = fn(&InputRecord) -> Option<Subject>;

/// By what a record is recognised after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordMark(pub [u8; Self::BYTES]);

impl RecordMark {
    /// Number of bytes.
    pub const BYTES: usize = 20;

    /// The record's subject, or else its place: partition, offset and timestamp. The timestamp differs
    /// where another log has the same offset.
    pub(crate) fn of(record: &InputRecord, subject: Option<&Subject>) -> Self {
        let mut mark = [u8::MAX; Self::BYTES];
        match subject {
            // No partition has the number before it.
            Some(subject) => mark[4..].copy_from_slice(&subject.id),
            None => {
                mark[..4].copy_from_slice(&record.partition.to_le_bytes());
                mark[4..12].copy_from_slice(&record.offset.to_le_bytes());
                mark[12..].copy_from_slice(&record.timestamp.as_micros().to_le_bytes());
            }
        }
        Self(mark)
    }

    /// The mark of a record that is processed in place of this one.
    pub(crate) fn of_stand_in(self) -> Self {
        let mut mark = self.0;
        mark[RecordMark::BYTES - 1] ^= 1;
        Self(mark)
    }
}

/// Processes that ended at a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crashes {
    /// How many.
    pub count: u32,
    /// When the last of them began with the record.
    pub last: Timestamp,
}

impl Crashes {
    /// Why a record is set aside, if it is.
    pub(crate) fn verdict(self, now: Timestamp, subject: Option<&Subject>) -> Option<String> {
        let until = self.last + SET_ASIDE_FOR;
        (self.count >= SET_ASIDE_FROM && now < until).then(|| {
            let (ended, count) = ("times the process ended while it processed", self.count);
            match subject {
                Some(Subject { name, .. }) => format!("{count} {ended} {name}; it is set aside until {until}"),
                None => format!("{count} {ended} this record"),
            }
        })
    }
}

/// Notes of one stage of a process, which the next process finds. They must outlive the process, but not a power cut.
pub trait CrashNotes: Send {
    /// Whether records are noted: a process did not end in order, or a record is under suspicion.
    fn are_taken(&self) -> bool;
    /// Processes that ended at this record since one was done with it.
    fn crashes_at(&self, mark: RecordMark) -> Option<Crashes>;
    /// Notes that a record is being processed.
    fn begin(&mut self, mark: RecordMark, now: Timestamp);
    /// Notes that the process is done with the record, which is no suspect any more.
    fn end(&mut self);
    /// Notes that the process ends in order.
    fn close(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_known_by_its_subject_or_by_its_place() {
        let at = |offset, seconds| InputRecord {
            partition: 3,
            offset,
            timestamp: Timestamp::from_secs(seconds),
            key: Vec::new(),
            value: None,
            trace: None,
        };
        let subject = |id| Subject { id: [id; 16], name: "a page".to_owned() };
        assert_eq!(RecordMark::of(&at(7, 1), None), RecordMark::of(&at(7, 1), None));
        assert_ne!(RecordMark::of(&at(7, 1), None), RecordMark::of(&at(8, 1), None));
        assert_ne!(RecordMark::of(&at(7, 1), None), RecordMark::of(&at(7, 2), None));
        let about = |offset, id| RecordMark::of(&at(offset, 1), Some(&subject(id)));
        assert_eq!(about(7, 5), about(8, 5));
        assert_ne!(about(7, 5), about(7, 6));
    }

    #[test]
    fn a_record_is_set_aside_after_two_crashes_for_a_day() {
        let last = Timestamp::from_secs(1_700_000_000);
        let page = Subject { id: [1; 16], name: "http://a.test/".to_owned() };
        let verdict = |count, now, subject| Crashes { count, last }.verdict(now, subject);
        assert_eq!(verdict(1, last, None), None);
        let ended = "2 times the process ended while it processed";
        let of_page = format!("{ended} http://a.test/; it is set aside until 2023-11-15T22:13:20.000Z");
        assert_eq!(verdict(2, last, None), Some(format!("{ended} this record")));
        assert_eq!(verdict(2, last, Some(&page)), Some(of_page));
        assert_eq!(verdict(2, last + DAY, None), None);
    }
}
