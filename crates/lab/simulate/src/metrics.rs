//! Scores of a policy: exact time integrals over the pages' copies, and the fate of every change.
//!
//! Definitions: F1 of the algorithm notes. Age counts from the first unseen change; the harmonic penalty of a copy that
//! is N changes behind is 1 + 1/2 + ... + 1/N. Nothing is sampled: between two looks a copy's state changes only when
//! the page does.

mod missed_extent;
mod peaks;
mod scores;

pub use self::missed_extent::MissedExtent;
pub use self::peaks::Peaks;
pub use self::scores::{Delays, Scores, SectionScores};

use self::peaks::PeakCounter;

/// Copies older than this are counted separately.
const OLD_DAYS: f64 = 30.0;

/// Delay bins: eight an octave, starting at 2^-16 days (a second).
const BINS_PER_OCTAVE: f64 = 8.0;
const OCTAVES_BELOW_A_DAY: f64 = 16.0;
const DELAY_BINS: usize = 8 * 32;

/// Sums over the pages of a section and the scored time, as integrals in page-days.
#[derive(Clone, Copy, Debug, Default)]
struct SectionSums {
    pages: usize,
    fresh: f64,
    weighted_fresh: f64,
    expected_fresh: f64,
    weighted_expected_fresh: f64,
    age: f64,
    weighted_age: f64,
    weighted_harmonic: f64,
    weighted_missed: f64,
    old: f64,
    weight: f64,
    fetches: u64,
}

impl SectionSums {
    fn add(&mut self, other: &SectionSums) {
        self.pages += other.pages;
        self.fresh += other.fresh;
        self.weighted_fresh += other.weighted_fresh;
        self.expected_fresh += other.expected_fresh;
        self.weighted_expected_fresh += other.weighted_expected_fresh;
        self.age += other.age;
        self.weighted_age += other.weighted_age;
        self.weighted_harmonic += other.weighted_harmonic;
        self.weighted_missed += other.weighted_missed;
        self.old += other.old;
        self.weight += other.weight;
        self.fetches += other.fetches;
    }
}

/// Accumulates the states of copies.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    start_days: f64,
    from_days: f64,
    to_days: f64,
    sections: Vec<SectionSums>,
    changes: u64,
    overwritten: u64,
    unnoticed: u64,
    delay_sum: f64,
    delays: Vec<u64>,
    useful: u64,
    spent: f64,
    peaks: PeakCounter,
    /// Integrals of what copies miss, in days times weight; `None` where extents are not known.
    missed: Option<MissedExtent>,
    /// Whether the freshness of every copy could be predicted.
    is_predictable: bool,
    /// Changes of the number of current copies at the start of a day, and the part within the day itself.
    steps: Vec<f64>,
    parts: Vec<f64>,
}

impl Tally {
    /// From `start_days` to `to_days`, scored from `from_days` on.
    pub(crate) fn new(start_days: f64, from_days: f64, to_days: f64, sections: usize) -> Self {
        let days = (to_days - start_days).ceil() as usize;
        Self {
            start_days,
            from_days,
            to_days,
            sections: vec![SectionSums::default(); sections],
            changes: 0,
            overwritten: 0,
            unnoticed: 0,
            delay_sum: 0.0,
            delays: vec![0; DELAY_BINS],
            useful: 0,
            spent: 0.0,
            peaks: PeakCounter::default(),
            missed: None,
            is_predictable: true,
            steps: vec![0.0; days + 1],
            parts: vec![0.0; days + 1],
        }
    }

    pub(crate) fn page(&mut self, section: usize, weight: f64) {
        self.sections[section].pages += 1;
        self.sections[section].weight += weight;
    }

    fn scored(&self, from: f64, to: f64) -> f64 {
        (to.min(self.to_days) - from.max(self.from_days)).max(0.0)
    }

    /// Counts the time in which a copy was current.
    pub(crate) fn fresh(&mut self, section: usize, weight: f64, from: f64, to: f64) {
        let days = self.scored(from, to);
        self.sections[section].fresh += days;
        self.sections[section].weighted_fresh += weight * days;
        self.step(from, 1.0);
        self.step(to, -1.0);
    }

    /// Counts the expected freshness of a copy taken at `from` and replaced at `to`, when the page changes as a Poisson
    /// process with this rate.
    pub(crate) fn expect(&mut self, section: usize, weight: f64, rate_per_day: Option<f64>, from: f64, to: f64) {
        let Some(rate) = rate_per_day else {
            self.is_predictable = false;
            return;
        };
        let (begin, end) = (from.max(self.from_days), to.min(self.to_days));
        if end > begin {
            let current = (-rate * (begin - from)).exp();
            let days = if rate > 0.0 { -current * (-rate * (end - begin)).exp_m1() / rate } else { end - begin };
            self.sections[section].expected_fresh += days;
            self.sections[section].weighted_expected_fresh += weight * days;
        }
    }

    fn step(&mut self, at: f64, step: f64) {
        let at = at.min(self.to_days) - self.start_days;
        let day = (at as usize).min(self.parts.len() - 2);
        self.parts[day] += step * ((day + 1) as f64 - at);
        self.steps[day + 1] += step;
    }

    /// Counts the `behind`-th change since the copy was taken (from 1), at `changed`, unseen until `to`.
    pub(crate) fn behind(&mut self, section: usize, weight: f64, behind: u32, changed: f64, to: f64) {
        let days = self.scored(changed, to);
        let (begin, end) = (changed.max(self.from_days), to.min(self.to_days));
        let old = self.scored(changed + OLD_DAYS, to);
        let sums = &mut self.sections[section];
        sums.weighted_harmonic += weight * days / f64::from(behind);
        sums.weighted_missed += weight * days;
        if behind == 1 && end > begin {
            // The integral of (time - changed).
            let age = 0.5 * (end - begin) * (begin + end - 2.0 * changed);
            sums.age += age;
            sums.weighted_age += weight * age;
            sums.old += old;
        }
    }

    /// Counts the time in which a copy misses this much of its page.
    pub(crate) fn missing(&mut self, weight: f64, missed: MissedExtent, from: f64, to: f64) {
        let days = self.scored(from, to);
        self.missed.get_or_insert_default().count(weight * days, missed);
    }

    fn in_score(&self, days: f64) -> bool {
        days >= self.from_days && days < self.to_days
    }

    /// Counts a change that a look noticed. `overwritten`: another came before the look.
    pub(crate) fn noticed(&mut self, changed: f64, looked: f64, overwritten: bool) {
        if !self.in_score(changed) {
            return;
        }
        let delay = looked - changed;
        self.changes += 1;
        self.overwritten += u64::from(overwritten);
        self.delay_sum += delay;
        let bin = BINS_PER_OCTAVE * (delay.max(1e-9).log2() + OCTAVES_BELOW_A_DAY);
        self.delays[(bin.max(0.0) as usize).min(DELAY_BINS - 1)] += 1;
    }

    /// Counts a change that no look noticed before the end. `overwritten`: another came after it.
    pub(crate) fn unnoticed(&mut self, changed: f64, overwritten: bool) {
        if self.in_score(changed) {
            self.changes += 1;
            self.unnoticed += 1;
            self.overwritten += u64::from(overwritten);
        }
    }

    /// Counts a look. Looks must come in the order of time.
    pub(crate) fn look(&mut self, section: usize, host: u32, at: f64, cost: f64, useful: bool) {
        if self.in_score(at) {
            self.peaks.add(host, at - self.from_days);
            self.sections[section].fetches += 1;
            self.useful += u64::from(useful);
            self.spent += cost;
        }
    }

    fn delay_quantile(&self, share: f64) -> f64 {
        let noticed: u64 = self.delays.iter().sum();
        let mut below = 0;
        for (bin, &count) in self.delays.iter().enumerate() {
            below += count;
            if count > 0 && below as f64 >= share * noticed as f64 {
                return ((bin as f64 + 0.5) / BINS_PER_OCTAVE - OCTAVES_BELOW_A_DAY).exp2();
            }
        }
        0.0
    }

    /// The averages; `budget` is the total of the scored time.
    pub(crate) fn scores(self, sections: &[String], budget: f64) -> Scores {
        let mut all = SectionSums::default();
        self.sections.iter().for_each(|section| all.add(section));
        let days = self.to_days - self.from_days;
        let mean = |sum: f64, over: f64| if over > 0.0 { sum / over } else { 0.0 };
        let (page_days, weight_days) = (days * all.pages as f64, days * all.weight);
        let noticed = self.changes - self.unnoticed;
        let by_section = self
            .sections
            .iter()
            .zip(sections)
            .filter(|(sums, _)| sums.pages > 0)
            .map(|(sums, name)| SectionScores {
                section: name.clone(),
                pages: sums.pages,
                freshness: sums.fresh / (days * sums.pages as f64),
                age_days: sums.age / (days * sums.pages as f64),
                fetches: sums.fetches,
            })
            .collect();
        let mut current = 0.0;
        let whole_days = self.parts.len() - 1;
        let freshness_by_day = (0..whole_days)
            .map(|day| {
                current += self.steps[day];
                // The last day may be incomplete.
                let length = (self.to_days - self.start_days - day as f64).min(1.0);
                let beyond = current * (1.0 - length);
                mean(current + self.parts[day] - beyond, length * all.pages as f64)
            })
            .collect();
        Scores {
            pages: all.pages,
            freshness: mean(all.fresh, page_days),
            weighted_freshness: mean(all.weighted_fresh, weight_days),
            expected_freshness: self.is_predictable.then(|| mean(all.expected_fresh, page_days)),
            expected_weighted_freshness: self.is_predictable.then(|| mean(all.weighted_expected_fresh, weight_days)),
            age_days: mean(all.age, page_days),
            weighted_age_days: mean(all.weighted_age, weight_days),
            weighted_harmonic_penalty: mean(all.weighted_harmonic, weight_days),
            weighted_missed_changes: mean(all.weighted_missed, weight_days),
            missed_extent: self.missed.map(|missed| missed.over(weight_days)),
            over_30_days_share: mean(all.old, page_days),
            changes: self.changes,
            overwritten_share: mean(self.overwritten as f64, self.changes as f64),
            unnoticed_share: mean(self.unnoticed as f64, self.changes as f64),
            delay_days: Delays {
                mean: mean(self.delay_sum, noticed as f64),
                p50: self.delay_quantile(0.5),
                p95: self.delay_quantile(0.95),
            },
            fetches: all.fetches,
            useful_fetches_share: mean(self.useful as f64, all.fetches as f64),
            budget_used_share: mean(self.spent, budget),
            peaks: self.peaks.peaks(),
            by_section,
            freshness_by_day,
        }
    }
}
