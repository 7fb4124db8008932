//! Estimators against values computed elsewhere.

mod gamma;
mod irregular;

use change_rate::LookOutcome;

const LOOKS: [(f64, LookOutcome); 6] = [
    (1.0, LookOutcome::Changed),
    (3.0, LookOutcome::Unchanged),
    (2.5, LookOutcome::Changed),
    (1.2, LookOutcome::Unchanged),
    (0.7, LookOutcome::Changed),
    (4.0, LookOutcome::Unchanged),
];

fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance * expected.abs(), "got {got}, expected {expected}");
}
