//! The result of an iteration.

/// Scores of all nodes, and how far the iteration that found them had settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// One per node.
    pub values: Vec<f64>,
    pub rounds: u32,
    /// Summed absolute change of the last round.
    pub change: f64,
    /// Whether the change fell below the tolerance before the rounds ran out.
    pub settled: bool,
}

/// When an iteration stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StopRule {
    /// Below this summed absolute change.
    pub(crate) tolerance: f64,
    /// After this many rounds.
    pub(crate) most_rounds: u32,
}

impl StopRule {
    /// Repeats `round`, which improves the values and returns their summed absolute change.
    pub(crate) fn iterate(self, mut values: Vec<f64>, mut round: impl FnMut(&mut Vec<f64>) -> f64) -> Scores {
        let (mut rounds, mut change) = (0, f64::INFINITY);
        while rounds < self.most_rounds && change >= self.tolerance {
            change = round(&mut values);
            rounds += 1;
        }
        Scores { values, rounds, change, settled: change < self.tolerance }
    }
}
