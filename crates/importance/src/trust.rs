//! The part of a score that trust does not explain (Gyongyi et al. 2004, 2006; D6 of the algorithm notes).
//!
//! Trust is PageRank whose jumps end at trusted pages only. The *spam mass* of a page is the part of its PageRank that it
//! does not owe to trusted pages: (p − p′)/p, with p′ its trust. It is negative for pages near the trusted ones.

/// Relative spam mass of a page. `good_share` is the share of pages that are believed to be good: the trust vector is a
/// PageRank of that much mass. 1 takes it as it is.
pub fn spam_mass(pagerank: f64, trust: f64, good_share: f64) -> f64 {
    if pagerank > 0.0 { (pagerank - good_share * trust) / pagerank } else { 0.0 }
}

/// The weight of a page with this spam mass: at most as it was, and at least a tenth of that or of an ordinary page's weight,
/// whichever is less. As published, a tenth always remains, so a farm that lifts a page to a weight of 126 keeps 12.6 of it.
pub fn trusted_weight(weight: f64, spam_mass: f64) -> f64 {
    (weight * (1.0 - spam_mass).max(0.0) + 0.1 * weight.min(1.0)).min(weight)
}
