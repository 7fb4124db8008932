//! Sites that list their pages and when these last changed, as sitemaps and feeds do, with errors.

use crate::chance::{Purpose, RandomStream};
use crate::error::SimulationError;
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

/// All lists, and what they say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteLists {
    lists: Vec<SiteList>,
    /// By page: the dates that its list shows one after the other; `None` for a page on no list.
    dates: Vec<Option<Vec<f64>>>,
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
        let (mut all, mut of_site) = (Self::default(), BTreeMap::new());
        for (number, (place, changes)) in (0..).zip(pages) {
            let has_list = RandomStream::new(seed, place.site, Purpose::Lists).uniform() < rules.share;
            if !has_list {
                all.dates.push(None);
                continue;
            }
            let list = *of_site.entry(place.site).or_insert_with(|| {
                all.lists.push(SiteList { pages: Vec::new() });
                all.lists.len() - 1
            });
            all.lists[list].pages.push(number);
            let mut stream = RandomStream::new(seed ^ 1, u64::from(number), Purpose::Lists);
            let mut dates: Vec<f64> = changes.iter().copied().filter(|_| stream.uniform() < rules.recall).collect();
            let wrong_per_day = rules.recall * changes.len() as f64 / days * (1.0 - rules.precision) / rules.precision;
            let mut at = 0.0;
            while wrong_per_day > 0.0 && at < days {
                at += stream.exponential() / wrong_per_day;
                dates.push(at);
            }
            dates.sort_by(f64::total_cmp);
            all.dates.push(Some(dates));
        }
        Ok(all)
    }

    /// The lists.
    pub fn lists(&self) -> &[SiteList] {
        &self.lists
    }

    /// The date that the list of a page shows at a time. `None` for a page on no list; a date before all days for one
    /// that has shown no change yet.
    pub fn date(&self, page: usize, at_days: f64) -> Option<f64> {
        let dates = self.dates.get(page)?.as_ref()?;
        let shown = dates.partition_point(|date| *date <= at_days);
        Some(shown.checked_sub(1).map_or(-1.0, |last| dates[last]))
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
        let shown: Vec<f64> = lists.dates.iter().flatten().flatten().copied().filter(|at| *at < 365.0).collect();
        let right = shown.iter().filter(|at| changes.contains(at)).count() as f64;
        assert!((right / shown.len() as f64 - 0.8).abs() < 0.02, "{right} {}", shown.len());
        assert!((right / (listed as f64 * 50.0) - 0.6).abs() < 0.02);
        let all = SiteLists::draw(pages(), &ListRules { share: 1.0, precision: 1.0, recall: 1.0 }, 365.0, 1).unwrap();
        assert_eq!((all.date(3, 6.9), all.date(3, 7.0), all.date(3, 13.0)), (Some(-1.0), Some(7.0), Some(7.0)));
    }
}
