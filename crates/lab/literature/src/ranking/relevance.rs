//! Weights of links for a crawl that looks for a topic (seed 001, D5 of the algorithm notes).

/// The weight RW of a link for [`super::pagerank`]: the largest similarity to the topic of any of the words around the link
/// (anchor text, neighbouring words, address, title), if it reaches the threshold, and 0 otherwise. The paper uses .35.
pub fn link_weight(similarities: impl IntoIterator<Item = f64>, threshold: f64) -> f64 {
    let largest = similarities.into_iter().fold(0.0, f64::max);
    if largest >= threshold { largest } else { 0.0 }
}
