//! The values that the plan of one partition ranks its pages or sites by, in a few numbers for the other partitions, so that
//! all rank by the same order.

/// The most values that are kept. Of more values, these are evenly spaced quantiles.
const MOST_VALUES: usize = 96;

/// Values of sites or pages in descending order. Each stands for the same number of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanValues {
    count: usize,
    values: Vec<f64>,
}

impl PlanValues {
    /// The values of all, in any order. What is no number counts as 0.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = values.into_iter().map(|value| if value > 0.0 { value } else { 0.0 }).collect();
        all.sort_unstable_by(|a, b| b.total_cmp(a));
        let count = all.len();
        if count > MOST_VALUES {
            // The middle of each part.
            all = (0..MOST_VALUES).map(|part| all[(2 * part + 1) * count / (2 * MOST_VALUES)]).collect();
        }
        Self { count, values: all }
    }

    /// The values as another partition sent them: their number and those kept. `None` if they are no such values.
    pub fn received(count: i64, values: &[f32]) -> Option<Self> {
        let count = usize::try_from(count).ok()?;
        let kept: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        let is_sorted = kept.windows(2).all(|pair| pair[0] >= pair[1]);
        let is_valid = kept.iter().all(|value| value.is_finite() && *value >= 0.0);
        (is_sorted && is_valid && kept.len() == count.min(MOST_VALUES)).then_some(Self { count, values: kept })
    }

    /// Number of sites or pages.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The values kept.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many sites or pages each value kept stands for.
    pub fn each(&self) -> f64 {
        self.count as f64 / self.values.len().max(1) as f64
    }

    /// How many have more than `value`, and how many the same.
    pub fn above(&self, value: f64) -> (f64, f64) {
        let each = self.each();
        let above = self.values.partition_point(|other| *other > value);
        let not_below = self.values.partition_point(|other| *other >= value);
        (above as f64 * each, (not_below - above) as f64 * each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_counted_one_by_one() {
        let values = PlanValues::of([3.0, 1.0, 2.0, 2.0, f64::NAN]);
        assert_eq!((values.count(), values.values()), (5, &[3.0, 2.0, 2.0, 1.0, 0.0][..]));
        assert_eq!(values.above(2.0), (1.0, 2.0));
        assert_eq!(values.above(5.0), (0.0, 0.0));
        assert_eq!(values.above(-1.0), (5.0, 0.0));
        assert_eq!(PlanValues::default().above(1.0), (0.0, 0.0));
    }

    #[test]
    fn many_values_are_counted_within_a_hundredth() {
        let values = PlanValues::of((0..10_000).map(f64::from));
        assert_eq!(values.values().len(), MOST_VALUES);
        for value in [100.0, 3_333.0, 6_667.0, 9_000.0] {
            let (above, _) = values.above(value);
            assert!((above - (9_999.0 - value)).abs() < 110.0, "{value}: {above}");
        }
    }

    #[test]
    fn what_was_sent_is_what_is_received_and_nonsense_is_refused() {
        let sent = PlanValues::of((0..500).map(f64::from));
        let kept: Vec<f32> = sent.values().iter().map(|value| *value as f32).collect();
        assert_eq!(PlanValues::received(500, &kept), Some(sent));
        assert_eq!(PlanValues::received(0, &[]), Some(PlanValues::default()));
        for (count, values) in [(-1, vec![]), (3, vec![1.0]), (2, vec![1.0, 2.0]), (1, vec![f32::NAN])] {
            assert_eq!(PlanValues::received(count, &values), None, "{count} {values:?}");
        }
    }
}
