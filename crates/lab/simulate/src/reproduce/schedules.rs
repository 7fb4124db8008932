//! Schedules that realise an allocation fetch by fetch.
//!
//! Freshness is the expected one of pages that change as Poisson processes, integrated exactly: no change is drawn.

use super::papers::pages;
use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::{Draws, RandomStream};
use policies::allocate::azar;
use policies::chairman::Chairman;
use policies::edf::EarliestDeadline;
use revisit::allocate::{self, PageTerms};
use revisit::kernels;

/// Pages, with a fetch at regular times.
struct ScheduleSlots {
    pages: Vec<PageTerms>,
    slot_days: f64,
    slots: usize,
    /// Start of the scored time.
    score_from_days: f64,
}

impl ScheduleSlots {
    fn budget_per_day(&self) -> f64 {
        1.0 / self.slot_days
    }

    /// Weighted freshness of the pages fetched in the slots, from copies taken at day 0.
    fn freshness(&self, sequence: impl Iterator<Item = usize>) -> f64 {
        let end = self.slots as f64 * self.slot_days;
        let mut last_days = vec![0.0; self.pages.len()];
        let mut fresh_days = vec![0.0; self.pages.len()];
        let mut keep = |page: usize, from: f64, until: f64| {
            let scored_from = from.max(self.score_from_days);
            if until > scored_from {
                let rate = self.pages[page].change_rate_per_day;
                let fresh = (-rate * (scored_from - from)).exp() - (-rate * (until - from)).exp();
                fresh_days[page] += fresh / rate;
            }
        };
        for (slot, page) in (1..=self.slots).zip(sequence) {
            let now = slot as f64 * self.slot_days;
            keep(page, last_days[page], now);
            last_days[page] = now;
        }
        (0..self.pages.len()).for_each(|page| keep(page, last_days[page], end));
        let weight: f64 = self.pages.iter().map(|page| page.weight).sum();
        let fresh: f64 = self.pages.iter().zip(fresh_days).map(|(page, days)| page.weight * days).sum();
        fresh / weight / (end - self.score_from_days)
    }

    /// In every slot the page of the highest value; ties go to the lower number.
    fn greedy(&self, last_days: Vec<f64>, value: impl Fn(&PageTerms, f64) -> f64) -> Vec<usize> {
        let mut last_days = last_days;
        let choose = |slot: usize| {
            let now = slot as f64 * self.slot_days;
            let (mut best, mut most) = (0, f64::NEG_INFINITY);
            for (page, terms) in self.pages.iter().enumerate() {
                let value = value(terms, now - last_days[page]);
                if value > most {
                    (best, most) = (page, value);
                }
            }
            last_days[best] = now;
            best
        };
        (1..=self.slots).map(choose).collect()
    }

    fn best_rates(&self) -> Vec<f64> {
        allocate::optimal(&self.pages, self.budget_per_day(), 0.0).fetch_rates_per_day
    }
}

fn binary(page: &PageTerms, days: f64) -> f64 {
    page.weight / page.change_rate_per_day * kernels::binary(page.change_rate_per_day * days)
}

/// C19: five pages that change 1 to 5 times a day, a fetch every fifth of a day, 2000 of them.
pub(super) fn sequences(_: &Effort) -> Vec<ReproductionRow> {
    let five = ScheduleSlots {
        pages: pages((1..=5).map(|rate| (f64::from(rate), 1.0))),
        slot_days: 0.2,
        slots: 2000,
        score_from_days: 0.0,
    };
    // Values that differ by less are equal: the sums of fifths of a day are not exact.
    let rounded = |value: f64| (value * 1e12).round();
    let greedy =
        |value: &dyn Fn(&PageTerms, f64) -> f64| five.greedy(vec![0.0; 5], |page, days| rounded(value(page, days)));
    let harmonic = |page: &PageTerms, days: f64| {
        page.weight / page.change_rate_per_day * kernels::harmonic(page.change_rate_per_day * days)
    };
    let mixed = |page: &PageTerms, days: f64| 0.95 * binary(page, days) + 0.05 * harmonic(page, days);
    let gain = |page: &PageTerms, days: f64| -page.weight * (-page.change_rate_per_day * days).exp_m1();
    let deadlines = EarliestDeadline::new(&five.best_rates()).map(|deadline| deadline.page).take(2000).collect();
    let chairman = Chairman::new(&azar(&five.pages, 5.0).fetch_rates_per_day).take(2000).collect();
    let round_robin: Vec<usize> = (0..2000).map(|slot| slot % 5).collect();
    let schedulers = [
        ("greedy, freshness", "crawl-value", greedy(&binary), "43210321402314021340", [400; 5], 0.3654005135),
        ("greedy, mixed .05", "crawl-value", greedy(&mixed), "43210324103214032140", [400; 5], 0.3653925003),
        (
            "greedy, harmonic",
            "crawl-value",
            greedy(&harmonic),
            "43241302413240132413",
            [285, 428, 429, 429, 429],
            0.3597039336,
        ),
        ("greedy, gain", "chile", greedy(&gain), "43423412340234123423", [181, 272, 455, 546, 546], 0.3316419880),
        ("round robin", "uniform", round_robin, "01234012340123401234", [400; 5], 0.3653621690),
        (
            "earliest deadline, best rates",
            "optimal-freshness",
            deadlines,
            "12031203120312031203",
            [460, 543, 542, 455, 0],
            0.3722525147,
        ),
        (
            "chairman, rates for random looks",
            "azar",
            chairman,
            "01230120132401201301",
            [554, 550, 453, 309, 134],
            0.3663955036,
        ),
    ];
    let rows = schedulers.into_iter().flat_map(|(name, policy, sequence, picks, counts, freshness)| {
        let agreeing =
            sequence.iter().zip(picks.bytes()).take_while(|&(&page, digit)| page == usize::from(digit - b'0'));
        let ours = (0..5).map(|page| sequence.iter().filter(|&&picked| picked == page).count());
        let miscounted: usize = ours.zip(counts).map(|(ours, count)| ours.abs_diff(count)).sum();
        let achieved = five.freshness(sequence.iter().copied());
        [
            ReproductionRow::exact("C19", format!("first picks as given, {name}"), 20.0, agreeing.count() as f64, 0.0),
            ReproductionRow::exact("C19", format!("picks miscounted of 2000, {name}"), 0.0, miscounted as f64, 0.0),
            ReproductionRow::exact("C19", format!("freshness, {name}"), freshness, achieved, 1e-9).giving_freshness(),
        ]
        .map(|row| row.policy(policy).estimator("known").budget(1.0).fetches(five.slots as u64))
    });
    rows.collect()
}

const SLOTS: usize = 40_000;
const FETCHES_PER_PAGE_PER_DAY: f64 = 0.25;

/// A thousand pages, lognormal rates and heavy-tailed weights, looked at every fourth day on average.
fn thousand(stream: &mut RandomStream) -> ScheduleSlots {
    let terms: Vec<(f64, f64)> = (0..1000)
        .map(|_| {
            let rate = (0.2f64.ln() + 1.5 * stream.normal()).exp();
            (rate, stream.pareto(1.3) - 1.0 + 0.05)
        })
        .collect();
    ScheduleSlots { pages: pages(terms), slot_days: 1.0 / 250.0, slots: SLOTS, score_from_days: 60.0 }
}

/// R6. Azar et al., PNAS 2018: the best rates for looks at random times, evenly spaced by the chairman assignment.
pub(super) fn low_discrepancy(effort: &Effort) -> Vec<ReproductionRow> {
    let mut samples = vec![Measurements::default(); 4];
    for replicate in 0..effort.replicates(12, 3) {
        let slots = thousand(&mut effort.stream(replicate));
        let best_rates = slots.best_rates();
        let best = allocate::freshness(&slots.pages, &best_rates);
        let rates = azar(&slots.pages, slots.budget_per_day()).fetch_rates_per_day;
        let penalty = allocate::average_penalty(allocate::Objective::RandomFreshness, &slots.pages, &rates);
        let spaced = slots.freshness(Chairman::new(&rates));
        let measured = [spaced / best, (1.0 - penalty) / best, most_off_share(&best_rates), spaced];
        samples.iter_mut().zip(measured).for_each(|(sample, value)| sample.add(value));
    }
    let [spaced, random, off, reached] = &samples[..] else { unreachable!("four numbers are measured") };
    let rows = vec![
        ReproductionRow::sampled(
            "R6",
            "share of the best freshness, evenly spaced",
            0.8308 / 0.8350,
            spaced,
            1,
            1.2e-4,
        )
        .published("99 %")
        .weighted_freshness(reached.mean()),
        ReproductionRow::sampled(
            "R6",
            "share of the best freshness, at random moments",
            0.778 / 0.8350,
            random,
            1,
            7e-4,
        ),
        // The assignment guarantees less than a whole fetch.
        ReproductionRow::sampled("R6", "most fetches that a page is off its share, chairman", 0.9993, off, 1, 5e-5),
    ];
    rows.into_iter().map(|row| row.policy("azar").estimator("known").budget(FETCHES_PER_PAGE_PER_DAY)).collect()
}

/// Maximum number of fetches by which the chairman assignment is ahead of or behind a page's share, over 20,000 slots.
fn most_off_share(rates_per_day: &[f64]) -> f64 {
    let total: f64 = rates_per_day.iter().sum();
    let mut counts = vec![0.0; rates_per_day.len()];
    let mut most = 0.0f64;
    for (slot, page) in (1..=20_000).zip(Chairman::new(rates_per_day)) {
        counts[page] += 1.0;
        let off = |(count, rate): (&f64, &f64)| (count - f64::from(slot) * rate / total).abs();
        most = counts.iter().zip(rates_per_day).map(off).fold(most, f64::max);
    }
    most
}

/// C6: the loss of other orders than by crawl value. The first is as published; WIRE uses the second.
pub(super) fn orders(effort: &Effort) -> Vec<ReproductionRow> {
    type Value = fn(&PageTerms, f64) -> f64;
    let unchanged: Value = |page, days| page.weight * (-page.change_rate_per_day * days).exp();
    let gain: Value = |page, days| -page.weight * (-page.change_rate_per_day * days).exp_m1();
    let days_gained: Value = |page, days| -page.weight * days * (-page.change_rate_per_day * days).exp_m1();
    let mut orders = [
        ("value now, as published", unchanged, 0.13347),
        ("gain", gain, 0.67098),
        ("time times gain", days_gained, 0.82508),
        ("crawl value", binary as Value, 0.83490),
    ]
    .map(|(name, value, freshness)| (name, value, 0.83496 - freshness, Measurements::default()));
    let (mut best, mut uniform) = (Measurements::default(), Measurements::default());
    for replicate in 0..effort.replicates(6, 2) {
        let mut stream = effort.stream(replicate);
        let slots = thousand(&mut stream);
        let optimum = allocate::freshness(&slots.pages, &slots.best_rates());
        best.add(optimum);
        uniform.add(optimum - allocate::freshness(&slots.pages, &vec![FETCHES_PER_PAGE_PER_DAY; slots.pages.len()]));
        let last_days: Vec<f64> = (0..slots.pages.len()).map(|_| -4.0 * stream.uniform()).collect();
        for (_, value, _, lost) in &mut orders {
            lost.add(optimum - slots.freshness(slots.greedy(last_days.clone(), *value).into_iter()));
        }
    }
    let row = |name: &str, reference, lost: &Measurements, policy| {
        let row =
            ReproductionRow::sampled("C6", format!("freshness lost to the best, {name}"), reference, lost, 1, 1e-5);
        let row = row.policy(policy).budget(FETCHES_PER_PAGE_PER_DAY).weighted_freshness(best.mean() - lost.mean());
        if policy == "uniform" {
            row.estimator("none")
        } else {
            row.estimator("known").fetches((SLOTS * lost.count()) as u64)
        }
    };
    let mut rows = vec![row("uniform", 0.83496 - 0.62268, &uniform, "uniform")];
    rows.extend(orders.iter().map(|(name, _, reference, lost)| {
        row(name, *reference, lost, if *name == "crawl value" { "crawl-value" } else { "chile" })
    }));
    rows
}

/// C18: the loss of schedules against the best freshness of evenly spaced fetches.
pub(super) fn realisations(effort: &Effort) -> Vec<ReproductionRow> {
    let mut best = Measurements::default();
    let mut lost = [("greedy", 0.83490), ("earliest deadline, best rates", 0.83466), ("chairman, best rates", 0.83489)]
        .map(|(name, freshness)| (name, 0.83496 - freshness, Measurements::default()));
    for replicate in 0..effort.replicates(6, 2) {
        let mut stream = effort.stream(replicate);
        let slots = thousand(&mut stream);
        let rates = slots.best_rates();
        let optimum = allocate::freshness(&slots.pages, &rates);
        best.add(optimum);
        // Decided as if copies had different ages at the start, which keeps pages from moving in step.
        let last_days = (0..slots.pages.len()).map(|_| -4.0 * stream.uniform()).collect();
        let greedy = slots.greedy(last_days, binary);
        let phases: Vec<f64> = (0..slots.pages.len()).map(|_| stream.uniform()).collect();
        let deadlines = EarliestDeadline::with_phases(&rates, |page| phases[page]).map(|deadline| deadline.page);
        let achieved =
            [slots.freshness(greedy.into_iter()), slots.freshness(deadlines), slots.freshness(Chairman::new(&rates))];
        lost.iter_mut().zip(achieved).for_each(|((_, _, lost), achieved)| lost.add(optimum - achieved));
    }
    let row = ReproductionRow::sampled("C18", "best freshness of a thousand pages", 0.83496, &best, 1, 5e-6);
    let mut rows = vec![row.policy("optimal-freshness").giving_weighted_freshness()];
    // Differences of two numbers of five digits.
    rows.extend(lost.iter().map(|(name, reference, lost)| {
        let row =
            ReproductionRow::sampled("C18", format!("freshness lost to the best, {name}"), *reference, lost, 1, 1e-5);
        let policy = if *name == "greedy" { "crawl-value" } else { "optimal-freshness" };
        row.policy(policy).fetches((SLOTS * lost.count()) as u64).weighted_freshness(best.mean() - lost.mean())
    }));
    rows.into_iter().map(|row| row.estimator("known").budget(FETCHES_PER_PAGE_PER_DAY)).collect()
}
