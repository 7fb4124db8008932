//! Hints are evidence, not truth: a hint raises the probability that its page has changed, by as much as hints of its
//! kind have been right on its host, until the next look tells; and where most changes are announced, silence lowers
//! what looks are worth (C16 of the algorithm notes). Sitemaps and feeds are looked at for what they say of others.

use crate::Frontier;
use crate::hint_record::{KINDS, place_of};
use crate::page_record::ScheduledPage;
use crate::request::Wanted;
use change_rate::Gamma;
use messages::{ChangeHint, Verdict};
use page::{PageId, Timestamp};
use revisit::columns::{Index, Slot, Standing, Worth, live_value};

/// The most that hints can say; a ping, which an operator lets through, says it at once.
const CERTAIN: f64 = 20.0;
/// Where the policy knows no hints, a page is asked for next when hints are right so often.
const LIKELY: f64 = 0.5;

/// -ln of the probability that a hint is wrong, at this precision.
fn hazard_of(precision: f64) -> f64 {
    (-(-precision).ln_1p()).min(CERTAIN)
}

/// A page that lists others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lister {
    /// How many known pages.
    pub(crate) pages: i64,
    /// The place of the kind of its hints.
    pub(crate) kind: usize,
}

impl Lister {
    /// What a page is as a list, if it is one.
    pub(crate) fn of(page: &ScheduledPage) -> Option<Self> {
        let kind = usize::try_from(page.list_kind).ok().filter(|kind| *kind < KINDS.len())?;
        (page.listed > 0).then_some(Self { pages: page.listed, kind })
    }
}

impl Frontier {
    /// The page that a hint is about, by the rules for addresses.
    pub fn hinted_page(&self, hint: &ChangeHint) -> PageId {
        self.rules.urls.apply(hint.url.clone()).page_id()
    }

    /// Somebody says that a page changed. `false` when that is no news.
    pub fn take_hint(&mut self, hint: &ChangeHint, id: PageId, page: &mut ScheduledPage) -> bool {
        let number = place_of(hint.kind);
        let bit = 1 << number;
        // What happened before the last look was seen by it, and saying a thing twice does not make it truer.
        let news = hint.changed_at.is_none_or(|changed_at| page.last_look_at.is_some_and(|look| look < changed_at));
        if !news || page.last_look_at.is_none() || page.hinted & bit != 0 {
            return false;
        }
        let host = self.hosts.number(&page.url.host());
        let precision = self.hosts.gate(host).hints.precision(number);
        page.hinted |= bit;
        page.hint_hazard = (page.hint_hazard + hazard_of(precision)).min(CERTAIN);
        if !self.rules.values_hints() && !page.request.is_in_flight() && -(-page.hint_hazard).exp_m1() >= LIKELY {
            page.request = page.request.want(Wanted::Command);
        }
        self.counts.hints += 1;
        self.set(id, page);
        true
    }

    /// A look has told whether the hints before it, or their absence, were right. The columns still have the page as it
    /// was before the look.
    pub(crate) fn judge_hints(&mut self, id: PageId, page: &mut ScheduledPage, verdict: Verdict, looked_at: Timestamp) {
        let Some(changed) = verdict.is_change() else { return };
        let host = self.hosts.number(&page.url.host());
        if page.hinted == 0 && self.hosts.gate(host).hints.is_empty() {
            return;
        }
        let columns = &self.pages.columns;
        let slot = self.pages.slot(id);
        let worth = slot.and_then(|slot| columns.worth(slot, &self.rules.index, &self.outlook, looked_at));
        let Some(expected_fresh) = worth.map(|worth| worth.fresh_probability) else { return };
        let gate = self.hosts.gate_mut(host);
        for number in 0..KINDS.len() {
            gate.hints.learn(number, page.hinted & (1 << number) != 0, changed, expected_fresh);
        }
        self.hosts.mark_changed(host);
        (page.hinted, page.hint_hazard) = (0, 0.0);
    }

    /// Pages that hints have raised to the price and lists that are worth it for what they may say, the best first.
    pub(crate) fn hinted(&self, now: Timestamp) -> Vec<Slot> {
        let (index, price) = (self.rules.index, self.demand.price());
        let worth = |slot: Slot| {
            let entry = self.pages.columns.get(slot).filter(|entry| entry.standing == Standing::Ready)?;
            Some((entry.host, self.pages.columns.worth(slot, &index, &self.outlook, now)?))
        };
        let pages = self.pages.hinted.iter().filter_map(|(&slot, &hazard)| {
            let (_, worth) = worth(slot)?;
            Some((value_with_hints(&worth, &index, hazard), slot))
        });
        // Before there is a price, nobody can say what following a list would cost.
        let lists = self.pages.lists.iter().filter(|_| price > 0.0).filter_map(|(&slot, list)| {
            let (host, worth) = worth(slot)?;
            let precision = self.hosts.gate(host).hints.precision(list.kind);
            Some((value_of_list(&worth, &index, list.pages, precision, price), slot))
        });
        let mut due: Vec<(f64, Slot)> = pages.chain(lists).filter(|(value, _)| *value >= price).collect();
        due.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        due.into_iter().map(|(_, slot)| slot).collect()
    }
}

/// What a fetch is worth when hints add a hazard to the page's own.
pub(crate) fn value_with_hints(worth: &Worth, index: &Index, hazard: f64) -> f64 {
    let Worth { own, plain, days, sweep_hazard, sweeps_per_day, trust, weight, .. } = *worth;
    match *index {
        Index::Live { theta, .. } => {
            let swept = live_value(own, plain, days, sweep_hazard + hazard, sweeps_per_day, 1.0, theta);
            let unswept = live_value(plain, plain, days, hazard, 0.0, 1.0, theta);
            weight * (trust * swept + (1.0 - trust) * unswept)
        }
        // As if so much more time had passed that a change were as likely.
        Index::CrawlValue { theta } => {
            let days = (own.beta_days() + days) * (hazard / own.alpha()).exp() - own.beta_days();
            weight * own.crawl_value(days.min(1e6), theta)
        }
        Index::Uniform => worth.value,
    }
}

/// What a look at a list is worth: what looks at its pages would be worth together, each changing at its part of the rate
/// at which the list does, as far as its word is good, less what looking at those pages then costs.
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
        // While at most one of its pages has changed, what is gained by the look is that page's freshness.
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
        // A page of it that has changed is worth 100 days; at that price nothing is gained by knowing.
        assert!((value(1.0, 50.0) / value(1.0, 0.0) - 0.5).abs() < 1e-3);
        assert_eq!(value(1.0, 100.1), 0.0);
    }
}
