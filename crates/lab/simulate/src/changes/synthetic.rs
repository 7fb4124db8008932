//! Changes drawn from a model, page by page and on demand.

use super::ChangeSource;
use super::model::{Bulks, ChangeModel, Gaps, Regimes};
use crate::error::SimulationError;
use crate::moments::Moments;
use crate::population::Pages;
use crate::streams::{Draws, Purpose, RandomStream};

/// The changes of a synthetic population. A page takes 12 bytes, 8 more with bulks and 16 more with regimes, however
/// often it changes: rates are stored as f32, times in steps of 2^-32 of the whole period.
#[derive(Clone, Debug)]
pub struct SyntheticChanges {
    seed: u64,
    model: ChangeModel,
    gaps: GapDraw,
    change_rates_per_day: Vec<f32>,
    own_next_days: Moments,
    draws: Vec<u32>,
    regimes: Vec<Spell>,
    bulks: Option<BulkState>,
}

/// The current spell of a page.
#[derive(Clone, Copy, Debug)]
struct Spell {
    until_days: f64,
    factor: f32,
    draws: u32,
}

#[derive(Clone, Debug)]
struct BulkState {
    page_share: f64,
    pushes_per_day: f64,
    /// Push times of all hosts, host by host.
    pushes_days: Vec<f64>,
    /// End of the pushes of each host.
    ends: Vec<u32>,
    /// The next push that changes each page; `hosts` gives the end of its host's pushes.
    next: Vec<u32>,
    hosts: Vec<u32>,
}

impl SyntheticChanges {
    /// Pages with these rates of own changes per day (not negative), from day 0 to `horizon_days` and not after.
    pub fn new(
        pages: &Pages,
        change_rates_per_day: &[f64],
        model: ChangeModel,
        seed: u64,
        horizon_days: f64,
    ) -> Result<Self, SimulationError> {
        model.check()?;
        SimulationError::positive("horizon, in days", horizon_days)?;
        let (count, rates) = (pages.len(), change_rates_per_day);
        if rates.len() != count {
            return Err(SimulationError::Lengths { what: "change rates", pages: count, entries: rates.len() });
        }
        let usable = |rate: f64| rate >= 0.0 && (rate as f32).is_finite();
        if let Some((page, &value)) = rates.iter().enumerate().find(|(_, rate)| !usable(**rate)) {
            let expected = "a finite number, not negative";
            return Err(SimulationError::Page { page, field: "change rate per day", value, expected });
        }
        let mut changes = Self {
            seed,
            gaps: GapDraw::new(model.gaps),
            change_rates_per_day: rates.iter().map(|rate| *rate as f32).collect(),
            own_next_days: Moments::new(count, 0.0, horizon_days),
            draws: vec![0; count],
            regimes: Vec::new(),
            bulks: model.bulks.map(|bulks| BulkState::new(bulks, pages, seed, horizon_days)),
            model,
        };
        if let Some(regimes) = changes.model.regimes {
            changes.regimes = (0..count).map(|page| regimes.first(seed, page)).collect();
        }
        for page in 0..count {
            changes.draw_own(page, true);
            if let Some(bulks) = &mut changes.bulks {
                bulks.settle(seed, page);
            }
        }
        Ok(changes)
    }

    /// The long-run change rate of each page, bulks included.
    pub fn mean_change_rates_per_day(&self) -> Vec<f64> {
        let of_bulks = self.bulks.as_ref().map_or(0.0, |bulks| bulks.page_share * bulks.pushes_per_day);
        self.change_rates_per_day.iter().map(|rate| f64::from(*rate) + of_bulks).collect()
    }

    /// Draws the page's next own change after its current one; with `first`, from day 0, in the long-run state.
    fn draw_own(&mut self, page: usize, first: bool) {
        let rate = f64::from(self.change_rates_per_day[page]);
        let present_days = self.own_next_days.get(page);
        if rate == 0.0 || present_days == f64::INFINITY {
            self.own_next_days.set(page, f64::INFINITY);
            return;
        }
        // Every gap has a fixed number of draws, so that a count gives the position in the stream.
        let mut stream = RandomStream::new(self.seed, page as u64, Purpose::Changes);
        let gap = if first {
            self.gaps.first(&mut stream.skip(1 << 40), rate)
        } else {
            stream = stream.skip(2 * u64::from(self.draws[page]));
            self.draws[page] = self.draws[page].wrapping_add(1);
            self.gaps.next(&mut stream, rate)
        };
        let next_days = self.after(page, present_days, gap);
        self.own_next_days.set(page, next_days);
    }

    /// The time at which `activity_days` of the page's average activity will have passed after `days`.
    fn after(&mut self, page: usize, days: f64, activity_days: f64) -> f64 {
        let activity = |days: f64| self.model.cycle.as_ref().map_or(days, |cycle| cycle.activity_days(days));
        let inverse = |activity: f64| self.model.cycle.as_ref().map_or(activity, |cycle| cycle.days(activity));
        let Some(regimes) = self.model.regimes else {
            // Rounding must not put a change before the previous one.
            return inverse(activity(days) + activity_days).max(days);
        };
        let spell = &mut self.regimes[page];
        let (mut from, mut rest) = (days, activity_days);
        loop {
            let factor = f64::from(spell.factor);
            let begun = activity(from);
            let room = factor * (activity(spell.until_days) - begun);
            if rest <= room {
                return inverse(begun + rest / factor).max(days);
            }
            rest -= room;
            from = spell.until_days;
            *spell = regimes.next(self.seed, page, *spell);
        }
    }
}

impl ChangeSource for SyntheticChanges {
    fn pages(&self) -> usize {
        self.own_next_days.len()
    }

    #[inline]
    fn next_change_days(&self, page: usize) -> f64 {
        let own = self.own_next_days.get(page);
        self.bulks.as_ref().map_or(own, |bulks| own.min(bulks.next_days(page)))
    }

    fn poisson_rate_per_day(&self, page: usize) -> Option<f64> {
        let model = &self.model;
        let others = model.bulks.is_some() || model.regimes.is_some() || model.cycle.is_some();
        (model.gaps == Gaps::Poisson && !others).then(|| f64::from(self.change_rates_per_day[page]))
    }

    fn take_change(&mut self, page: usize) {
        let seed = self.seed;
        if let Some(bulks) = self.bulks.as_mut().filter(|bulks| bulks.next_days(page) < self.own_next_days.get(page)) {
            bulks.next[page] += 1;
            bulks.settle(seed, page);
            return;
        }
        self.draw_own(page, false);
    }
}

/// Draws gaps, with everything precomputed that does not depend on the page.
#[derive(Clone, Copy, Debug)]
struct GapDraw {
    gaps: Gaps,
    /// For Weibull: the scale at which the mean is 1.
    scale: f64,
}

impl GapDraw {
    fn new(gaps: Gaps) -> Self {
        let scale = match gaps {
            Gaps::Weibull { shape } => (-libm::lgamma(1.0 + 1.0 / shape)).exp(),
            _ => 1.0,
        };
        Self { gaps, scale }
    }

    /// A gap, in days of average activity. Uses at most two draws.
    fn next(&self, stream: &mut RandomStream, rate: f64) -> f64 {
        match self.gaps {
            Gaps::Poisson => stream.exponential() / rate,
            Gaps::Weibull { shape } => self.scale * stream.exponential().powf(1.0 / shape) / rate,
            // By its quantile, which takes one draw.
            Gaps::Gamma { shape } => {
                change_rate::Gamma::new(shape, shape).map_or(1.0, |gap| gap.quantile(stream.uniform())) / rate
            }
            Gaps::Bursts { changes, gap_days } => match pause_days(changes, gap_days, rate) {
                Some(pause_days) if stream.uniform() * changes < 1.0 => pause_days * stream.exponential(),
                Some(_) => gap_days * stream.exponential(),
                None => stream.exponential() / rate,
            },
        }
    }

    /// The rest of a gap at a random time, so that day 0 is like any other (Cox, Renewal Theory, 1962, 5.2): a random
    /// part of a gap drawn with probability proportional to its length.
    fn first(&self, stream: &mut RandomStream, rate: f64) -> f64 {
        match self.gaps {
            Gaps::Poisson => stream.exponential() / rate,
            Gaps::Weibull { shape } => {
                let long = self.scale * stream.gamma(1.0 + 1.0 / shape).powf(1.0 / shape);
                stream.uniform() * long / rate
            }
            Gaps::Gamma { shape } => stream.uniform() * stream.gamma(shape + 1.0) / shape / rate,
            Gaps::Bursts { changes, gap_days } => match pause_days(changes, gap_days, rate) {
                Some(pause_days) => {
                    let in_pause = pause_days * rate / changes;
                    let mean = if stream.uniform() < in_pause { pause_days } else { gap_days };
                    mean * stream.exponential()
                }
                None => stream.exponential() / rate,
            },
        }
    }
}

/// Mean days of the pause after a burst, so that the mean gap is 1 / rate; `None` if the page is too fast for that.
fn pause_days(changes: f64, gap_days: f64, rate: f64) -> Option<f64> {
    (gap_days * rate < 1.0).then(|| changes / rate - (changes - 1.0) * gap_days)
}

impl Regimes {
    fn first(&self, seed: u64, page: usize) -> Spell {
        self.next(seed, page, Spell { until_days: 0.0, factor: 1.0, draws: 0 })
    }

    fn next(&self, seed: u64, page: usize, spell: Spell) -> Spell {
        let mut stream = RandomStream::new(seed, page as u64, Purpose::Regimes).skip(3 * u64::from(spell.draws));
        let factor = (self.ln_sd * stream.normal() - 0.5 * self.ln_sd * self.ln_sd).exp();
        Spell {
            until_days: spell.until_days + self.spell_days * stream.exponential(),
            factor: (factor as f32).max(1e-6),
            draws: spell.draws + 1,
        }
    }
}

impl BulkState {
    fn new(bulks: Bulks, pages: &Pages, seed: u64, horizon_days: f64) -> Self {
        let (mut pushes_days, mut begins, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for host in 0..pages.hosts() {
            begins.push(pushes_days.len() as u32);
            let mut stream = RandomStream::new(seed, host as u64, Purpose::Host).skip(16);
            let mut days = stream.exponential() / bulks.pushes_per_day;
            while days <= horizon_days {
                pushes_days.push(days);
                days += stream.exponential() / bulks.pushes_per_day;
            }
            ends.push(pushes_days.len() as u32);
        }
        let hosts: Vec<u32> = (0..pages.len()).map(|page| pages.host(page)).collect();
        let next = hosts.iter().map(|&host| begins[host as usize]).collect();
        Self { page_share: bulks.page_share, pushes_per_day: bulks.pushes_per_day, pushes_days, ends, next, hosts }
    }

    fn next_days(&self, page: usize) -> f64 {
        let next = self.next[page];
        if next < self.ends[self.hosts[page] as usize] { self.pushes_days[next as usize] } else { f64::INFINITY }
    }

    /// Skips pushes that do not change the page.
    fn settle(&mut self, seed: u64, page: usize) {
        let end = self.ends[self.hosts[page] as usize];
        while self.next[page] < end {
            // The number of the push in the whole run: the pages of a host draw at the same position of their own
            // streams.
            let mut stream = RandomStream::new(seed, page as u64, Purpose::Bulks).skip(u64::from(self.next[page]));
            if stream.uniform() < self.page_share {
                break;
            }
            self.next[page] += 1;
        }
    }
}

#[cfg(test)]
mod tests;
