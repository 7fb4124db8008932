//! The price at which a budget is exactly spent.

/// Bound on ln price: far beyond the prices of pages that change once in a million years or ten times a second, with
/// any weight.
pub const LN_PRICE_LIMIT: f64 = 200.0;

/// Two neighbouring values of ln price. At the lower one, spending exceeds the budget; at the upper one, it does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// More than the budget is spent here.
    pub low: f64,
    /// No more than the budget is spent here.
    pub high: f64,
}

/// Finds where a falling `spending(ln price)` meets the (positive) budget, searching outwards from `start`. If it does
/// not within the limits, the bracket is the limit itself, twice.
///
/// Uses Chandrupatla's method (Advances in Engineering Software 28, 1997) on the logarithm of the spending, which is
/// nearly linear. It needs a handful of evaluations where bisection needs fifty, and never many more than bisection
/// where the spending jumps.
pub fn meet_budget(start: f64, step: f64, budget: f64, mut spending: impl FnMut(f64) -> f64) -> Bracket {
    let mut excess = |ln_price: f64| (spending(ln_price) / budget).ln();
    let start = start.clamp(-LN_PRICE_LIMIT, LN_PRICE_LIMIT);
    let first = (start, excess(start));
    // Walk up or down in growing steps until the sign changes.
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
        // The dropped end bends the line between the remaining two.
        let c = if (next.1 > 0.0) == (a.1 > 0.0) { a } else { std::mem::replace(&mut b, a) };
        a = next;
        let xi = (a.0 - b.0) / (c.0 - b.0);
        let phi = (a.1 - b.1) / (c.1 - b.1);
        // Inverse quadratic interpolation where it is safe, else bisection. Comparisons with NaN are false.
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

/// Where the line from `a` to `b` crosses zero, as a fraction of the way.
fn line(a: (f64, f64), b: (f64, f64)) -> f64 {
    let part = a.1 / (a.1 - b.1);
    if part.is_finite() { part } else { 0.5 }
}
