//! The value of a site from the links of other sites (Ni et al.; D4 of the algorithm notes).
//!
//! Values start at 0. While site k is crawled, each of its links to another known site adds k's own value to that
//! site's, or 1 while k has none. The rule depends on the order of sites and grows without bound, so values must be
//! reduced. PageRank over the graph of hosts says what it approximates, in any order.
//!
//! Nodes are sites, in the order in which they are crawled. The weight of a link is the number of links between the two
//! sites ([`crate::Repeats::Summed`]).

use crate::graph::Graph;

/// The value of a site in a crawl that goes on, as its logarithm: values grow exponentially with every pass, and so need no
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

    /// A weight in the same order: 1 + ln(1 + value).
    pub fn weight(self) -> f64 {
        // ln(1 + e^x), without overflow.
        1.0 + self.ln.max(0.0) + (-self.ln.abs()).exp().ln_1p()
    }
}

/// Above this a value no longer fits the 16 bits it had in the original.
const LARGEST: u32 = 65_535;

/// One pass over all sites, in their order. When the largest value exceeds 65,535, all values are replaced by their square
/// roots, which keeps their order.
///
/// # Panics
/// When there is not one value per node.
pub fn pass(graph: &Graph, values: &mut [f64]) {
    assert_eq!(values.len(), graph.nodes(), "every site has a value");
    for site in 0..values.len() {
        let own = if values[site] != 0.0 { values[site] } else { 1.0 };
        graph.for_each_link(site, |to, links| values[to] = (values[to] + own * links).min(f64::MAX));
    }
    // Within one pass values can grow far beyond the limit.
    while values.iter().any(|&value| value > f64::from(LARGEST)) {
        values.iter_mut().for_each(|value| *value = value.sqrt());
    }
}

/// One pass as it was published: link by link, in whole numbers, with the square root only of the value that exceeds
/// 65,535. From the first overflow on, the order of sites is lost. Of the links between two sites, 65,535 count.
///
/// # Panics
/// When there is not one value per node.
pub fn pass_as_published(graph: &Graph, values: &mut [u32]) {
    assert_eq!(values.len(), graph.nodes(), "every site has a value");
    for site in 0..values.len() {
        let own = values[site].clamp(1, LARGEST);
        graph.for_each_link(site, |to, links| {
            for _ in 0..links.min(f64::from(LARGEST)) as u32 {
                let value = values[to].saturating_add(own);
                values[to] = if value > LARGEST { value.isqrt() } else { value };
            }
        });
    }
}

/// Values after so many passes from 0, as corrected.
pub fn after_passes(graph: &Graph, passes: u32) -> Vec<f64> {
    let mut values = vec![0.0; graph.nodes()];
    (0..passes).for_each(|_| pass(graph, &mut values));
    values
}
