//! Value of a look at a list.

use crate::kernels::binary;
use change_rate::exp_minus;

/// Prior: news of an ordinary page per day, and the number of them that it counts for.
const PRIOR_NEWS_PER_PAGE_DAY: f64 = 0.004;
const PRIOR_NEWS: f64 = 0.5;
/// Prior for an index page, which was found to be one by its first news: a new page in ten days, worth half a page.
const PRIOR_INDEX_DAYS: f64 = 5.0;
/// The weight of earlier looks falls by a factor of e in this time.
const FADING_DAYS: f64 = 100.0;

/// How much news a list has had. News is counted in the weight of the pages it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewsRate {
    /// Weight of the pages that were news, faded.
    pub news: f64,
    /// Days in which they were, faded.
    pub days: f64,
}

impl NewsRate {
    /// Counts a look, this long after the previous one.
    #[must_use]
    pub fn after(self, days: f64, news: f64) -> Self {
        let kept = exp_minus(days.max(0.0) / FADING_DAYS);
        Self { news: kept * self.news + news.max(0.0), days: kept * self.days + days.max(0.0) }
    }

    /// Expected weight of the news per day of a list of this many pages.
    pub fn per_day(&self, pages: f64) -> f64 {
        let prior_days = PRIOR_NEWS / (PRIOR_NEWS_PER_PAGE_DAY * pages.max(1.0));
        (PRIOR_NEWS + self.news) / (prior_days + self.days)
    }

    /// Expected new pages per day that an index page will link to: the mean of a Gamma-Poisson rate.
    pub fn new_pages_per_day(&self) -> f64 {
        (PRIOR_NEWS + self.news) / (PRIOR_INDEX_DAYS + self.days)
    }

    /// Value of a look at an index page, `days` after the last: the days that the new pages have waited (C5 of the
    /// algorithm notes, for new pages worth 1).
    pub fn discovery_value(&self, days: f64) -> f64 {
        0.5 * self.new_pages_per_day() * days.max(0.0) * days.max(0.0)
    }

    /// Value of a look, `days` after the last: the staleness it uncovers. That is the value of looks at all its pages,
    /// each with its share of the news, as far as the hints are right, less the cost of following them.
    pub fn value(&self, pages: f64, days: f64, precision: f64, price: f64) -> f64 {
        let pages = pages.max(1.0);
        let rate_per_page = self.per_day(pages) / pages;
        let left = (1.0 - price * rate_per_page).max(0.0);
        pages * precision * left * binary(rate_per_page * days.max(0.0)) / rate_per_page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(news_per_day: f64) -> NewsRate {
        NewsRate { news: 1e6 * news_per_day, days: 1e6 }
    }

    #[test]
    fn the_value_is_the_staleness_that_a_look_uncovers() {
        // Five news a day were on average 1.5 days old after three days.
        let value = known(5.0).value(1e6, 3.0, 1.0, 0.0);
        assert!((value - 5.0 * 3.0 * 1.5).abs() < 0.01, "{value}");
        assert!(known(0.1).value(50.0, 3.0, 1.0, 0.0) < 0.46);
    }

    #[test]
    fn a_list_loses_with_its_precision_and_where_no_one_could_follow_it() {
        let value = |precision, price| known(10.0).value(1_000.0, 1.0, precision, price);
        assert_eq!(value(0.0, 0.0), 0.0);
        assert!((value(0.1, 0.0) / value(1.0, 0.0) - 0.1).abs() < 1e-9);
        // A changed page of it is worth 100 days; at that price the news gains nothing.
        assert!((value(1.0, 50.0) / value(1.0, 0.0) - 0.5).abs() < 1e-3);
        assert_eq!(value(1.0, 100.1), 0.0);
    }

    #[test]
    fn a_new_list_is_expected_to_have_ordinary_news_and_shows_otherwise_soon() {
        let new = NewsRate::default();
        assert!((new.per_day(1_000.0) - 4.0).abs() < 1e-9);
        let lively = (0..5).fold(new, |rate, _| rate.after(1.0, 20.0));
        assert!(lively.per_day(1_000.0) > 18.0);
        let quiet = (0..20).fold(new, |rate, _| rate.after(1.0, 0.0));
        assert!(quiet.per_day(1_000.0) < 0.05);
    }

    #[test]
    fn what_a_list_once_was_fades() {
        let once = (0..50).fold(NewsRate::default(), |rate, _| rate.after(1.0, 10.0));
        let now = (0..300).fold(once, |rate, _| rate.after(1.0, 1.0));
        assert!((now.per_day(100.0) - 1.0).abs() < 0.6, "{}", now.per_day(100.0));
    }
}
