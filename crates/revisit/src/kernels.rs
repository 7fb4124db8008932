//! Freshness, age and crawl value of a page with a known change rate.
//!
//! A page changes as a Poisson process; x is its change rate times the days since the last look, r its change rate
//! times the interval between looks. Sources: Cho & Garcia-Molina, TODS 2003, Table 1 (time averages); Brewington &
//! Cybenko, WWW9 2000 (grace period); Olston & Pandey, WWW 2008, section 2.2 (a fetch is worth t D(t) - ∫ D).
//!
//! Near zero these are differences of nearly equal numbers, so each is summed as a series there.

/// The timing of looks at a given mean interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitOrder {
    /// Evenly spaced: the best order at any rate.
    Fixed,
    /// Every page once per cycle, in a new random order each cycle.
    RandomWithinCycle,
    /// At random times.
    PurelyRandom,
}

/// Average freshness, in 0..=1, of a page that changes `r` times per mean interval between looks.
pub fn average_freshness(order: VisitOrder, r: f64) -> f64 {
    match order {
        VisitOrder::PurelyRandom => 1.0 / (1.0 + r),
        _ if r == 0.0 => 1.0,
        VisitOrder::Fixed => -(-r).exp_m1() / r,
        VisitOrder::RandomWithinCycle => {
            let lost = if r < 1.0 { -alternating(r, 1, |k| 1.0 / (k + 1.0)) } else { 1.0 + (-r).exp_m1() / r };
            lost * (2.0 - lost) / r
        }
    }
}

/// Average age of the copy in units of the mean interval between looks: 0 while fresh, else the time since the first
/// unseen change.
pub fn average_age(order: VisitOrder, r: f64) -> f64 {
    match order {
        VisitOrder::PurelyRandom => r / (1.0 + r),
        VisitOrder::Fixed if r < 1.0 => -alternating(r, 1, |k| 1.0 / ((k + 1.0) * (k + 2.0))),
        VisitOrder::Fixed => 0.5 - 1.0 / r - (-r).exp_m1() / (r * r),
        VisitOrder::RandomWithinCycle if r < 1.0 => {
            -alternating(r, 1, |k| 2.0 * ((k + 3.0).exp2() - 1.0) / ((k + 1.0) * (k + 2.0) * (k + 3.0) * (k + 4.0)))
        }
        VisitOrder::RandomWithinCycle => {
            let changed = -(-r).exp_m1() / (r * r);
            1.0 / 3.0 + (0.5 - 1.0 / r).powi(2) - changed * changed
        }
    }
}

/// Share of the time that a page looked at every `interval_days` is at most `grace_days` behind. A grace longer than
/// the (positive) interval is cut to the interval.
pub fn grace_freshness(change_rate_per_day: f64, interval_days: f64, grace_days: f64) -> f64 {
    let beyond = interval_days - grace_days.clamp(0.0, interval_days);
    let fresh = average_freshness(VisitOrder::Fixed, change_rate_per_day * beyond);
    1.0 - beyond / interval_days * (1.0 - fresh)
}

/// Crawl value for freshness: P(2, x) = 1 - (1 + x) e^-x, the regularised incomplete gamma function. Never above 1,
/// because a page that is surely stale gains no more value.
pub fn binary(x: f64) -> f64 {
    if x < 0.5 { alternating(x, 2, |k| k - 1.0) } else { -(-x).exp_m1() - x * (-x).exp() }
}

/// Crawl value for the harmonic penalty: x - 1 + e^-x.
pub fn harmonic(x: f64) -> f64 {
    if x < 0.5 { alternating(x, 2, |_| 1.0) } else { x + (-x).exp_m1() }
}

/// Crawl value for age: x² / 2 - P(2, x).
pub fn age(x: f64) -> f64 {
    if x < 0.5 { -alternating(x, 3, |k| k - 1.0) } else { 0.5 * x * x - binary(x) }
}

/// Expected harmonic penalty: Ein(x) = ∫ (1 - e^-s) / s ds over 0..x.
pub fn harmonic_penalty(x: f64) -> f64 {
    const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;
    if x < 4.0 { -alternating(x, 1, |k| 1.0 / k) } else { EULER_GAMMA + x.ln() + exponential_integral(x) }
}

/// Average harmonic penalty of a page that changes `r` times per mean interval between looks: evenly spaced
/// (Ein(r) - 1 + (1 - e^-r) / r) or at random times (ln(1 + r)). Every other order counts as evenly spaced.
pub fn average_harmonic_penalty(order: VisitOrder, r: f64) -> f64 {
    match order {
        VisitOrder::PurelyRandom => r.ln_1p(),
        _ if r < 0.5 => -alternating(r, 1, |k| 1.0 / (k * (k + 1.0))),
        _ => harmonic_penalty(r) - 1.0 + average_freshness(VisitOrder::Fixed, r),
    }
}

/// Crawl value for the mixed objective: (1 - theta) × [`binary`] + theta × [`harmonic`].
pub fn mixed(x: f64, theta: f64) -> f64 {
    (1.0 - theta) * binary(x) + theta * harmonic(x)
}

/// The x with `binary(x) == y`. Infinite for y >= 1, where no waiting makes a fetch worth its price.
///
/// Closed form: -1 - W(-(1 - y) / e) on Lambert's lower branch, computed by three Halley steps from its expansion.
pub fn inverse_binary(y: f64) -> f64 {
    if y <= 0.0 {
        return 0.0;
    }
    if y >= 1.0 {
        return f64::INFINITY;
    }
    let mut x = if y < 0.6 {
        let s = (2.0 * y).sqrt();
        s + s * s * (1.0 / 3.0 + s * (11.0 / 72.0 + s * (43.0 / 540.0)))
    } else {
        let tail = -(-y).ln_1p();
        tail + (tail + tail.ln_1p()).ln_1p()
    };
    for _ in 0..3 {
        let (excess, exp) = (binary(x) - y, (-x).exp());
        let (slope, bend) = (x * exp, (1.0 - x) * exp);
        x -= 2.0 * excess * slope / (2.0 * slope * slope - excess * bend);
    }
    x
}

/// The x with `mixed(x, theta) == y`; finite for every y when theta > 0.
pub fn inverse_mixed(y: f64, theta: f64) -> f64 {
    if theta <= 0.0 {
        return inverse_binary(y);
    }
    if y <= 0.0 {
        return 0.0;
    }
    if y == f64::INFINITY {
        return y;
    }
    // mixed(x) lies between theta (x - 1) and x² / 2. Newton inside these bounds, bisection where it would leave them.
    let s = (2.0 * y).sqrt();
    let (mut low, mut high) = (s, 1.0 + y / theta);
    let mut x = (s + s * s * (2.0 - theta) / 6.0).min(high);
    for _ in 0..200 {
        let (value, slope) = mixed_and_slope(x, theta);
        let excess = value - y;
        if excess > 0.0 {
            high = high.min(x);
        } else {
            low = low.max(x);
        }
        let newton = x - excess / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - x).abs() <= 4.0 * f64::EPSILON * x {
            return next;
        }
        x = next;
    }
    x
}

/// The x with `age(x) == y`; finite for every y.
pub fn inverse_age(y: f64) -> f64 {
    if y <= 0.0 {
        return 0.0;
    }
    if y == f64::INFINITY {
        return y;
    }
    // age(x) is below x³/3 and x²/2, and convex: Newton overshoots once, then descends to the root.
    let mut x = (3.0 * y).cbrt().max((2.0 * y).sqrt());
    for _ in 0..60 {
        let next = x - (age(x) - y) / age_slope(x);
        if (next - x).abs() <= 4.0 * f64::EPSILON * x {
            return next;
        }
        x = next;
    }
    x
}

/// d [`age`] / dx.
pub(crate) fn age_slope(x: f64) -> f64 {
    -x * (-x).exp_m1()
}

/// d [`mixed`] / dx.
pub(crate) fn mixed_slope(x: f64, theta: f64) -> f64 {
    (1.0 - theta) * x * (-x).exp() - theta * (-x).exp_m1()
}

/// [`mixed`] and its slope. From 0.5 on, both need only one exponential.
fn mixed_and_slope(x: f64, theta: f64) -> (f64, f64) {
    if x < 0.5 {
        return (mixed(x, theta), mixed_slope(x, theta));
    }
    let minus_changed = (-x).exp_m1();
    let x_unchanged = x * (1.0 + minus_changed);
    let value = theta * (x + minus_changed) - (1.0 - theta) * (minus_changed + x_unchanged);
    (value, (1.0 - theta) * x_unchanged - theta * minus_changed)
}

/// The sum over k >= `first` of (-1)^k coefficient(k) x^k / k!, for x below 4.
fn alternating(x: f64, first: u32, coefficient: impl Fn(f64) -> f64) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0);
    for k in 1..=40 {
        power *= -x / f64::from(k);
        if k >= first {
            let term = coefficient(f64::from(k)) * power;
            sum += term;
            if term.abs() <= 1e-17 * sum.abs() {
                break;
            }
        }
    }
    sum
}

/// E1(x) for x >= 4, by its continued fraction (Abramowitz & Stegun 5.1.22).
fn exponential_integral(x: f64) -> f64 {
    let fraction = (1..=40).rev().map(f64::from).fold(0.0, |rest, k| k / (1.0 + k / (x + rest)));
    (-x).exp() / (x + fraction)
}
