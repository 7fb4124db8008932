//! Hints are evidence, not truth: a hint raises the probability that its page has changed, by as much as hints of its
//! kind have been right on its host, until the next look tells (C16 of the algorithm notes).

use crate::Scheduler;
use crate::dispatch::find;
use crate::state::ScheduledPage;
use messages::{ChangeHint, HintKind, Verdict};
use page::Timestamp;
use revisit::columns::{Index, Slot, Standing, Worth, live_value};
use stream::{Context, ProcessError};

/// Kinds of hints, each with a bit of [`ScheduledPage::hinted`] and a place in the host's counts: the order is kept on
/// disk. With each, looks that are taken to have proved such hints right and wrong before the host has taught us better:
/// sitemaps are right one time in five on average, feeds and hubs tell of what they publish.
const KINDS: [(HintKind, f32, f32); 4] = [
    (HintKind::Sitemap, 0.4, 1.6),
    (HintKind::Feed, 1.6, 0.4),
    (HintKind::Ping, 1.0, 0.0),
    (HintKind::Websub, 1.6, 0.4),
];
/// The most that hints can say; a ping, which an operator lets through, says it at once.
const CERTAIN: f64 = 20.0;
/// Where the policy knows no hints, a page is asked for next when hints are right so often.
const LIKELY: f64 = 0.5;
/// Looks that are remembered per kind, so that a host may change its ways.
const REMEMBERED: f32 = 200.0;

/// How often hints were right on one host, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HintRecord {
    pub(crate) right: [f32; KINDS.len()],
    pub(crate) wrong: [f32; KINDS.len()],
}

impl HintRecord {
    /// From what is kept; what is missing was never counted.
    pub(crate) fn from_kept(right: &[f32], wrong: &[f32]) -> Self {
        let counts = |kept: &[f32]| std::array::from_fn(|kind| kept.get(kind).map_or(0.0, |count| count.max(0.0)));
        Self { right: counts(right), wrong: counts(wrong) }
    }

    /// Whether anything was ever counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.right.iter().chain(&self.wrong).all(|count| *count == 0.0)
    }

    /// The probability that a hint of this kind is right.
    pub(crate) fn precision(&self, kind: HintKind) -> f64 {
        let (number, right, wrong) = place_of(kind);
        let right = f64::from(self.right[number] + right);
        right / (right + f64::from(self.wrong[number] + wrong))
    }

    fn learn(&mut self, number: usize, changed: bool) {
        if self.right[number] + self.wrong[number] >= REMEMBERED {
            self.right[number] *= 0.5;
            self.wrong[number] *= 0.5;
        }
        let count = if changed { &mut self.right[number] } else { &mut self.wrong[number] };
        *count += 1.0;
    }
}

fn place_of(kind: HintKind) -> (usize, f32, f32) {
    let places = KINDS.iter().enumerate().filter(|(_, known)| known.0 == kind);
    let mut places = places.map(|(number, (_, right, wrong))| (number, *right, *wrong));
    places.next().expect("every kind is in the table, as a test holds")
}

/// -ln of the probability that a hint is wrong, at this precision.
fn hazard_of(precision: f64) -> f64 {
    (-(-precision).ln_1p()).min(CERTAIN)
}

impl Scheduler {
    /// Somebody says that a page changed.
    pub(crate) fn take_hint(&mut self, hint: &ChangeHint, context: &mut Context<'_>) -> Result<(), ProcessError> {
        let page_id = self.rules.urls.apply(&hint.url).page_id();
        let Some(mut page) = find(context, page_id)? else {
            self.counts.unknown_pages += 1;
            return Ok(());
        };
        let (number, ..) = place_of(hint.kind);
        let bit = 1 << number;
        // What happened before the last look was seen by it, and saying a thing twice does not make it truer.
        let news = hint.changed_at.is_none_or(|changed_at| page.last_look_at.is_some_and(|look| look < changed_at));
        if !news || page.last_look_at.is_none() || page.hinted & bit != 0 {
            return Ok(());
        }
        let host = self.hosts.number(&page.url.host());
        let precision = self.hosts.gate(host).hints.precision(hint.kind);
        page.hinted |= bit;
        page.hint_hazard = (page.hint_hazard + hazard_of(precision)).min(CERTAIN);
        if !self.rules.values_hints() && page.lease_until.is_none() && -(-page.hint_hazard).exp_m1() >= LIKELY {
            page.refetch = true;
        }
        self.counts.hints += 1;
        self.store(page_id, &page, context);
        Ok(())
    }

    /// A look has told whether the hints before it were right.
    pub(crate) fn judge_hints(&mut self, page: &mut ScheduledPage, verdict: Verdict, context: &mut Context<'_>) {
        let Some(changed) = verdict.is_change() else { return };
        if page.hinted == 0 {
            return;
        }
        let host = self.hosts.number(&page.url.host());
        let gate = self.hosts.gate_mut(host);
        for number in (0..KINDS.len()).filter(|number| page.hinted & (1 << number) != 0) {
            gate.hints.learn(number, changed);
        }
        gate.save(context);
        (page.hinted, page.hint_hazard) = (0, 0.0);
    }

    /// Pages that hints have raised to the price, the best first.
    pub(crate) fn hinted(&self, now: Timestamp) -> Vec<Slot> {
        let index = self.rules.index;
        let mut due: Vec<(f64, Slot)> = Vec::new();
        for (&slot, &hazard) in &self.frontier.hinted {
            if self.frontier.columns.get(slot).is_none_or(|entry| entry.standing != Standing::Ready) {
                continue;
            }
            let worth = self.frontier.columns.worth(slot, &index, &self.outlook, now);
            if let Some(value) = worth.map(|worth| value_with_hints(&worth, &index, hazard))
                && value >= self.demand.price()
            {
                due.push((value, slot));
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_hint_has_its_place() {
        for kind in [HintKind::Sitemap, HintKind::Feed, HintKind::Ping, HintKind::Websub] {
            assert_eq!(KINDS[place_of(kind).0].0, kind);
        }
    }

    #[test]
    fn precision_follows_what_looks_have_shown_and_a_ping_is_certain() {
        let mut record = HintRecord::default();
        assert!((record.precision(HintKind::Sitemap) - 0.2).abs() < 1e-6);
        assert!((record.precision(HintKind::Feed) - 0.8).abs() < 1e-6);
        (0..500).for_each(|look| record.learn(place_of(HintKind::Sitemap).0, look % 10 != 0));
        assert!((record.precision(HintKind::Sitemap) - 0.9).abs() < 0.02, "{}", record.precision(HintKind::Sitemap));
        assert!((record.precision(HintKind::Feed) - 0.8).abs() < 1e-6, "kinds are judged apart");
        (0..500).for_each(|_| record.learn(place_of(HintKind::Sitemap).0, false));
        assert!(record.precision(HintKind::Sitemap) < 0.05, "a host may change its ways");
        assert_eq!(hazard_of(record.precision(HintKind::Ping)), CERTAIN);
        assert_eq!(HintRecord::from_kept(&record.right, &record.wrong), record);
    }
}
