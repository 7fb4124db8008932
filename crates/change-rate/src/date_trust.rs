//! Decides whether the dates in a host's pages can be believed.

/// How often dates agreed with what looks found, and how they disagreed.
///
/// A date says that the page changed since the previous look, or that it did not, and the look shows which is true. Most
/// looks find nothing, so agreement is judged apart for changed and unchanged pages: dates that never move would agree
/// with most looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateTrust {
    /// The page changed, and its date said so.
    pub reported: u32,
    /// The page changed, and its date did not say so.
    pub unreported: u32,
    /// The page did not change, and neither did its date.
    pub stood: u32,
    /// The page did not change, but its date said so. Dates made up for the answer do this.
    pub moved: u32,
}

impl DateTrust {
    /// Disagreements that may be chance, for changed and unchanged pages each.
    const FORGIVEN: u32 = 2;
    /// Beyond these, one look in this many may disagree.
    const LOOKS_PER_DISAGREEMENT: u32 = 10;
    /// Looks after which older ones count half, so that a host can win or lose trust at any time.
    const REMEMBERED_LOOKS: u32 = 1000;

    /// Counts a look: whether the page changed since the previous one, and whether its date said so.
    pub fn add(&mut self, changed: bool, said_so: bool) {
        let count = match (changed, said_so) {
            (true, true) => &mut self.reported,
            (true, false) => &mut self.unreported,
            (false, false) => &mut self.stood,
            (false, true) => &mut self.moved,
        };
        *count = count.saturating_add(1);
        let mut counts = [&mut self.reported, &mut self.unreported, &mut self.stood, &mut self.moved];
        let looks = counts.iter().fold(0_u32, |sum, count| sum.saturating_add(**count));
        if looks >= Self::REMEMBERED_LOOKS {
            counts.iter_mut().for_each(|count| **count /= 2);
        }
    }

    /// Whether dates can be believed: they are until they have disagreed several times, because most first looks come
    /// before any second one.
    pub fn is_trusted(&self) -> bool {
        let few = |wrong: u32, right: u32| {
            wrong <= Self::FORGIVEN || wrong.saturating_mul(Self::LOOKS_PER_DISAGREEMENT) <= right.saturating_add(wrong)
        };
        few(self.unreported, self.reported) && few(self.moved, self.stood)
    }

    /// Share of the looks that agreed, for choosing among dates; one half before the first look.
    pub fn agreement(&self) -> f64 {
        let right = f64::from(self.reported) + f64::from(self.stood);
        let wrong = f64::from(self.unreported) + f64::from(self.moved);
        (right + 1.0) / (right + wrong + 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_trusted_until_they_disagree_more_than_chance_explains() {
        let mut trust = DateTrust::default();
        assert!(trust.is_trusted());
        trust.add(false, true);
        trust.add(false, true);
        assert!(trust.is_trusted(), "twice may be chance");
        trust.add(false, true);
        assert!(!trust.is_trusted(), "made up for the answer");
        (0..27).for_each(|_| trust.add(false, false));
        assert!(trust.is_trusted(), "three of thirty");
        trust.add(false, true);
        assert!(!trust.is_trusted());
    }

    #[test]
    fn a_date_that_never_moves_is_not_saved_by_the_many_looks_that_find_nothing() {
        let mut trust = DateTrust::default();
        (0..500).for_each(|_| trust.add(false, false));
        (0..3).for_each(|_| trust.add(true, false));
        assert!(!trust.is_trusted());
        assert!(trust.agreement() > 0.9);
    }

    #[test]
    fn a_host_that_mends_its_dates_is_trusted_again_and_counts_stay_bounded() {
        let mut trust = DateTrust::default();
        (0..100_000).for_each(|look| trust.add(look % 2 == 0, true));
        assert!(!trust.is_trusted());
        let mended = (0..).take_while(|look| {
            trust.add(look % 2 == 0, look % 2 == 0);
            !trust.is_trusted()
        });
        assert!(mended.count() < 5_000);
        assert!(trust.reported + trust.unreported + trust.stood + trust.moved <= DateTrust::REMEMBERED_LOOKS);
    }

    #[test]
    fn of_two_dates_the_one_that_agreed_more_is_the_better() {
        let (mut good, mut fair) = (DateTrust::default(), DateTrust::default());
        assert_eq!(good.agreement(), 0.5);
        for look in 0..20 {
            good.add(look % 4 == 0, look % 4 == 0);
            fair.add(look % 4 == 0, look == 0);
        }
        assert!(good.agreement() > fair.agreement());
    }
}
