//! How far estimates of resemblance are from the exact Jaccard coefficient of the 5-word shingles.

use crate::python::Estimate;
use change::{DEFAULT_SHINGLE_WIDTH, ShingleSet, Shingler};
use std::collections::HashSet;

/// Names of the estimates, in the order of [`MagnitudeErrors`].
pub(crate) const ESTIMATES: [&str; 2] =
    ["datasketch's MinHash, k = 128, 1,024 bytes", "the shingles the detector keeps"];

/// Absolute errors over pairs of versions whose text differs.
#[derive(Default)]
pub(crate) struct MagnitudeErrors {
    pub(crate) pairs: usize,
    pub(crate) sums: [f64; ESTIMATES.len()],
    pub(crate) largest: [f64; ESTIMATES.len()],
}

impl MagnitudeErrors {
    pub(crate) fn add(&mut self, old: &str, new: &str) {
        let mut shingler = Shingler::default();
        let mut shingles = |text: &str| shingler.shingles([text], DEFAULT_SHINGLE_WIDTH).to_vec();
        let (old, new) = (shingles(old), shingles(new));
        let exact = jaccard(&old, &new);
        let kept = ShingleSet::from_hashes(&old).resemblance(&ShingleSet::from_hashes(&new));
        self.pairs += 1;
        self.note(1, (kept - exact).abs());
    }

    /// Those of datasketch.
    pub(crate) fn add_theirs(&mut self, estimates: &[Estimate]) {
        estimates.iter().for_each(|estimate| self.note(0, (estimate.resemblance - estimate.exact).abs()));
    }

    fn note(&mut self, index: usize, error: f64) {
        self.sums[index] += error;
        self.largest[index] = self.largest[index].max(error);
    }
}

fn jaccard(old: &[u32], new: &[u32]) -> f64 {
    let (old, new): (HashSet<&u32>, HashSet<&u32>) = (old.iter().collect(), new.iter().collect());
    let common = old.intersection(&new).count();
    let union = old.len() + new.len() - common;
    if union == 0 { 1.0 } else { common as f64 / union as f64 }
}
