//! The value of a site from the links of other sites (Ni et al.; D4 of the algorithm notes).
//!
//! Values start at 0. While site k is crawled, each of its links to another known site adds k's own value to that
//! site's, or 1 while k has none.

/// The value of a site, as its logarithm: values grow exponentially with every pass, and so need no
/// reduction, which would have to happen on all shards at once. The order of sites is that of the published rule.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LinkValue {
    /// Natural logarithm; negative infinity while the value is 0.
    ln: f64,
}

impl LinkValue {
    /// The value of a site that no other has linked to.
    pub const ZERO: LinkValue = LinkValue { ln: f64::NEG_INFINITY };

    /// The value with this natural logarithm. What is no number counts as 0.
    pub fn from_ln(ln: f64) -> Self {
        if ln.is_nan() { Self::ZERO } else { Self { ln: ln.min(f64::MAX) } }
    }

    pub fn ln(self) -> f64 {
        self.ln
    }

    /// The value that a link of the site gives: the site's value, or 1 while it has none.
    pub fn given(self) -> Self {
        if self == Self::ZERO { Self { ln: 0.0 } } else { self }
    }

    /// Adds the value that a site gives with each of its links, for this number of links.
    pub fn receive(&mut self, given: LinkValue, links: usize) {
        let more = given.ln + (links as f64).ln();
        let (low, high) = if more < self.ln { (more, self.ln) } else { (self.ln, more) };
        if high > f64::NEG_INFINITY {
            self.ln = high + (low - high).exp().ln_1p();
        }
    }

    /// A weight in the same order: 1 + ln(1 + value / reference), with the logarithm of a reference that grows as all values do.
    /// Without one, the differences between sites would drown in what all have gained.
    pub fn weight(self, reference_ln: f64) -> f64 {
        let ln = self.ln - reference_ln;
        // ln(1 + e^x), without overflow.
        1.0 + ln.max(0.0) + (-ln.abs()).exp().ln_1p()
    }
}
