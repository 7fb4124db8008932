//! The constants of the method. They were chosen on change histories of real pages, from years before the scored ones.

/// Number of changes that the prior of a page's own rate counts for (a0).
pub const PRIOR_ALPHA: f64 = 0.4;
/// Days of watching that the prior counts for when site and cell are unknown (b0).
pub const PRIOR_BETA_DAYS: f64 = 100.0;
/// Evidence from a page's own looks fades by 1/e in this time (tau).
pub const FORGETTING_DAYS: f64 = 1000.0;

/// Levels of a bin. Level 0: no sweep.
pub const LEVELS: usize = 6;
/// Probability that a page of the group was changed in a bin of this level (q).
pub const LEVEL_SHARES: [f64; LEVELS] = [0.0, 0.01, 0.05, 0.2, 0.5, 0.9];
/// -ln(1 - q): the hazard of a bin of this level.
pub const LEVEL_HAZARDS: [f64; LEVELS] = [
    0.0,
    0.010_050_335_853_501_45,
    0.051_293_294_387_550_58,
    0.223_143_551_314_209_76,
    std::f64::consts::LN_2,
    std::f64::consts::LN_10,
];
/// Frequency of each level before the group's own evidence.
pub const LEVEL_PRIORS: [f64; LEVELS] = [0.9958, 0.002, 0.001, 0.0006, 0.0004, 0.0002];
/// Number of bins that the prior of the levels counts for.
pub const PRIOR_BINS: f64 = 100.0;
/// Number of newest bins that still learn. Older ones keep only their hazard.
pub const LIVE_BINS: usize = 64;
/// Weight of the date that a page gives at its first look, in the belief about the page: the last interval between two
/// changes is half as much evidence about the next one as it would be if pages changed at a constant rate.
pub const FIRST_DATE_WEIGHT: f64 = 0.5;
/// A date is no evidence about the days before this many.
pub const DATES_REACH_DAYS: f64 = 365.0;
/// A bin older than this counts towards the group's sweep frequency: by then most pages have been looked at since.
pub const SETTLED_BINS: i32 = 30;
/// A new bin starts from this fraction of the mean of the last three bins: sweeps come in spells.
pub const CARRY: f64 = 0.5;
/// Minimum number of bins whose hazard is kept.
pub const KEPT_BINS: usize = 400;

/// Minimum number of pages in a group.
pub const LEAST_PAGES: u32 = 8;
/// Minimum number of pages for a host or a file name to be a group.
pub const LEAST_PAGES_NAMED: u32 = 3;

/// Initial lead of the belief with sweeps at a site without looks, in ln units of running score. Sweeps must earn their
/// trust: calendars learn how lively a site is sooner than its prior does, and would win at first even where there are
/// no sweeps.
pub const LEAD_START: f64 = -2.0;
/// Minimum lead. A site of independent pages then trusts sweeps with 3 in 10,000.
pub const LEAD_LEAST: f64 = -8.0;
/// Maximum lead. Own rates keep a twentieth, so that some looks without sweeps suffice to turn to them.
pub const LEAD_MOST: f64 = 3.0;
/// Weight of the value of a first look into a group without recent looks. 1 is the derived value.
pub const SENTINEL_WEIGHT: f64 = 1.0;
/// Fraction of an imported history that counts, because the next year is a different one.
pub const HISTORY_KEPT: f64 = 0.5;
