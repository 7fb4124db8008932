//! Evidence about a page from a list that names a date, or no newer one.

use change_rate::GammaState;
use sweeps::OwnEvidence;

/// When a list says that a page last changed: within (from, until]. A date without a time leaves the whole day open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedDate {
    /// The earliest time it may mean, in days since 1970.
    pub from_days: f64,
    /// The latest.
    pub until_days: f64,
}

/// Meaning of a list's entry for a page that was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statement {
    /// It has changed since that look, or may have.
    Changed,
    /// It has not.
    Unchanged,
}

impl ListedDate {
    /// A date with a time.
    pub fn at(days: f64) -> Self {
        Self { from_days: days, until_days: days }
    }

    /// The meaning of the date for a page whose last look was at this time, when it is read. While a day without a time
    /// lasts, a look in it has probably seen the change of that date; once it is over, any change after that look must be
    /// seen, too.
    pub fn means(&self, last_look_days: f64, read_days: f64) -> Statement {
        let is_over = self.until_days <= read_days;
        if last_look_days < self.from_days || (is_over && last_look_days < self.until_days) {
            Statement::Changed
        } else {
            Statement::Unchanged
        }
    }
}

/// Days of a silence that count as if the page had been looked at in vain. The list would have announced the share `recall`
/// of the changes of those days, so all others happened in the rest: thinning of a Poisson process. Both the belief and the
/// time since the last look move by the same number.
pub fn silent_days(from_days: f64, until_days: f64, recall: f64) -> f64 {
    recall * (until_days - from_days).max(0.0)
}

/// The evidence with these silent days added.
pub fn with_silence(belief: OwnEvidence, days: f64) -> OwnEvidence {
    let add = |state: GammaState| GammaState {
        delta_beta_days: (f64::from(state.delta_beta_days) + days).max(0.0) as f32,
        ..state
    };
    OwnEvidence { own: add(belief.own), plain: add(belief.plain) }
}

/// Probability that a list which announces the share `recall` of changes was read after an unannounced change somewhere
/// between two looks. The list covered `covered_days` of the time and not the `open_days` after.
pub fn covered_share(covered_days: f64, open_days: f64, recall: f64) -> f64 {
    let unreported = (1.0 - recall) * covered_days.max(0.0);
    let all = unreported + open_days.max(0.0);
    if all > 0.0 { unreported / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_date_leaves_the_whole_day_open() {
        let day = ListedDate { from_days: 100.0, until_days: 101.0 };
        assert_eq!(day.means(99.5, 100.5), Statement::Changed);
        assert_eq!(day.means(100.4, 100.8), Statement::Unchanged, "that look has probably seen it");
        assert_eq!(day.means(100.4, 101.0), Statement::Changed, "it may have changed that afternoon");
        assert_eq!(day.means(101.0, 105.0), Statement::Unchanged);
        assert_eq!(ListedDate::at(100.4).means(100.3, 100.4), Statement::Changed);
        assert_eq!(ListedDate::at(100.4).means(100.5, 101.0), Statement::Unchanged);
    }

    #[test]
    fn silence_counts_as_far_as_the_list_reports_all() {
        assert_eq!(silent_days(10.0, 30.0, 1.0), 20.0);
        assert_eq!(silent_days(10.0, 30.0, 0.0), 0.0);
        assert_eq!(silent_days(30.0, 10.0, 1.0), 0.0, "the look is later than the list");
        let belief = with_silence(OwnEvidence::default(), 20.0);
        assert_eq!(belief.own.delta_beta_days, 20.0);
        assert_eq!(with_silence(belief, -20.0), OwnEvidence::default());
    }

    #[test]
    fn a_change_behind_a_good_list_probably_came_after_it() {
        assert_eq!(covered_share(10.0, 10.0, 0.0), 0.5);
        assert!(covered_share(10.0, 1.0, 0.98) < 0.2);
        assert_eq!(covered_share(10.0, 0.0, 0.5), 1.0);
        assert_eq!(covered_share(0.0, 0.0, 0.5), 0.0);
    }
}
