//! Hints are evidence. A hint raises the probability that its page has changed, as far as hints of its kind have been
//! right on its host, until the next look. Where most changes are announced, silence lowers the value of looks (C16 of
//! the algorithm notes). Sitemaps and feeds are fetched for the changes they announce.

use crate::hint_record::KINDS;
use crate::page_record::ScheduledPage;
use change_rate::Gamma;
use revisit::columns::{Index, Worth, live_value};

/// Cap on the hazard from hints. A ping reaches it at once, because an operator has let it through.
pub(crate) const CERTAIN: f64 = 20.0;
/// Precision from which a hint makes a page wanted next, where the policy cannot value hints.
pub(crate) const LIKELY: f64 = 0.5;

/// -ln of the probability that a hint is wrong, at this precision.
pub(crate) fn hazard_of(precision: f64) -> f64 {
    (-(-precision).ln_1p()).min(CERTAIN)
}

/// A sitemap or feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lister {
    /// Number of known pages it lists.
    pub(crate) pages: i64,
    /// Index of the kind of its hints.
    pub(crate) kind: usize,
}

impl Lister {
    /// The page as a list, if it is one.
    pub(crate) fn of(page: &ScheduledPage) -> Option<Self> {
        let kind = usize::try_from(page.list_kind).ok().filter(|kind| *kind < KINDS.len())?;
        (page.listed > 0).then_some(Self { pages: page.listed, kind })
    }
}

/// Value of a fetch when hints add a hazard to the page's own.
pub(crate) fn value_with_hints(worth: &Worth, index: &Index, hazard: f64) -> f64 {
    let Worth { own, plain, days, sweep_hazard, sweeps_per_day, trust, weight, .. } = *worth;
    match *index {
        Index::Live { theta, .. } => {
            let swept = live_value(own, plain, days, sweep_hazard + hazard, sweeps_per_day, 1.0, theta);
            let unswept = live_value(plain, plain, days, hazard, 0.0, 1.0, theta);
            weight * (trust * swept + (1.0 - trust) * unswept)
        }
        // The value after the additional time that would make a change as likely.
        Index::CrawlValue { theta } => {
            let days = (own.beta_days() + days) * (hazard / own.alpha()).exp() - own.beta_days();
            weight * own.crawl_value(days.min(1e6), theta)
        }
        Index::Uniform => worth.value,
    }
}

/// Value of a look at a list: the joint value of looks at its pages, each changing at its share of the list's rate, as
/// far as the list's hints are right, less the cost of looking at those pages then.
pub(crate) fn value_of_list(worth: &Worth, index: &Index, pages: i64, precision: f64, price: f64) -> f64 {
    let (belief, theta) = match *index {
        Index::Live { theta, .. } => (worth.plain, theta),
        Index::CrawlValue { theta } => (worth.own, theta),
        Index::Uniform => return worth.value,
    };
    let pages = pages.max(1) as f64;
    let Ok(of_one) = Gamma::new(belief.alpha(), belief.beta_days() * pages) else { return worth.value };
    let left = (1.0 - price * of_one.mean()).max(0.0);
    worth.weight * pages * precision * left * of_one.crawl_value(worth.days, theta)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worth(alpha: f64, beta_days: f64, days: f64) -> Worth {
        let belief = Gamma::new(alpha, beta_days).unwrap();
        Worth {
            days,
            own: belief,
            plain: belief,
            sweep_hazard: 0.0,
            sweeps_per_day: 0.0,
            trust: 0.0,
            weight: 1.0,
            value: belief.crawl_value(days, 0.0),
            sentinel_value: 0.0,
            fresh_probability: 1.0,
        }
    }

    const INDEX: Index = Index::CrawlValue { theta: 0.0 };

    #[test]
    fn a_hint_says_as_much_as_it_is_precise() {
        assert_eq!(hazard_of(1.0), CERTAIN);
        assert_eq!(hazard_of(0.0), 0.0);
        assert!((hazard_of(0.5) - std::f64::consts::LN_2).abs() < 1e-15);
    }

    #[test]
    fn a_list_of_a_few_quiet_pages_is_worth_what_a_page_is_that_changes_as_often() {
        // While at most one of its pages has changed, the look gains the freshness of that page.
        let (list, rate) = (worth(1e6, 1e9, 3.0), 1e-3);
        let value = value_of_list(&list, &INDEX, 20, 1.0, 0.0);
        assert!((value / (rate * 9.0 / 2.0) - 1.0).abs() < 0.01, "{value}");
        assert!((value / list.value - 1.0).abs() < 0.01, "{value} {}", list.value);
    }

    #[test]
    fn a_list_of_many_pages_is_not_given_up_for_changing_often() {
        let list = worth(1e6, 1e5, 1.0);
        let (plain, listed) = (list.value, value_of_list(&list, &INDEX, 1_000, 1.0, 0.0));
        assert!((plain - 0.1).abs() < 1e-3, "a page that changes ten times a day is current a tenth of a day");
        assert!((listed - 5.0).abs() < 0.1, "ten pages have changed half a day ago on average: {listed}");
    }

    #[test]
    fn a_list_loses_with_its_precision_and_where_nobody_could_follow_it() {
        let list = worth(1e6, 1e5, 1.0);
        let value = |precision, price| value_of_list(&list, &INDEX, 1_000, precision, price);
        assert_eq!(value(0.0, 0.0), 0.0);
        assert!((value(0.1, 0.0) / value(1.0, 0.0) - 0.1).abs() < 1e-9);
        // A changed page of it is worth 100 days; at that price the news gains nothing.
        assert!((value(1.0, 50.0) / value(1.0, 0.0) - 0.5).abs() < 1e-3);
        assert_eq!(value(1.0, 100.1), 0.0);
    }
}
