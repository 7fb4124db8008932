//! Freshness of the copies: measured by audits, and expected by the scheduler and corrected by the audits.

use serde::{Deserialize, Serialize};

/// Freshness measured by looks at random pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditedFreshness {
    /// Share of looks that found the copy current.
    pub mean: f64,
    /// Lower end of the 95 % interval (Wilson 1927).
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Number of looks at randomly drawn pages.
    pub looks: u64,
}

impl AuditedFreshness {
    /// Computes it from `looks` looks, `fresh` of which found the copy current; `None` without looks.
    pub fn of(looks: u64, fresh: u64) -> Option<Self> {
        if looks == 0 {
            return None;
        }
        let mean = fresh as f64 / looks as f64;
        let (low, high) = wilson(looks as f64, mean);
        Some(Self { mean, low, high, looks })
    }
}

/// The expected freshness, corrected by how often recent audits found a copy current that was expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibratedFreshness {
    /// Share of pages whose copy is current.
    pub mean: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Number of recent audits; a part of the older ones counts, too.
    pub looks: f64,
}

impl CalibratedFreshness {
    /// Computes it from the expected share, and from the `looks` recent audits: `fresh` of them found the copy current,
    /// and `expected` were expected to. `copies` is the share of pages that have a copy, the most that can be current.
    /// The interval is that of the audits (Wilson 1927), scaled alike. It is a little too wide, because it takes all
    /// audits for equally likely to find a current copy. `None` without audits.
    pub fn of(expected_share: f64, copies: f64, looks: f64, fresh: f64, expected: f64) -> Option<Self> {
        if !(looks > 0.0 && expected > 0.0) {
            return None;
        }
        let scaled = |share: f64| (expected_share * share * looks / expected).clamp(0.0, copies.clamp(0.0, 1.0));
        let (low, high) = wilson(looks, fresh / looks);
        Some(Self { mean: scaled(fresh / looks), low: scaled(low), high: scaled(high), looks })
    }
}

/// The 95 % interval of a share that was seen in `n` looks (Wilson 1927).
fn wilson(n: f64, share: f64) -> (f64, f64) {
    /// The 97.5 % point of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    let centre = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // Rounding must not put the share outside of its own interval.
    ((centre - half).min(share).max(0.0), (centre + half).max(share).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::{Draws, Lcg};

    /// Wilson's interval for 8 of 10 and for 0 of 10, as in Brown, Cai & DasGupta (2001), section 3.
    #[test]
    fn audited_freshness_has_wilsons_interval() {
        assert_eq!(AuditedFreshness::of(0, 0), None);
        let check = |looks, fresh, low: f64, high: f64| {
            let audited = AuditedFreshness::of(looks, fresh).unwrap();
            assert!((audited.low - low).abs() < 1e-4 && (audited.high - high).abs() < 1e-4, "{audited:?}");
        };
        check(10, 8, 0.4902, 0.9433);
        check(10, 0, 0.0, 0.2775);
        check(100, 100, 0.9630, 1.0);
        for looks in 1..1_000 {
            for fresh in [0, looks / 2, looks] {
                let audited = AuditedFreshness::of(looks, fresh).unwrap();
                assert!(audited.low <= audited.mean && audited.mean <= audited.high, "{audited:?}");
            }
        }
    }

    #[test]
    fn expected_freshness_is_calibrated_by_what_audits_found() {
        assert_eq!(CalibratedFreshness::of(0.9, 1.0, 0.0, 0.0, 0.0), None);
        // Audits found 80 of 100 current, where 96 were expected.
        let calibrated = CalibratedFreshness::of(0.9, 1.0, 100.0, 80.0, 96.0).unwrap();
        assert!((calibrated.mean - 0.75).abs() < 1e-12, "{calibrated:?}");
        // Wilson's interval for 80 of 100, scaled alike.
        assert!((calibrated.low - 0.7112 * 0.9 / 0.96).abs() < 1e-4, "{calibrated:?}");
        assert!((calibrated.high - 0.8666 * 0.9 / 0.96).abs() < 1e-4, "{calibrated:?}");
        // More than the pages that have a copy cannot be current.
        let most = CalibratedFreshness::of(0.5, 0.6, 10.0, 10.0, 7.0).unwrap();
        assert_eq!((most.mean, most.high), (0.6, 0.6));
        assert!(most.low < most.mean);
    }

    /// Pages of three kinds are audited at random. All are current less often than expected, by the same factor.
    #[test]
    fn the_interval_holds_the_truth_in_19_of_20_crawls_or_more() {
        const EXPECTED: [f64; 3] = [0.99, 0.9, 0.5];
        const CRAWLS: u32 = 2_000;
        let expected_share = EXPECTED.iter().sum::<f64>() / 3.0;
        let truth = 0.85 * expected_share;
        let mut numbers = Lcg(1);
        let (mut held, mut width) = (0, 0.0);
        for _ in 0..CRAWLS {
            let (mut fresh, mut expected) = (0.0, 0.0);
            for _ in 0..300 {
                let kind = EXPECTED[(3.0 * numbers.uniform()) as usize];
                expected += kind;
                fresh += f64::from(u8::from(numbers.uniform() < 0.85 * kind));
            }
            let calibrated = CalibratedFreshness::of(expected_share, 1.0, 300.0, fresh, expected).unwrap();
            held += u32::from((calibrated.low..=calibrated.high).contains(&truth));
            width += (calibrated.high - calibrated.low) / f64::from(CRAWLS);
        }
        assert!(held * 20 >= CRAWLS * 19, "{held} of {CRAWLS}");
        assert!(width < 0.12, "an interval of everything holds the truth, too: {width}");
    }
}
