//! The value of a fetch of one page now, and the time when it reaches its price.
//!
//! The best schedule fetches a page exactly when weight × U(t) = price × cost (Olston & Pandey, WWW 2008, section 2.2).
//! U is computed from the page's own belief, so uncertainty counts: a page with few looks keeps a tail of value and
//! needs no separate exploration.

use change_rate::Gamma;

/// Value of a fetch `days` after the last look, in days of weighted freshness per unit of cost (positive).
#[inline]
pub fn crawl_value(belief: Gamma, days: f64, theta: f64, weight: f64, cost: f64) -> f64 {
    weight / cost * belief.crawl_value(days, theta)
}

/// Days after a look at which [`crawl_value`] reaches `price`; infinite when that takes more than 3,000 years.
pub fn due_after_days(belief: Gamma, theta: f64, weight: f64, cost: f64, price: f64) -> f64 {
    if price <= 0.0 {
        return 0.0;
    }
    let wanted = |ln_days: f64| crawl_value(belief, ln_days.exp(), theta, weight, cost) >= price;
    let (mut low, mut high) = (-23.0, 14.0);
    if !wanted(high) {
        return f64::INFINITY;
    }
    // U never falls as days pass, so bisection finds the one crossing.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if wanted(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high.exp()
}
