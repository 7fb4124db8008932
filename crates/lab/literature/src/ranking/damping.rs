//! The damping factor of PageRank.

use thiserror::Error;

/// Probability d that a reader follows a link, at least 0 and below 1. With probability 1 − d the reader jumps to any
/// page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damping(f64);

/// A damping factor below 0, or not below 1.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("a damping factor of {0} is not possible; it is at least 0 and below 1")]
pub struct DampingOutOfRange(pub f64);

impl Damping {
    pub fn new(probability: f64) -> Result<Self, DampingOutOfRange> {
        if (0.0..1.0).contains(&probability) { Ok(Self(probability)) } else { Err(DampingOutOfRange(probability)) }
    }

    /// The probability that a link is followed.
    pub fn follow(self) -> f64 {
        self.0
    }

    /// The probability of a jump.
    pub fn jump(self) -> f64 {
        1.0 - self.0
    }
}

impl Default for Damping {
    /// .85, the value in common use.
    fn default() -> Self {
        Self(0.85)
    }
}
