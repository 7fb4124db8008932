//! How often pages change, and how much: the belief about one page, and the forecast of a site.

use crate::{Look, LookJudgement, impl_message};
use change_rate::ORDINARY_EXTENT;
use page::{SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use sweeps::{CellChange, GroupChange};

/// Estimator to scheduler: a look, its judgement, and the belief about how often the page changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeEstimate {
    pub look: Look,
    pub judgement: LookJudgement,
    /// The belief after this look.
    pub belief: ChangeBelief,
}

/// The estimator's belief about how often a page changes, and how much. Rates are Gamma posteriors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeBelief {
    /// Shape of the posterior of the change rate, prior included.
    pub alpha: f64,
    /// Rate parameter of the same posterior, in days.
    pub beta_days: f64,
    /// Looks that entered the estimate.
    pub observations: i64,
    /// The looks among them that saw a change.
    pub changes: i64,
    /// Changes outside sweeps, beyond the prior's.
    pub own_alpha: f32,
    /// Days watched for them beyond the prior's.
    pub own_beta_days: f32,
    /// Changes of any cause beyond the prior's.
    pub plain_alpha: f32,
    /// Days watched for them beyond the prior's.
    pub plain_beta_days: f32,
    /// Mean share of the content that a change of the page changes, in (0, 1].
    pub mean_extent: f32,
}

impl ChangeBelief {
    /// A posterior, or the prior, without evidence of the page's own.
    pub fn new(alpha: f64, beta_days: f64) -> Self {
        Self {
            alpha,
            beta_days,
            observations: 0,
            changes: 0,
            own_alpha: 0.0,
            own_beta_days: 0.0,
            plain_alpha: 0.0,
            plain_beta_days: 0.0,
            mean_extent: ORDINARY_EXTENT as f32,
        }
    }

    /// The mean of the posterior.
    pub fn change_rate_per_day(&self) -> f64 {
        self.alpha / self.beta_days
    }
}

/// Estimator to scheduler: when pages of one site are believed to have changed together. Omitted parts stay unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepForecast {
    /// The site. Also the record key.
    pub site_key: SiteKey,
    pub made_at: Timestamp,
    /// How much better sweeps have predicted the site's fetches than the pages' own rates alone, in ln units. `None`
    /// means unchanged.
    pub lead: Option<f32>,
    /// Groups whose calendars changed.
    pub groups: Vec<GroupChange>,
    /// Cells whose priors changed.
    pub cells: Vec<CellChange>,
    /// Hashes of groups and cells without pages, and of the site if it has none, each as the signed number with its bits.
    /// They are forgotten before the rest is taken in.
    pub gone: Vec<i64>,
}

impl SweepForecast {
    /// A forecast in which nothing changes.
    pub fn new(site_key: SiteKey, made_at: Timestamp) -> Self {
        Self { site_key, made_at, lead: None, groups: Vec::new(), cells: Vec::new(), gone: Vec::new() }
    }
}

impl_message!(ChangeEstimate, "ChangeEstimate", include_str!("../../../schemas/ChangeEstimate.avsc"));
impl_message!(SweepForecast, "SweepForecast", include_str!("../../../schemas/SweepForecast.avsc"));
