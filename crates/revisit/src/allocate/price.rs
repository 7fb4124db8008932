//! The price at which a budget is just spent.

/// Logarithms of prices looked at: far beyond what pages that change once in a million years or ten times a second,
/// with any weight, can give.
pub const LN_PRICE_LIMIT: f64 = 200.0;

/// Two neighbouring logarithms of prices: at the lower one more is spent than the budget, at the upper one not more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The lower one.
    pub low: f64,
    /// The upper one.
    pub high: f64,
}

/// Where a falling `spending(ln price)` meets the budget (positive), looked for from `start` outwards. Within the
/// limits: where it meets it nowhere, the bracket is the limit itself, twice.
///
/// Chandrupatla's method (Advances in Engineering Software 28, 1997) on the logarithm of what is spent, which is nearly
/// a straight line: a handful of evaluations instead of the fifty of halving, and never many more than those where the
/// spending leaps.
pub fn meet_budget(start: f64, step: f64, budget: f64, mut spending: impl FnMut(f64) -> f64) -> Bracket {
    let mut excess = |ln_price: f64| (spending(ln_price) / budget).ln();
    let start = start.clamp(-LN_PRICE_LIMIT, LN_PRICE_LIMIT);
    let first = (start, excess(start));
    // Walk uphill or downhill in growing steps until the sign changes.
    let (direction, mut step) = (if first.1 > 0.0 { 1.0 } else { -1.0 }, step);
    let (mut near, mut far) = (first, first);
    while (far.1 > 0.0) == (first.1 > 0.0) {
        if far.0.abs() >= LN_PRICE_LIMIT && far.0 * direction > 0.0 {
            return Bracket { low: far.0, high: far.0 };
        }
        near = far;
        far.0 = (far.0 + direction * step).clamp(-LN_PRICE_LIMIT, LN_PRICE_LIMIT);
        far.1 = excess(far.0);
        step *= 4.0;
    }
    let (mut a, mut b) = (far, near);
    let mut part = line(a, b);
    for _ in 0..200 {
        let tolerance = 1e-14 * (1.0 + a.0.abs());
        let width = (b.0 - a.0).abs();
        if width <= 2.0 * tolerance {
            break;
        }
        let least = (tolerance / width).min(0.5);
        let at = a.0 + part.clamp(least, 1.0 - least) * (b.0 - a.0);
        let next = (at, excess(at));
        if next.1 == 0.0 {
            return Bracket { low: at, high: at };
        }
        // The end given up: it bends the line between the two that are left.
        let c = if (next.1 > 0.0) == (a.1 > 0.0) { a } else { std::mem::replace(&mut b, a) };
        a = next;
        let xi = (a.0 - b.0) / (c.0 - b.0);
        let phi = (a.1 - b.1) / (c.1 - b.1);
        // Inverse quadratic interpolation where it is safe, else halving. Comparisons with no number are false.
        part = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            a.1 / (b.1 - a.1) * c.1 / (b.1 - c.1) + (c.0 - a.0) / (b.0 - a.0) * a.1 / (c.1 - a.1) * b.1 / (c.1 - b.1)
        } else {
            0.5
        };
        if !part.is_finite() {
            part = 0.5;
        }
    }
    if a.1 > 0.0 { Bracket { low: a.0, high: b.0 } } else { Bracket { low: b.0, high: a.0 } }
}

/// Where the straight line from `a` to `b` crosses zero, as a part of the way.
fn line(a: (f64, f64), b: (f64, f64)) -> f64 {
    let part = a.1 / (a.1 - b.1);
    if part.is_finite() { part } else { 0.5 }
}
