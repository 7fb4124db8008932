//! One comparison, and whether it holds.

use serde::Serialize;

/// How many standard errors a measured number may be off.
const STANDARD_ERRORS: f64 = 3.0;

/// A number of a publication or of the algorithm notes, and ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The reproduction it belongs to.
    pub id: &'static str,
    /// What was computed.
    pub what: String,
    /// What was published, as it was printed; `None` for measurements of the algorithm notes.
    pub published: Option<&'static str>,
    /// The number to compare with.
    pub reference: f64,
    /// Ours.
    pub ours: f64,
    /// Standard error of the difference of the two; zero where nothing is left to chance.
    pub standard_error: f64,
    /// How far apart the two may be beside three standard errors: the digits printed. `None` where only the order of
    /// the rows counts.
    pub tolerance: Option<f64>,
    /// Whether they agree.
    pub ok: bool,
}

impl Row {
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
        // A number that is none agrees with nothing.
        let ok = (ours - reference).abs() <= tolerance + STANDARD_ERRORS * standard_error;
        Self { id, what: what.into(), published: None, reference, ours, standard_error, tolerance: Some(tolerance), ok }
    }

    /// The mean of a sample, for a reference measured on `reference_replicates` of the same kind.
    pub(super) fn sampled(
        id: &'static str,
        what: impl Into<String>,
        reference: f64,
        sample: &Sample,
        reference_replicates: usize,
        tolerance: f64,
    ) -> Self {
        let standard_error = sample.standard_error_of_difference(reference_replicates);
        Self::measured(id, what, reference, sample.mean(), standard_error, tolerance)
    }

    /// The same row with the figure as it was printed.
    pub(super) fn published(self, printed: &'static str) -> Self {
        Self { published: Some(printed), ..self }
    }
}

/// Rows of which only the order counts: `ours` must rise as `reference` does.
pub(super) fn in_order(id: &'static str, rows: &[(&str, &'static str, f64, f64)]) -> Vec<Row> {
    let mut order: Vec<&(&str, &'static str, f64, f64)> = rows.iter().collect();
    order.sort_by(|a, b| a.2.total_cmp(&b.2));
    let ok = order.windows(2).all(|pair| pair[0].3 < pair[1].3);
    let row = |&(what, printed, reference, ours): &(&str, &'static str, f64, f64)| Row {
        id,
        what: what.to_owned(),
        published: Some(printed),
        reference,
        ours,
        standard_error: 0.0,
        tolerance: None,
        ok,
    };
    rows.iter().map(row).collect()
}

/// Independent measurements of one number.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sample {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Standard deviation of one measurement; no number where there is only one.
    pub(super) fn deviation(&self) -> f64 {
        let mean = self.mean();
        ((self.squares / self.count - mean * mean).max(0.0) * self.count / (self.count - 1.0)).sqrt()
    }

    /// Standard error of the mean less another mean over so many measurements.
    pub(super) fn standard_error_of_difference(&self, others: usize) -> f64 {
        self.deviation() * (1.0 / self.count + 1.0 / others as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_off_by_its_digits_and_three_standard_errors() {
        let ok = |ours| Row::measured("X", "", 1.0, ours, 0.1, 0.05).ok;
        assert!(ok(1.34) && ok(0.66));
        assert!(!ok(1.36) && !ok(0.64) && !ok(f64::NAN));
    }

    #[test]
    fn rows_in_another_order_fail() {
        assert!(in_order("X", &[("a", "", 2.0, 5.0), ("b", "", 1.0, 4.0)]).iter().all(|row| row.ok));
        assert!(in_order("X", &[("a", "", 2.0, 5.0), ("b", "", 1.0, 6.0)]).iter().all(|row| !row.ok));
    }

    #[test]
    fn samples_know_their_spread() {
        let mut sample = Sample::default();
        [1.0, 2.0, 3.0].into_iter().for_each(|value| sample.add(value));
        assert!((sample.mean() - 2.0).abs() < 1e-12 && (sample.deviation() - 1.0).abs() < 1e-12);
        assert!((sample.standard_error_of_difference(6) - 0.5f64.sqrt()).abs() < 1e-12);
    }
}
