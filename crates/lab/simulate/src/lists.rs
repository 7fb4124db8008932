//! Sites that list their pages and when these last changed, as sitemaps and feeds do, with errors.

use crate::error::SimulationError;
use crate::streams::{Draws, Purpose, RandomStream};
use change_rate::DateTrust;
use std::collections::BTreeMap;
use sweeps::PagePlace;

/// How many sites have a list, and how far the lists are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListRules {
    /// Share of the sites that list all their pages.
    pub share: f64,
    /// Share of the dates that stand for a change.
    pub precision: f64,
    /// Share of the changes that move the page's date.
    pub recall: f64,
}

/// A list of the pages of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteList {
    pub(crate) pages: Vec<u32>,
}

/// The dates that a list shows of one page.
#[derive(Clone, Debug, PartialEq)]
pub enum ShownDates {
    /// One after the other.
    Reported {
        /// In days, rising.
        dates: Vec<f64>,
        /// Days from a date until the list shows it.
        late_days: f64,
    },
    /// The time of reading.
    Now,
}

/// All lists, and the dates that they show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteLists {
    lists: Vec<SiteList>,
    /// By page; `None` for a page on no list.
    shown: Vec<Option<ShownDates>>,
}

impl ListRules {
    /// # Errors
    /// On a share, precision or recall outside 0..=1, and on precision 0.
    pub fn check(&self) -> Result<(), SimulationError> {
        SimulationError::share("share of sites with a list", self.share)?;
        SimulationError::positive("precision of lists", self.precision)?;
        SimulationError::share("precision of lists", self.precision)?;
        SimulationError::share("recall of lists", self.recall)?;
        Ok(())
    }

    /// The dates that a list shows of a page with these changes, over this number of days.
    fn dates(&self, changes: &[f64], days: f64, mut stream: RandomStream) -> Vec<f64> {
        let mut dates: Vec<f64> = changes.iter().copied().filter(|_| stream.uniform() < self.recall).collect();
        let wrong_per_day = self.recall * changes.len() as f64 / days * (1.0 - self.precision) / self.precision;
        let mut at = 0.0;
        while wrong_per_day > 0.0 && at < days {
            at += stream.exponential() / wrong_per_day;
            dates.push(at);
        }
        dates.sort_by(f64::total_cmp);
        dates
    }
}

impl SiteLists {
    /// Draws lists for pages with these places and changes, over a number of days.
    ///
    /// # Errors
    /// As [`ListRules::check`].
    pub fn draw<'a>(
        pages: impl Iterator<Item = (&'a PagePlace, &'a [f64])>,
        rules: &ListRules,
        days: f64,
        seed: u64,
    ) -> Result<Self, SimulationError> {
        rules.check()?;
        let shown = (0..).zip(pages).map(|(number, (place, changes))| {
            let has_list = RandomStream::new(seed, place.site, Purpose::Lists).uniform() < rules.share;
            let dates = || rules.dates(changes, days, RandomStream::new(seed ^ 1, number, Purpose::Lists));
            has_list.then(|| (place.site, ShownDates::Reported { dates: dates(), late_days: 0.0 }))
        });
        Ok(Self::showing(shown))
    }

    /// Lists that show these dates: for each page the key of its list and the dates that it shows, or `None` for a page
    /// on no list.
    pub fn showing<K: Ord>(pages: impl IntoIterator<Item = Option<(K, ShownDates)>>) -> Self {
        let (mut all, mut by_key) = (Self::default(), BTreeMap::new());
        for (number, page) in (0..).zip(pages) {
            let (key, shown) = page.unzip();
            if let Some(key) = key {
                let list = *by_key.entry(key).or_insert_with(|| {
                    all.lists.push(SiteList { pages: Vec::new() });
                    all.lists.len() - 1
                });
                all.lists[list].pages.push(number);
            }
            all.shown.push(shown);
        }
        all
    }

    pub fn lists(&self) -> &[SiteList] {
        &self.lists
    }

    /// The date that the list of a page shows at a time. `None` for a page on no list; a date before all days for one
    /// that has shown no change yet.
    pub fn date(&self, page: usize, at_days: f64) -> Option<f64> {
        Some(match self.shown.get(page)?.as_ref()? {
            ShownDates::Now => at_days,
            ShownDates::Reported { dates, late_days } => {
                let shown = dates.partition_point(|date| date + late_days <= at_days);
                shown.checked_sub(1).map_or(-1.0, |last| dates[last])
            }
        })
    }
}

/// The dates that lists showed when they were last read, and how far the dates of each host can be believed.
#[derive(Clone, Debug, Default)]
pub(crate) struct DateEvidence {
    /// By page; empty where there are no lists.
    days: Vec<Option<f64>>,
    trust: BTreeMap<u32, DateTrust>,
}

impl DateEvidence {
    /// For this many pages that lists may name.
    pub(crate) fn new(pages: usize) -> Self {
        Self { days: vec![None; pages], trust: BTreeMap::new() }
    }

    /// Notes the date that a list shows.
    pub(crate) fn note(&mut self, page: usize, date_days: f64) {
        self.days[page] = Some(date_days);
    }

    /// Judges the date of a page by a look at it. Returns the date if it is later than the copy and can be believed.
    pub(crate) fn judge(&mut self, page: usize, host: u32, changed: bool, copied_days: f64) -> Option<f64> {
        let date_days = (*self.days.get(page)?)?;
        let trust = self.trust.entry(host).or_default();
        let reported = Some(date_days).filter(|date| *date > copied_days && trust.is_trusted());
        trust.add(changed, date_days > copied_days);
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_as_wrong_as_asked_for() {
        let places: Vec<PagePlace> =
            (0..400).map(|n| PagePlace::of(&format!("{}.test", n / 2), "www", &format!("/{n}"))).collect();
        let changes: Vec<f64> = (1..=50).map(|day| f64::from(day) * 7.0).collect();
        let pages = || places.iter().map(|place| (place, &changes[..]));
        let rules = ListRules { share: 0.5, precision: 0.8, recall: 0.6 };
        let lists = SiteLists::draw(pages(), &rules, 365.0, 1).unwrap();
        let listed = lists.lists().iter().map(|list| list.pages.len()).sum::<usize>();
        assert!((150..250).contains(&listed), "{listed}");
        assert!(lists.lists().iter().all(|list| list.pages.len() == 2), "a site lists all its pages");
        let reported = |shown: &ShownDates| match shown {
            ShownDates::Reported { dates, .. } => dates.clone(),
            ShownDates::Now => panic!("only told dates are drawn"),
        };
        let shown: Vec<f64> = lists.shown.iter().flatten().flat_map(reported).filter(|at| *at < 365.0).collect();
        let right = shown.iter().filter(|at| changes.contains(at)).count() as f64;
        assert!((right / shown.len() as f64 - 0.8).abs() < 0.02, "{right} {}", shown.len());
        assert!((right / (listed as f64 * 50.0) - 0.6).abs() < 0.02);
        let all = SiteLists::draw(pages(), &ListRules { share: 1.0, precision: 1.0, recall: 1.0 }, 365.0, 1).unwrap();
        assert_eq!((all.date(3, 6.9), all.date(3, 7.0), all.date(3, 13.0)), (Some(-1.0), Some(7.0), Some(7.0)));
    }

    #[test]
    fn a_date_counts_as_it_was_read_and_not_from_a_host_that_makes_dates_up() {
        let mut received = DateEvidence::new(2);
        assert_eq!(received.judge(0, 7, true, 1.0), None);
        received.note(0, 5.0);
        assert_eq!((received.judge(0, 7, true, 1.0), received.judge(0, 7, true, 6.0)), (Some(5.0), None));
        received.note(1, 9.0);
        (0..3).for_each(|_| assert_eq!(received.judge(1, 8, false, 1.0), Some(9.0)));
        assert_eq!(received.judge(1, 8, true, 1.0), None);
        assert_eq!(DateEvidence::new(0).judge(1, 8, true, 1.0), None);
    }

    #[test]
    fn a_list_may_be_late_or_say_now_of_all() {
        let reported = |late_days| ShownDates::Reported { dates: vec![7.0, 14.0], late_days };
        let lists = SiteLists::showing([
            Some(("b", reported(3.0))),
            None,
            Some(("a", ShownDates::Now)),
            Some(("b", reported(0.0))),
        ]);
        let pages: Vec<&[u32]> = lists.lists().iter().map(|list| &list.pages[..]).collect();
        assert_eq!(pages, [&[0, 3][..], &[2]]);
        assert_eq!((lists.date(0, 9.9), lists.date(0, 10.0), lists.date(3, 9.9)), (Some(-1.0), Some(7.0), Some(7.0)));
        assert_eq!((lists.date(1, 9.9), lists.date(2, 9.9)), (None, Some(9.9)));
    }
}
