//! How popular a page will be, from how its popularity grows (Cho, Roy & Adams 2005; Meng et al., eq 18–23; D7 of the algorithm
//! notes).
//!
//! Popularity P is awareness (the fraction of users who know the page) times quality Q. With visits in proportion to
//! popularity, dP/dt = r P (Q − P), where r is visits per user and time at full popularity. So
//!
//! P(t) = Q / (1 + (Q/P0 − 1) e^(−r Q t)) and Q = (dP/dt) / (r P) + P
//!
//! A young page that grows fast has more quality than its popularity shows. The text of the survey takes awareness for the number
//! of users, prints eq 19 with the wrong sign and omits two deltas in eq 21; here they are corrected.

/// Popularity at time t of a page that had P0 at time 0. `visit_rate` is r, per unit of t. Quality and P0 are above 0.
pub fn popularity(quality: f64, at_start: f64, visit_rate: f64, t: f64) -> f64 {
    quality / (1.0 + (quality / at_start - 1.0) * (-visit_rate * quality * t).exp())
}

/// Quality of a page from its popularity now, which is above 0, and the slope of its popularity, per unit of time (eq 22).
pub fn quality(popularity: f64, slope: f64, visit_rate: f64) -> f64 {
    slope / popularity / visit_rate + popularity
}

/// Quality from two popularities and the time between them. The slope is that of the logarithm, which is nearly straight
/// while a page is young, so this is closer than [`quality`] with the slope of the popularity itself.
pub fn quality_between(earlier: f64, later: f64, passed: f64, visit_rate: f64) -> f64 {
    (later / earlier).ln() / passed / visit_rate + (earlier + later) / 2.0
}

/// Quality as an estimate to act on: not below a quarter of the popularity and not above four times it.
pub fn clamped(quality: f64, popularity: f64) -> f64 {
    quality.max(popularity / 4.0).min(popularity * 4.0)
}

/// Visits per user that take a page from popularity P0 to P where readers come by a search engine, which shows popular pages
/// first: visits grow with P^(9/4), and this is r t (eq 23). P0 and P are above 0 and below the quality.
///
/// It is the integral of dx / ((Q − x) x^(9/4)) from P0 to P. The printed sum over i ≥ 1 of
/// (P^(i − 9/4) − P0^(i − 9/4)) / ((i − 9/4) Q^i) is the same, and converges slowly where P is near Q. In s = ln(x / (Q − x))
/// the integrand is smooth everywhere.
pub fn visits_by_search(quality: f64, at_start: f64, popularity: f64) -> f64 {
    const STEPS: u32 = 2_000;
    let logit = |x: f64| (x / (quality - x)).ln();
    let (from, to) = (logit(at_start), logit(popularity));
    let width = (to - from) / f64::from(STEPS);
    let at = |step: u32| {
        let x = quality / (1.0 + (-(from + f64::from(step) * width)).exp());
        x.powf(-1.25) / quality
    };
    // Simpson's rule.
    let inner: f64 = (1..STEPS).map(|step| if step % 2 == 1 { 4.0 * at(step) } else { 2.0 * at(step) }).sum();
    width / 3.0 * (at(0) + inner + at(STEPS))
}

/// The slope of the logarithm of a page's popularity, from looks at any times: two averages with different memories lag
/// differently behind a trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    fast: Average,
    slow: Average,
    first_t: f64,
    last_t: f64,
    last_ln: f64,
    looks: u32,
}

/// An exponential average. `memory` is its time constant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Average {
    memory: f64,
    value: f64,
}

/// Looks before a slope is believed.
const LEAST_LOOKS: u32 = 3;

impl Trend {
    /// A trend that begins with a first look. The memories are time constants, the first one shorter. `None` if they are not
    /// both positive and different, or if the popularity is not above 0.
    pub fn new(fast_memory: f64, slow_memory: f64, t: f64, popularity: f64) -> Option<Self> {
        let ln = sane_ln(popularity)?;
        let valid = fast_memory > 0.0 && slow_memory > fast_memory && slow_memory.is_finite() && t.is_finite();
        let average = |memory| Average { memory, value: ln };
        valid.then(|| Self {
            fast: average(fast_memory),
            slow: average(slow_memory),
            first_t: t,
            last_t: t,
            last_ln: ln,
            looks: 1,
        })
    }

    /// Another look. Ignored, and `false`, if it is not later than the last one or the popularity is not above 0.
    pub fn look(&mut self, t: f64, popularity: f64) -> bool {
        let Some(ln) = sane_ln(popularity).filter(|_| t > self.last_t && t.is_finite()) else { return false };
        let passed = t - self.last_t;
        self.fast.follow(self.last_ln, ln, passed);
        self.slow.follow(self.last_ln, ln, passed);
        (self.last_t, self.last_ln, self.looks) = (t, ln, self.looks.saturating_add(1));
        true
    }

    /// Slope of the logarithm per unit of time: exact for a steady trend. `None` before the third look.
    pub fn slope(&self) -> Option<f64> {
        let age = self.last_t - self.first_t;
        // Behind a trend that began with the first look, an average lags this long.
        let lag = |average: Average| -average.memory * (-age / average.memory).exp_m1();
        let apart = lag(self.slow) - lag(self.fast);
        (self.looks >= LEAST_LOOKS && apart > 0.0).then(|| (self.fast.value - self.slow.value) / apart)
    }

    /// Quality of the page, clamped, by its last popularity and its slope. `None` before the third look.
    pub fn quality(&self, visit_rate: f64) -> Option<f64> {
        let popularity = self.last_ln.exp();
        Some(clamped(self.slope()? / visit_rate + popularity, popularity))
    }
}

impl Average {
    /// The exact average of a value that went straight from `before` to `after` while this time passed.
    fn follow(&mut self, before: f64, after: f64, passed: f64) {
        let kept = (-passed / self.memory).exp();
        let between = (1.0 - kept) * self.memory / passed;
        self.value = kept * self.value + (between - kept) * before + (1.0 - between) * after;
    }
}

fn sane_ln(popularity: f64) -> Option<f64> {
    (popularity > 0.0 && popularity.is_finite()).then(|| popularity.ln())
}
