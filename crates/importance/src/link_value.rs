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

    /// A weight in the same order, by the distance d in logarithms from a reference that grows as all values do: 1 + d above it, and
    /// (1 + 1 / (1 - d)) / 2 below, down to 1/2 for no value. Without a reference, the differences between sites would drown in
    /// what all have gained. The distances grow as well, as sites without links from others gain least, so no function that
    /// flattens out would keep the order.
    pub fn weight(self, reference_ln: f64) -> f64 {
        let distance = self.ln - reference_ln;
        if distance >= 0.0 { 1.0 + distance } else { 0.5 + 0.5 / (1.0 - distance) }
    }
}
