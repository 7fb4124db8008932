//! C16: pages, half of which announce changes, incompletely and with false alarms (after Busa-Fekete et al., WWW 2025).
//! The page of the highest value is fetched in every slot; the runs differ in how they interpret the announcements.

use super::row::Measurements;
use super::{Effort, ReproductionRow};
use crate::streams::{Draws, RandomStream};
use literature::signals::{SignalModel, SignalQuality, ValueTable};
use revisit::kernels;

const PAGES: usize = 400;
const SCORE_FROM_DAYS: f64 = 20.0;
const END_DAYS: f64 = 120.0;
const BUDGETS: [f64; 3] = [0.1, 0.25, 0.5];

/// The interpretation of a signal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Belief {
    Nothing,
    Certainty,
    /// As likely true as the signals of its page are.
    Evidence,
}

const MEASURED: [(Belief, &str, [f64; 3]); 3] = [
    (Belief::Nothing, "signals ignored", [0.6673, 0.7899, 0.8625]),
    (Belief::Certainty, "every signal trusted", [0.6673, 0.7954, 0.8770]),
    (Belief::Evidence, "signals weighed", [0.6919, 0.8143, 0.8861]),
];

/// Freshness without signals, and the gain of the two ways to use them.
pub(super) fn policies(effort: &Effort) -> Vec<ReproductionRow> {
    const POPULATIONS: usize = 6;
    let mut samples = vec![(Measurements::default(), Measurements::default()); MEASURED.len() * BUDGETS.len()];
    for replicate in 0..effort.replicates(POPULATIONS, 2) {
        let web = SignalWeb::new(&mut effort.stream(replicate));
        for (column, budget) in BUDGETS.into_iter().enumerate() {
            let mut ignoring = 0.0;
            for (row, (belief, ..)) in MEASURED.iter().enumerate() {
                let freshness = web.clone().run(*belief, budget);
                if *belief == Belief::Nothing {
                    ignoring = freshness;
                }
                let (reached, gained) = &mut samples[row * BUDGETS.len() + column];
                reached.add(freshness);
                gained.add(freshness - ignoring);
            }
        }
    }
    let mut rows = Vec::new();
    for (row, (belief, name, references)) in MEASURED.iter().enumerate() {
        for (column, budget) in BUDGETS.into_iter().enumerate() {
            let (reached, gained) = &samples[row * BUDGETS.len() + column];
            let at = format!("{name}, {budget} fetches per page and day");
            let row = if *belief == Belief::Nothing {
                let row =
                    ReproductionRow::sampled("C16", format!("freshness, {at}"), references[column], reached, 1, 5e-5);
                row.policy("crawl-value")
            } else {
                let reference = references[column] - MEASURED[0].2[column];
                ReproductionRow::sampled(
                    "C16",
                    format!("freshness gained over ignoring them, {at}"),
                    reference,
                    gained,
                    1,
                    1e-4,
                )
            };
            let fetches = (budget * PAGES as f64 * END_DAYS) as u64 * reached.count() as u64;
            let row = row.estimator("known").budget(budget).fetches(fetches);
            rows.push(row.weighted_freshness(reached.mean()));
        }
    }
    rows
}

/// Pages with their changes and signals; the same for every schedule.
#[derive(Clone)]
struct SignalWeb(Vec<SignalPage>);

#[derive(Clone)]
struct SignalPage {
    rate: f64,
    weight: f64,
    /// Its signals; a page without signals has a model that expects none.
    model: SignalModel,
    table: ValueTable,
    signals_per_day: f64,
    true_share: f64,
    chance: RandomStream,
    next_silent_days: f64,
    next_signal_days: f64,
    last_days: f64,
    stale: bool,
    signals: u32,
}

impl SignalWeb {
    fn new(stream: &mut RandomStream) -> Self {
        let mut pages: Vec<SignalPage> = (0..PAGES).map(|page| SignalPage::new(stream, page)).collect();
        let total: f64 = pages.iter().map(|page| page.weight).sum();
        pages.iter_mut().for_each(|page| page.weight /= total);
        Self(pages)
    }

    /// Mean weighted freshness at the ends of the slots.
    fn run(mut self, belief: Belief, fetches_per_page_per_day: f64) -> f64 {
        let slot_days = 1.0 / (fetches_per_page_per_day * PAGES as f64);
        let slots = (END_DAYS / slot_days).round() as u32;
        let mut freshness = Measurements::default();
        for slot in 1..=slots {
            let now = f64::from(slot) * slot_days;
            let (mut best, mut most, mut fresh) = (0, f64::NEG_INFINITY, 0.0);
            for (index, page) in self.0.iter_mut().enumerate() {
                page.pass_until(now);
                fresh += if page.stale { 0.0 } else { page.weight };
                let value = page.value(belief, now);
                if value > most {
                    (best, most) = (index, value);
                }
            }
            if now > SCORE_FROM_DAYS {
                freshness.add(fresh);
            }
            let fetched = &mut self.0[best];
            (fetched.last_days, fetched.stale, fetched.signals) = (now, false, 0);
        }
        freshness.mean()
    }
}

impl SignalPage {
    fn new(stream: &mut RandomStream, number: usize) -> Self {
        let rate = (0.3f64.ln() + stream.normal()).exp();
        let weight = stream.pareto(1.5) - 1.0 + 0.1;
        let signals = stream.uniform() < 0.5;
        let (recall, precision) = (0.3 + 0.65 * stream.uniform(), 0.15 + 0.75 * stream.uniform());
        let (recall, precision) = if signals { (recall, precision) } else { (0.0, 1.0) };
        let quality = SignalQuality::new(recall, precision).expect("both are probabilities");
        let model = SignalModel::new(rate, quality);
        let true_per_day = recall * rate;
        // Each page draws from a position of its own, so that schedules meet the same changes.
        let mut chance = stream.clone().skip((number as u64 + 1) << 32);
        let last_days = -3.0 * stream.uniform();
        let signals_per_day = true_per_day + model.false_signals_per_day();
        Self {
            rate,
            weight,
            table: ValueTable::new(quality),
            signals_per_day,
            true_share: if signals { true_per_day / signals_per_day } else { 0.0 },
            next_silent_days: last_days + chance.exponential() / model.silent_changes_per_day(),
            next_signal_days: if signals { chance.exponential() / signals_per_day } else { f64::INFINITY },
            model,
            chance,
            last_days,
            stale: false,
            signals: 0,
        }
    }

    fn pass_until(&mut self, now: f64) {
        while self.next_silent_days <= now {
            self.stale = true;
            self.next_silent_days += self.chance.exponential() / self.model.silent_changes_per_day();
        }
        while self.next_signal_days <= now {
            self.signals += 1;
            self.stale |= self.chance.uniform() < self.true_share;
            self.next_signal_days += self.chance.exponential() / self.signals_per_day;
        }
    }

    fn value(&self, belief: Belief, now: f64) -> f64 {
        let days = now - self.last_days;
        self.weight
            * match belief {
                Belief::Evidence if self.signals_per_day > 0.0 => {
                    self.table.crawl_value(self.rate, self.model.stale_exponent(days, self.signals))
                }
                Belief::Certainty if self.signals > 0 => 1.0 / self.rate,
                _ => kernels::binary(self.rate * days) / self.rate,
            }
    }
}
