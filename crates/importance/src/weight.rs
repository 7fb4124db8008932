//! The weight of a page in a crawl, from its score.
//!
//! weight = (score / mean score) ^ .7
//!
//! Scores of links are spread over many powers of ten, so they are no weights as they are: a page with 10,000 times the mean
//! would be worth 10,000 fetches of others. The exponent flattens them. Two bounds do the rest. A score above
//! `largest` times the mean counts as so much, also in the mean, so that one giant does not make all other pages small. And
//! no weight is below `least`, so that a page without links to it is looked at now and then.

use thiserror::Error;

/// How scores become weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightMap {
    exponent: f64,
    largest: f64,
    least: f64,
}

/// Invalid parameters of a map.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum WeightMapError {
    #[error("an exponent of {0} is not possible; it is from 0 (all pages alike) to 1 (weights are scores)")]
    Exponent(f64),
    #[error("a largest score of {0} times the mean is not possible; it is above 1")]
    Largest(f64),
    #[error("a least weight of {0} is not possible; it is from 0 to 1")]
    Least(f64),
}

impl Default for WeightMap {
    /// Exponent .7, scores up to 1,000 times the mean, weights of at least .05: from .05 to 126.
    fn default() -> Self {
        Self { exponent: 0.7, largest: 1_000.0, least: 0.05 }
    }
}

impl WeightMap {
    pub fn new(exponent: f64, largest: f64, least: f64) -> Result<Self, WeightMapError> {
        if !(0.0..=1.0).contains(&exponent) {
            return Err(WeightMapError::Exponent(exponent));
        }
        if !(largest > 1.0 && largest.is_finite()) {
            return Err(WeightMapError::Largest(largest));
        }
        if !(0.0..=1.0).contains(&least) {
            return Err(WeightMapError::Least(least));
        }
        Ok(Self { exponent, largest, least })
    }

    /// The weight of a page with this score among pages with this mean. Where scores or their mean are not known or make no
    /// sense, it is 1, or the least for a score of 0 or below.
    pub fn weight(&self, score: f64, mean: f64) -> f64 {
        if score <= 0.0 {
            return self.least;
        }
        if !(mean > 0.0 && mean.is_finite()) || score.is_nan() {
            return 1.0;
        }
        (score / mean).min(self.largest).powf(self.exponent).max(self.least)
    }

    /// The mean m of scores in which every score counts as `largest` · m at most.
    pub fn bounded_mean(&self, scores: &[f64]) -> f64 {
        let counts = |score: &f64| if *score > 0.0 && score.is_finite() { *score } else { 0.0 };
        let mean = |most: f64| scores.iter().map(|score| counts(score).min(most)).sum::<f64>() / scores.len() as f64;
        let mut bounded = mean(f64::INFINITY);
        // Falls in every step, and the number of scores above the bound rises; a few steps do.
        for _ in 0..100 {
            let next = mean(self.largest * bounded);
            if next >= bounded * (1.0 - 1e-12) {
                break;
            }
            bounded = next;
        }
        bounded
    }

    pub fn weights(&self, scores: &[f64]) -> Vec<f64> {
        let mean = self.bounded_mean(scores);
        scores.iter().map(|score| self.weight(*score, mean)).collect()
    }
}
