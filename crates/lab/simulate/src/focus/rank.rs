//! Plain PageRank and IPageRank, by iteration, for the orders that are compared.

const DAMPING: f64 = 0.85;
const ROUNDS: usize = 30;

/// `p(v) = (1 − d)/N + d (Σ p(u) w(u→v) / Σ w(u→·) + dangling/N)`. Weights of 1 give PageRank, RW gives IPageRank. A page
/// whose links all weigh 0 is dangling.
fn rank(links: &[Vec<(usize, f64)>], rounds: usize) -> Vec<f64> {
    let pages = links.len() as f64;
    let sums: Vec<f64> = links.iter().map(|links| links.iter().map(|(_, weight)| weight).sum()).collect();
    let mut ranks = vec![1.0 / pages; links.len()];
    for _ in 0..rounds {
        let dangling: f64 = (ranks.iter().zip(&sums)).filter(|(_, sum)| **sum == 0.0).map(|(rank, _)| rank).sum();
        let mut next = vec![(1.0 - DAMPING + DAMPING * dangling) / pages; links.len()];
        for ((links, sum), rank) in links.iter().zip(&sums).zip(&ranks).filter(|((_, sum), _)| **sum > 0.0) {
            for (to, weight) in links {
                next[*to] += DAMPING * rank * weight / sum;
            }
        }
        ranks = next;
    }
    ranks
}

/// As [`rank`], exact enough for an order.
pub(super) fn rank_roughly(links: &[Vec<(usize, f64)>]) -> Vec<f64> {
    rank(links, ROUNDS)
}

/// Section D5 of the specification: recrawl's order is compared with the published one.
#[cfg(test)]
#[test]
fn the_reference_values_of_ipagerank_are_met() {
    let links = [vec![(1, 0.9), (2, 0.0)], vec![(2, 0.6)], vec![(0, 0.8)], vec![(0, 0.5), (2, 0.7), (4, 0.2)], vec![]];
    let expected = [0.310971243522, 0.301392011852, 0.309002908248, 0.037066454858, 0.041567381520];
    for (rank, expected) in rank(&links, 200).iter().zip(expected) {
        assert!((rank / expected - 1.0).abs() < 1e-9, "{rank} {expected}");
    }
}
