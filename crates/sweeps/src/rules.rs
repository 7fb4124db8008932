//! The constants of the method. Chosen on change histories of real pages, in years before those it was scored on.

/// Changes that the prior of a page's own rate counts for (a0).
pub const PRIOR_ALPHA: f64 = 0.4;
/// Days of watching that the prior counts for where nothing is known of site and cell (b0).
pub const PRIOR_BETA_DAYS: f64 = 100.0;
/// What a page's own looks have shown fades by 1/e in this time (tau).
pub const FORGETTING_DAYS: f64 = 1000.0;

/// Levels of a bin. Level 0: nothing happened.
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
/// How often a bin has this level, before the group has taught us better.
pub const LEVEL_PRIORS: [f64; LEVELS] = [0.9958, 0.002, 0.001, 0.0006, 0.0004, 0.0002];
/// Bins that the prior of the levels counts for.
pub const PRIOR_BINS: f64 = 100.0;
/// The newest bins that still learn. Older ones keep their hazard only.
pub const LIVE_BINS: usize = 64;
/// A bin counts for how often the group is swept when it is older than this many bins: by then most pages have been
/// looked at since.
pub const SETTLED_BINS: i32 = 30;
/// How much of the mean of the last three bins a new bin starts from: sweeps come in spells.
pub const CARRY: f64 = 0.5;
/// The bins whose hazard is kept at least.
pub const KEPT_BINS: usize = 400;

/// The least number of pages that make a group.
pub const LEAST_PAGES: u32 = 8;
/// The least number of pages that make a host or a file name a group.
pub const LEAST_PAGES_NAMED: u32 = 3;

/// By how much the belief with sweeps leads the other at a site nobody has looked into, in ln units of running score.
/// Sweeps must earn their trust: calendars learn how lively a site is sooner than its prior does, and win at first where
/// there are no sweeps at all.
pub const LEAD_START: f64 = -2.0;
/// The least lead. A site of independent pages then trusts sweeps with 3 in 10,000.
pub const LEAD_LEAST: f64 = -8.0;
/// The most: own rates alone keep a twentieth, so that some looks without sweeps are enough to turn to them.
pub const LEAD_MOST: f64 = 3.0;
/// Weight of the worth of a first look into a group that nobody has looked into for a while. 1 is the derived value.
pub const SENTINEL_WEIGHT: f64 = 1.0;
/// How much of an imported history counts, because the next year is another one.
pub const HISTORY_KEPT: f64 = 0.5;
