//! A hint raises the probability that its page has changed, as far as hints of its kind have been right on its host,
//! until the next look (C16 of the algorithm notes).

use crate::columns::{Index, Worth, live_value};

/// Cap on the hazard from hints. A ping reaches it at once, because an operator has let it through.
pub const CERTAIN: f64 = 20.0;

/// -ln of the probability that a hint is wrong, at this precision.
pub fn hazard_of(precision: f64) -> f64 {
    (-(-precision).ln_1p()).min(CERTAIN)
}

/// Value of a fetch when hints add a hazard to the page's own.
pub fn value_with_hints(worth: &Worth, index: &Index, hazard: f64) -> f64 {
    let Worth { own, plain, days, sweep_hazard, sweeps_per_day, trust, weight, .. } = *worth;
    match *index {
        Index::Live { theta, .. } => {
            let swept = live_value(own, plain, days, sweep_hazard + hazard, sweeps_per_day, 1.0, theta);
            let unswept = live_value(plain, plain, days, hazard, 0.0, 1.0, theta);
            weight * (trust * swept + (1.0 - trust) * unswept)
        }
        // The value after the additional time that would make a change as likely.
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
    fn a_hint_says_as_much_as_it_is_precise() {
        assert_eq!(hazard_of(1.0), CERTAIN);
        assert_eq!(hazard_of(0.0), 0.0);
        assert!((hazard_of(0.5) - std::f64::consts::LN_2).abs() < 1e-15);
    }
}
