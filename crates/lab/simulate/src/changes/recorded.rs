//! Recorded changes.

use super::ChangeSource;
use crate::error::SimulationError;

/// Recorded change times of many pages: 8 bytes a change and 8 a page; 4 more a change with extents.
#[derive(Clone, Debug, Default)]
pub struct RecordedChanges {
    times_days: Vec<f64>,
    /// End of each page's changes; those of the next page begin there.
    ends: Vec<u32>,
    next: Vec<u32>,
    /// By change; empty where extents are not known.
    extents: Vec<f32>,
}

impl RecordedChanges {
    /// The change times of each page, in days, in rising order.
    pub fn new<T: AsRef<[f64]>>(pages: impl IntoIterator<Item = T>) -> Result<Self, SimulationError> {
        let mut changes = Self::default();
        for (page, times) in pages.into_iter().enumerate() {
            let times = times.as_ref();
            let mut before_days = f64::NEG_INFINITY;
            for (change, &days) in times.iter().enumerate() {
                if !days.is_finite() {
                    let expected = "a finite number of days";
                    return Err(SimulationError::Page { page, field: "change time", value: days, expected });
                }
                if days <= before_days {
                    return Err(SimulationError::Unsorted { page, change, days, before_days });
                }
                before_days = days;
            }
            changes.next.push(changes.times_days.len() as u32);
            changes.times_days.extend_from_slice(times);
            changes.ends.push(changes.times_days.len() as u32);
        }
        Ok(changes)
    }

    /// The same changes with these extents, page by page in the same order.
    pub fn with_extents(self, extents: impl IntoIterator<Item = f32>) -> Result<Self, SimulationError> {
        let extents: Vec<f32> = extents.into_iter().collect();
        if extents.len() != self.times_days.len() {
            let (pages, entries) = (self.times_days.len(), extents.len());
            return Err(SimulationError::Lengths { what: "extents of changes", pages, entries });
        }
        for extent in &extents {
            SimulationError::share("extent of a change", f64::from(*extent))?;
        }
        Ok(Self { extents, ..self })
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All changes of a page, taken or not.
    pub fn of_page(&self, page: usize) -> &[f64] {
        let begin = if page == 0 { 0 } else { self.ends[page - 1] };
        &self.times_days[begin as usize..self.ends[page] as usize]
    }
}

impl ChangeSource for RecordedChanges {
    fn pages(&self) -> usize {
        self.len()
    }

    fn next_change_days(&self, page: usize) -> f64 {
        let next = self.next[page];
        if next < self.ends[page] { self.times_days[next as usize] } else { f64::INFINITY }
    }

    fn next_extent(&self, page: usize) -> Option<f64> {
        let next = self.next[page];
        (next < self.ends[page]).then(|| self.extents.get(next as usize).copied().map(f64::from)).flatten()
    }

    fn take_change(&mut self, page: usize) {
        self.next[page] = (self.next[page] + 1).min(self.ends[page]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_in_order_and_end() {
        let mut changes = RecordedChanges::new([vec![1.0, 2.5], vec![], vec![0.5]]).expect("sorted");
        assert_eq!((changes.len(), changes.of_page(0), changes.of_page(1)), (3, &[1.0, 2.5][..], &[][..]));
        for expected in [1.0, 2.5, f64::INFINITY, f64::INFINITY] {
            assert_eq!(changes.next_change_days(0), expected);
            changes.take_change(0);
        }
        assert_eq!((changes.next_change_days(1), changes.next_change_days(2)), (f64::INFINITY, 0.5));
    }

    #[test]
    fn extents_come_with_their_changes() {
        let times = || RecordedChanges::new([vec![1.0, 2.5], vec![], vec![0.5]]).expect("sorted");
        let mut changes = times().with_extents([0.1, 0.2, 0.75]).expect("one for each change");
        assert_eq!((changes.next_extent(1), changes.next_extent(2)), (None, Some(0.75)));
        changes.take_change(0);
        assert_eq!(changes.next_extent(0), Some(f64::from(0.2f32)));
        changes.take_change(0);
        assert_eq!((changes.next_extent(0), times().next_extent(0)), (None, None));
        assert!(times().with_extents([0.1]).is_err());
        assert!(times().with_extents([0.1, 1.5, 0.2]).is_err());
    }

    #[test]
    fn faults_name_the_page_and_the_change() {
        let fault = |times: Vec<f64>| RecordedChanges::new([vec![1.0], times]).expect_err("a fault").to_string();
        assert!(fault(vec![3.0, 2.0]).starts_with("page 1: change 1 is at day 2, not after the one before it (day 3)"));
        assert!(fault(vec![2.0, 2.0]).contains("sort them"));
        assert!(fault(vec![f64::NAN]).contains("change time is NaN"));
    }
}
