//! One comparison, and whether it holds.

use serde::Serialize;

/// Allowed difference of a measured number, in standard errors.
const STANDARD_ERRORS: f64 = 3.0;

/// The setting of a row, in the fields that all simulation results share; `None` where a field does not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Setting {
    /// Name of the policy in the catalogue.
    pub policy: Option<&'static str>,
    /// Name of the estimator in the catalogue; `known` where true rates are given.
    pub estimator: Option<&'static str>,
    /// Budget of the run, as an average over all pages.
    pub budget_fetches_per_page_per_day: Option<f64>,
    /// Share of the time that a copy is current, mean over pages.
    pub freshness: Option<f64>,
    /// The same, pages weighted by importance.
    pub weighted_freshness: Option<f64>,
    /// Days since the first unseen change, mean over time and pages.
    pub age_days: Option<f64>,
    /// Fetches simulated, all seeds together.
    pub fetches: Option<u64>,
    pub seeds: Option<u64>,
}

/// A number of a publication or of the algorithm notes, and ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReproductionRow {
    /// The reproduction it belongs to.
    pub id: &'static str,
    /// Name of the computed number.
    pub what: String,
    /// The published figure as printed; `None` for measurements of the algorithm notes.
    pub published: Option<&'static str>,
    /// The number to compare with.
    pub reference: f64,
    /// The number computed here.
    pub ours: f64,
    /// Ours over the reference; `None` for a reference of zero.
    pub ratio: Option<f64>,
    /// Standard error of the difference of the two; zero for deterministic numbers.
    pub standard_error: f64,
    /// Allowed difference in addition to three standard errors, from the digits printed. `None` where only the order of
    /// the rows counts.
    pub tolerance: Option<f64>,
    /// Whether they agree.
    pub within: bool,
    /// Policy, estimator, budget and scores of the run.
    #[serde(flatten)]
    pub setting: Setting,
}

impl ReproductionRow {
    /// A number that follows from a formula.
    pub(super) fn exact(id: &'static str, what: impl Into<String>, reference: f64, ours: f64, tolerance: f64) -> Self {
        Self::measured(id, what, reference, ours, 0.0, tolerance)
    }

    /// A number that depends on chance.
    pub(super) fn measured(
        id: &'static str,
        what: impl Into<String>,
        reference: f64,
        ours: f64,
        standard_error: f64,
        tolerance: f64,
    ) -> Self {
        // NaN agrees with nothing.
        let within = (ours - reference).abs() <= tolerance + STANDARD_ERRORS * standard_error;
        Self {
            id,
            what: what.into(),
            published: None,
            reference,
            ours,
            ratio: ratio(ours, reference),
            standard_error,
            tolerance: Some(tolerance),
            within,
            setting: Setting::default(),
        }
    }

    /// The mean of a sample, for a reference measured on `reference_replicates` of the same kind.
    pub(super) fn sampled(
        id: &'static str,
        what: impl Into<String>,
        reference: f64,
        sample: &Measurements,
        reference_replicates: usize,
        tolerance: f64,
    ) -> Self {
        let standard_error = sample.standard_error_of_difference(reference_replicates);
        Self::measured(id, what, reference, sample.mean(), standard_error, tolerance).seeds(sample.count() as u64)
    }

    /// Sets the figure as it was printed.
    pub(super) fn published(self, printed: &'static str) -> Self {
        Self { published: Some(printed), ..self }
    }

    pub(super) fn policy(mut self, name: &'static str) -> Self {
        self.setting.policy = Some(name);
        self
    }

    pub(super) fn estimator(mut self, name: &'static str) -> Self {
        self.setting.estimator = Some(name);
        self
    }

    pub(super) fn budget(mut self, fetches_per_page_per_day: f64) -> Self {
        self.setting.budget_fetches_per_page_per_day = Some(fetches_per_page_per_day);
        self
    }

    /// Marks ours as a freshness, mean over pages.
    pub(super) fn giving_freshness(mut self) -> Self {
        self.setting.freshness = Some(self.ours);
        self
    }

    /// Marks ours as a freshness, pages weighted by importance.
    pub(super) fn giving_weighted_freshness(self) -> Self {
        let ours = self.ours;
        self.weighted_freshness(ours)
    }

    /// Sets the freshness reached, pages weighted by importance, whatever ours measures.
    pub(super) fn weighted_freshness(mut self, weighted_freshness: f64) -> Self {
        self.setting.weighted_freshness = Some(weighted_freshness);
        self
    }

    /// Marks ours as an age in days.
    pub(super) fn giving_age(mut self) -> Self {
        self.setting.age_days = Some(self.ours);
        self
    }

    pub(super) fn fetches(mut self, fetches: u64) -> Self {
        self.setting.fetches = Some(fetches);
        self
    }

    pub(super) fn seeds(mut self, seeds: u64) -> Self {
        self.setting.seeds = Some(seeds);
        self
    }
}

fn ratio(ours: f64, reference: f64) -> Option<f64> {
    (reference != 0.0).then_some(ours / reference)
}

/// Rows of which only the order counts: `ours` must rise as `reference` does.
pub(super) fn in_order(id: &'static str, rows: &[(&str, &'static str, f64, f64)]) -> Vec<ReproductionRow> {
    let mut order: Vec<&(&str, &'static str, f64, f64)> = rows.iter().collect();
    order.sort_by(|a, b| a.2.total_cmp(&b.2));
    let within = order.windows(2).all(|pair| pair[0].3 < pair[1].3);
    let row = |&(what, printed, reference, ours): &(&str, &'static str, f64, f64)| ReproductionRow {
        id,
        what: what.to_owned(),
        published: Some(printed),
        reference,
        ours,
        ratio: ratio(ours, reference),
        standard_error: 0.0,
        tolerance: None,
        within,
        setting: Setting::default(),
    };
    rows.iter().map(row).collect()
}

/// Independent measurements of one number.
#[derive(Clone, Debug, Default)]
pub(super) struct Measurements {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Measurements {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Standard deviation of one measurement; NaN for a single one.
    pub(super) fn deviation(&self) -> f64 {
        let mean = self.mean();
        ((self.squares / self.count - mean * mean).max(0.0) * self.count / (self.count - 1.0)).sqrt()
    }

    /// Standard error of the difference to the mean of this many other measurements.
    pub(super) fn standard_error_of_difference(&self, others: usize) -> f64 {
        self.deviation() * (1.0 / self.count + 1.0 / others as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_off_by_its_digits_and_three_standard_errors() {
        let within = |ours| ReproductionRow::measured("X", "", 1.0, ours, 0.1, 0.05).within;
        assert!(within(1.34) && within(0.66));
        assert!(!within(1.36) && !within(0.64) && !within(f64::NAN));
    }

    #[test]
    fn a_row_has_every_field_of_a_simulation_and_null_where_it_means_nothing() {
        let row = ReproductionRow::exact("X", "freshness", 0.5, 0.25, 0.1)
            .policy("uniform")
            .budget(0.1)
            .giving_weighted_freshness();
        let json = serde_json::to_value(row).expect("plain numbers");
        let expected = serde_json::json!({
            "id": "X", "what": "freshness", "published": null, "reference": 0.5, "ours": 0.25, "ratio": 0.5,
            "standard_error": 0.0, "tolerance": 0.1, "within": false, "policy": "uniform", "estimator": null,
            "budget_fetches_per_page_per_day": 0.1, "freshness": null, "weighted_freshness": 0.25, "age_days": null,
            "fetches": null, "seeds": null,
        });
        assert_eq!(json, expected);
        assert_eq!(ReproductionRow::exact("X", "", 0.0, 1.0, 0.1).ratio, None);
    }

    #[test]
    fn rows_in_another_order_fail() {
        assert!(in_order("X", &[("a", "", 2.0, 5.0), ("b", "", 1.0, 4.0)]).iter().all(|row| row.within));
        assert!(in_order("X", &[("a", "", 2.0, 5.0), ("b", "", 1.0, 6.0)]).iter().all(|row| !row.within));
    }

    #[test]
    fn samples_know_their_spread() {
        let mut sample = Measurements::default();
        [1.0, 2.0, 3.0].into_iter().for_each(|value| sample.add(value));
        assert!((sample.mean() - 2.0).abs() < 1e-12 && (sample.deviation() - 1.0).abs() < 1e-12);
        assert!((sample.standard_error_of_difference(6) - 0.5f64.sqrt()).abs() < 1e-12);
    }
}
