//! One time per page.

/// Times of many pages in four bytes each: the period from start to end in 2^32 steps, of 1.2 ms in 60 days.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    from_days: f64,
    days_per_step: f64,
    steps_per_day: f64,
    steps: Vec<u32>,
}

/// Not before the end.
const NEVER: u32 = u32::MAX;

impl Moments {
    /// For this many pages, all set to the start, which must be before the end.
    pub(crate) fn new(pages: usize, from_days: f64, to_days: f64) -> Self {
        let (days, steps) = (to_days - from_days, f64::from(NEVER - 1));
        Self { from_days, days_per_step: days / steps, steps_per_day: steps / days, steps: vec![0; pages] }
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The time of a page; infinite when it was set to one after the end.
    #[inline]
    pub(crate) fn get(&self, page: usize) -> f64 {
        match self.steps[page] {
            NEVER => f64::INFINITY,
            steps => self.from_days + f64::from(steps) * self.days_per_step,
        }
    }

    /// Sets the time of a page, to the nearest step.
    #[inline]
    pub(crate) fn set(&mut self, page: usize, days: f64) {
        // The cast saturates at both ends.
        self.steps[page] = ((days - self.from_days) * self.steps_per_day + 0.5) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn moments_are_kept_to_the_step_in_their_order(
            from in -1e4..1e4f64, days in 1e-3..1e4f64, (one, other) in (0.0..=1.0f64, 0.0..=1.0f64),
        ) {
            let mut moments = Moments::new(3, from, from + days);
            let at = [from + days * one.min(other), from + days * one.max(other)];
            (0..2).for_each(|page| moments.set(page, at[page]));
            (0..2).for_each(|page| assert!((moments.get(page) - at[page]).abs() <= 2e-10 * days + 1e-11 * from.abs()));
            prop_assert!(moments.get(0) <= moments.get(1));
            prop_assert_eq!((moments.get(2), moments.len()), (from, 3));
            for after in [from + 1.01 * days, f64::INFINITY] {
                moments.set(2, after);
                prop_assert_eq!(moments.get(2), f64::INFINITY);
            }
        }
    }
}
