//! The value of a site from the links of other sites (Ni et al.; D4 of the algorithm notes), in passes over all sites.
//!
//! The rule depends on the order of sites and grows without bound, so values must be reduced
//! ([`importance::link_value`] keeps logarithms instead). PageRank over the graph of hosts says what it approximates, in any
//! order.
//!
//! Nodes are sites, in the order in which they are crawled. The weight of a link is the number of links between the two
//! sites ([`super::Repeats::Summed`]).

use super::graph::Graph;

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

/// Values after this number of passes. All values begin at 0.
pub fn after_passes(graph: &Graph, passes: u32) -> Vec<f64> {
    let mut values = vec![0.0; graph.nodes()];
    (0..passes).for_each(|_| pass(graph, &mut values));
    values
}

/// Values after this number of passes as they were published ([`pass_as_published`]). All values begin at 0.
pub fn after_passes_as_published(graph: &Graph, passes: u32) -> Vec<u32> {
    let mut values = vec![0; graph.nodes()];
    (0..passes).for_each(|_| pass_as_published(graph, &mut values));
    values
}
