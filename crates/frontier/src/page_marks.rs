//! Properties of pages that are counted over all of them: a bit for each.

use revisit::columns::Slot;
use revisit::rows::Rows;

/// A property of a page that is counted over all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageMark {
    /// Its content is fetched through a mirror.
    Follower,
    /// No request was ever answered for it.
    Unanswered,
    /// [`crate::ScheduledPage::is_failed_seed`].
    FailedSeed,
    /// The list of seeds leaves it out.
    UnlistedSeed,
    /// It was never fetched.
    NeverFetched,
}

const ALL: [PageMark; 5] =
    [PageMark::Follower, PageMark::Unanswered, PageMark::FailedSeed, PageMark::UnlistedSeed, PageMark::NeverFetched];

/// The marks of all pages, and how many pages have each.
#[derive(Debug, Default)]
pub(crate) struct PageMarks {
    /// By slot.
    marks: Rows<u8>,
    counts: [usize; ALL.len()],
}

impl PageMarks {
    /// Gives a page these marks and no others.
    pub(crate) fn set(&mut self, slot: Slot, has: impl Fn(PageMark) -> bool) {
        let marks = self.marks.at(slot.index(), 0);
        for mark in ALL {
            let (bit, count) = (1 << mark as u8, &mut self.counts[mark as usize]);
            *count -= usize::from(*marks & bit != 0);
            *marks &= !bit;
            if has(mark) {
                *marks |= bit;
                *count += 1;
            }
        }
    }

    /// Number of pages with a mark.
    pub(crate) fn count(&self, mark: PageMark) -> usize {
        self.counts[mark as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_by_their_newest_marks() {
        let mut marks = PageMarks::default();
        marks.set(Slot::new(2), |mark| matches!(mark, PageMark::Follower | PageMark::Unanswered));
        marks.set(Slot::new(0), |mark| mark == PageMark::Unanswered);
        marks.set(Slot::new(2), |mark| matches!(mark, PageMark::FailedSeed | PageMark::Unanswered));
        assert_eq!(ALL.map(|mark| marks.count(mark)), [0, 2, 1, 0, 0]);
        marks.set(Slot::new(0), |_| false);
        assert_eq!(ALL.map(|mark| marks.count(mark)), [0, 1, 1, 0, 0]);
    }
}
