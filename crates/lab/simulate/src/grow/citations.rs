//! Links between articles: an article cites earlier ones, the fit and the often cited first (Bianconi & Barabási 2001).

use crate::streams::{Draws, Purpose, RandomStream};

/// Tries to find an article that is fit enough, before any is taken.
const MOST_TRIES: usize = 100;

/// By article, in the order of birth: the earlier articles that it cites, at most `citations` of them and each once. A draw goes to
/// an article in proportion to its fitness, uniform in 0 to 1, times one more than its citations so far.
pub(super) fn draw(articles: usize, citations: usize, seed: u64) -> Vec<Vec<usize>> {
    let stream = |article: usize| RandomStream::new(seed, article as u64, Purpose::Importance);
    let fitness: Vec<f64> = (0..articles).map(|article| stream(article).uniform()).collect();
    // Every article once, and once more for each citation.
    let mut ends: Vec<usize> = Vec::with_capacity(articles * (citations + 1));
    let mut cited = Vec::with_capacity(articles);
    for article in 0..articles {
        let mut stream = stream(article).skip(1);
        let mut chosen: Vec<usize> = Vec::with_capacity(citations);
        for _ in 0..citations.min(article) {
            for attempt in 1..=MOST_TRIES {
                let end = ends[(stream.uniform() * ends.len() as f64) as usize];
                let is_fit = stream.uniform() < fitness[end] || attempt == MOST_TRIES;
                if is_fit && !chosen.contains(&end) {
                    chosen.push(end);
                    break;
                }
            }
        }
        ends.push(article);
        ends.extend(&chosen);
        cited.push(chosen);
    }
    cited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_cite_earlier_ones_and_the_fit_gain_most() {
        let cited = draw(4_000, 3, 7);
        assert_eq!(cited, draw(4_000, 3, 7));
        let mut counts = vec![0usize; cited.len()];
        for (article, targets) in cited.iter().enumerate() {
            assert!(targets.iter().all(|target| *target < article) && targets.len() <= 3);
            targets.iter().for_each(|target| counts[*target] += 1);
        }
        assert!(cited[100..].iter().map(Vec::len).sum::<usize>() > 3 * 3_800, "few articles find nobody to cite");
        let fitness = |article: &usize| RandomStream::new(7, *article as u64, Purpose::Importance).uniform();
        let mean = |fit: bool| {
            let of: Vec<usize> = (500..1_500).filter(|article| (fitness(article) > 0.5) == fit).collect();
            of.iter().map(|article| counts[*article]).sum::<usize>() as f64 / of.len() as f64
        };
        assert!(mean(true) > 2.0 * mean(false), "{} {}", mean(true), mean(false));
    }
}
