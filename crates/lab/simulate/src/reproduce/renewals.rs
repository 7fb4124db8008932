//! C11: the marked point process (Meng et al. 2006, eq 35 and 36; Wolf et al., WWW 2002) for changes of any hazard.

use super::{Effort, ReproductionRow};
use change_rate::gaps::GapDistribution;

/// A distribution by name, with the reference values for 0 to 4 looks.
type StaleShares = (&'static str, fn() -> Option<GapDistribution>, [f64; 5]);

/// Share of stale time of a page with two changes on average in a horizon that begins with a current copy, for 0 to 4 even looks. The
/// publications print no figures: for Poisson, those of the algorithm notes; for the others, eq 36 with x_i as its upper limit by Simpson's
/// rule on the survival function, which shares nothing with our closed form.
const STALE: [StaleShares; 6] = [
    (
        "exponential",
        || Some(GapDistribution::EXPONENTIAL),
        [0.567667641618, 0.367879441171, 0.270125678549, 0.213061319425, 0.175800115089],
    ),
    (
        "Weibull, shape 0.5",
        || GapDistribution::weibull(0.5).ok(),
        [0.379679341038, 0.247040621401, 0.186064643175, 0.150312176400, 0.126589970597],
    ),
    (
        "Weibull, shape 2",
        || GapDistribution::weibull(2.0).ok(),
        [0.683256649036, 0.443548049301, 0.315214624237, 0.242129115659, 0.195914168592],
    ),
    (
        "Weibull, shape 4",
        || GapDistribution::weibull(4.0).ok(),
        [0.730323717686, 0.479776355477, 0.330434921978, 0.249301815714, 0.199770271920],
    ),
    (
        "Gamma, shape 2",
        || GapDistribution::gamma(2.0).ok(),
        [0.641026184028, 0.419169104046, 0.303345349438, 0.235758882343, 0.192156289778],
    ),
    (
        "Gamma, shape 4",
        || GapDistribution::gamma(4.0).ok(),
        [0.690008980905, 0.453604616897, 0.321937052830, 0.246229371868, 0.198481625742],
    ),
];

/// Equation 36 for six distributions of gaps.
pub(super) fn stale_shares(_: &Effort) -> Vec<ReproductionRow> {
    let row = |name: &str, gaps: &GapDistribution, looks: u32, reference: f64| {
        let what = format!("stale share (eq 36), {name} gaps, two in the horizon, {looks} looks");
        ReproductionRow::exact("C11", what, reference, gaps.staleness(2.0, looks), 1e-9)
    };
    let of_shape = |(name, gaps, references): &StaleShares| {
        let gaps = gaps();
        let rows =
            (0..).zip(*references).filter_map(|(looks, reference)| Some(row(name, gaps.as_ref()?, looks, reference)));
        rows.collect::<Vec<_>>()
    };
    STALE.iter().flat_map(of_shape).collect()
}
