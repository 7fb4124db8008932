//! The value of a site from the links of other sites (Ni et al.; D4 of the algorithm notes).
//!
//! Values start at 0. While site k is crawled, each of its links to another known site adds k's own value to that
//! site's, or 1 while k has none. The rule depends on the order of sites and grows without bound, so values must be
//! reduced.

/// Above this a value no longer fits the 16 bits it had in the original.
const LARGEST: u32 = 65_535;

/// One pass over all sites, in their order. `links[k]` are the sites that k links to, once per link; links to k itself
/// and to unknown sites are ignored. When the largest value exceeds 65,535, all values are replaced by their square
/// roots, which keeps their order.
///
/// # Panics
/// When `links` and `values` differ in length.
pub fn pass(links: &[Vec<usize>], values: &mut [f64]) {
    each_link(links, values.len(), |from, to| values[to] += if values[from] != 0.0 { values[from] } else { 1.0 });
    if values.iter().any(|&value| value > f64::from(LARGEST)) {
        values.iter_mut().for_each(|value| *value = value.sqrt());
    }
}

/// One pass as it was published: in whole numbers, with the square root only of the value that exceeds 65,535. From the
/// first overflow on, the order of sites is lost.
///
/// # Panics
/// When `links` and `values` differ in length.
pub fn pass_as_published(links: &[Vec<usize>], values: &mut [u32]) {
    each_link(links, values.len(), |from, to| {
        let value = values[to] + values[from].max(1);
        values[to] = if value > LARGEST { value.isqrt() } else { value };
    });
}

fn each_link(links: &[Vec<usize>], sites: usize, mut visitor: impl FnMut(usize, usize)) {
    assert_eq!(links.len(), sites, "every site has a value and a list of links");
    for (from, targets) in links.iter().enumerate() {
        targets.iter().filter(|&&to| to != from && to < sites).for_each(|&to| visitor(from, to));
    }
}
