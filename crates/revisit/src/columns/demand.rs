//! The demand of pages, for merging over all partitions, and the expected freshness of the copies.

use super::entry::{EXCLUDED, HELD, NEVER_FETCHED, VACANT};
use super::{Index, PageColumns, Slot};
use crate::budget_curve::BudgetCurve;
use crate::histogram::RatioHistogram;
use crate::policy::Policy;
use page::Timestamp;
use sweeps::Outlook;

/// Number of pages by ln of their value at one time. Adding and merging commute. Partitions merge their histograms,
/// find the price at which the total demand meets the budget, and each gets the share of its pages above that price.
/// Taken for a time ahead (say a day), the histogram counts the pages that will want a fetch by then, which is steadier
/// than the count of those that want one now.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueHistogram {
    counts: Vec<f64>,
}

impl Default for ValueHistogram {
    fn default() -> Self {
        Self { counts: vec![0.0; Self::BINS] }
    }
}

impl ValueHistogram {
    /// Number of bins, equally wide in ln value over -16..16; the first and the last are open.
    pub const BINS: usize = 256;
    const LN_MIN: f64 = -16.0;
    const BINS_PER_UNIT: f64 = 8.0;

    /// Adds a page. A page without value has no demand.
    pub fn add(&mut self, value: f64) {
        if value > 0.0 {
            // The cast saturates: values out of range land in the open bins.
            let bin = ((value.ln() - Self::LN_MIN) * Self::BINS_PER_UNIT) as usize;
            self.counts[bin.min(Self::BINS - 1)] += 1.0;
        }
    }

    pub fn merge(&mut self, other: &ValueHistogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// Number of pages worth at least this much, assuming an even spread within a bin.
    pub fn at_or_above(&self, value: f64) -> f64 {
        let x = ((value.ln() - Self::LN_MIN) * Self::BINS_PER_UNIT).clamp(0.0, Self::BINS as f64);
        let bin = (x as usize).min(Self::BINS - 1);
        let inside = (1.0 - (x - bin as f64)) * self.counts[bin];
        inside + self.counts[bin + 1..].iter().sum::<f64>()
    }

    /// The value that this many pages reach: zero when there are fewer, infinite for none. Zero also in the lowest bin, which
    /// is open: a price in it could be above all of its pages.
    pub fn price_for(&self, fetches: f64) -> f64 {
        if fetches <= 0.0 || fetches.is_nan() {
            return f64::INFINITY;
        }
        let mut above = 0.0;
        for (bin, &count) in self.counts.iter().enumerate().skip(1).rev() {
            if above + count >= fetches {
                let x = bin as f64 + 1.0 - (fetches - above) / count;
                return (Self::LN_MIN + x / Self::BINS_PER_UNIT).exp();
            }
            above += count;
        }
        0.0
    }

    /// The serialized form: one number per bin.
    pub fn to_bins(&self) -> Vec<f32> {
        self.counts.iter().map(|&count| count as f32).collect()
    }

    /// Reads the serialized form. `None` unless it has [`ValueHistogram::BINS`] finite numbers, none negative.
    pub fn from_bins(bins: &[f32]) -> Option<Self> {
        let sound = bins.len() == Self::BINS && bins.iter().all(|count| *count >= 0.0 && count.is_finite());
        sound.then(|| Self { counts: bins.iter().map(|&count| f64::from(count)).collect() })
    }
}

/// Expected state of all copies at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expectations {
    /// Pages, with or without a copy.
    pub pages: usize,
    /// Expected number of current copies.
    pub fresh_pages: f64,
    /// Pages with a copy.
    pub copies: usize,
    /// Sum over the copies of the expected time since they became stale, zero for current ones.
    pub age_days: f64,
}

impl PageColumns {
    /// Demand by [`Index::CrawlValue`] or [`Index::Uniform`], by the ratio of change rate and weight (C17 of the
    /// algorithm notes). Pages held or gone have none. Under the uniform policy every page counts the same.
    pub fn demand_histogram(&self, policy: &Policy) -> RatioHistogram {
        let mut histogram = RatioHistogram::default();
        for i in 0..self.flags.len() {
            if self.flags[i] & (HELD | EXCLUDED | VACANT) == 0 {
                match policy {
                    Policy::Uniform => histogram.add_uniform(),
                    Policy::Optimal { .. } => {
                        histogram.add(self.pages[i].whole().mean(), f64::from(self.pages[i].weight), 1.0);
                    }
                }
            }
        }
        histogram
    }

    /// Number of pages by value at a time. Pages held or gone are left out.
    pub fn value_histogram(&self, at: Timestamp, index: &Index, outlook: &Outlook) -> ValueHistogram {
        let mut histogram = ValueHistogram::default();
        let wants = |flags: u8| flags & (HELD | EXCLUDED) == 0;
        self.each_value(at, index, outlook, wants, &mut |page| {
            histogram.add(page.value);
        });
        histogram
    }

    /// The pages by change rate and weight, for the freshness of other budgets. Pages that are gone are left out, and those never fetched,
    /// whose weight is that of their novelty.
    pub fn budget_curve(&self) -> BudgetCurve {
        let mut curve = BudgetCurve::default();
        for i in 0..self.flags.len() {
            if self.flags[i] & (VACANT | EXCLUDED | NEVER_FETCHED) == 0 {
                curve.add(self.pages[i].whole().mean(), f64::from(self.pages[i].weight));
            }
        }
        curve
    }

    /// Expected state of all copies now.
    pub fn expectations(&self, now: Timestamp, index: &Index, outlook: &Outlook) -> Expectations {
        let mut sums = Expectations::default();
        for i in 0..self.flags.len() {
            if self.flags[i] & (VACANT | EXCLUDED) != 0 {
                continue;
            }
            sums.pages += 1;
            if self.flags[i] & NEVER_FETCHED != 0 {
                continue;
            }
            if let Some(worth) = self.worth(Slot(i as u32), index, outlook, now) {
                sums.copies += 1;
                sums.fresh_pages += worth.fresh_probability;
                sums.age_days += worth.age_days();
            }
        }
        sums
    }
}

impl super::Worth {
    /// Expected time since the copy became stale, zero while it is current: days - ∫ S. Sweeps are assumed to be spread
    /// evenly over the days since the last look.
    pub fn age_days(&self) -> f64 {
        let plain = self.days - self.plain.fresh_days(self.days);
        if self.trust == 0.0 {
            return plain.max(0.0);
        }
        let hazard = self.own.alpha() * (self.days / self.own.beta_days()).ln_1p() + self.sweep_hazard;
        let fresh_share = if hazard < 1e-6 { 1.0 - hazard / 2.0 } else { -(-hazard).exp_m1() / hazard };
        (self.trust * self.days * (1.0 - fresh_share) + (1.0 - self.trust) * plain).max(0.0)
    }
}
