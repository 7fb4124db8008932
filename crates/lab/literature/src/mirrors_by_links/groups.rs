//! Groups built from pairs (union-find).

/// Disjoint sets of the numbers 0 to n − 1 (Tarjan 1975, with path halving). At first each number is a set of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisjointSets {
    /// A smaller member of the same set; for the smallest one the number itself. So a root is the smallest member of
    /// its set, whatever the order of the pairs.
    parents: Vec<usize>,
}

impl DisjointSets {
    /// The numbers below `count`, each in a set of its own.
    pub fn new(count: usize) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// The smallest member of the set of `member`. Panics unless `member` is below the count.
    pub fn root(&mut self, mut member: usize) -> usize {
        while self.parents[member] != member {
            self.parents[member] = self.parents[self.parents[member]];
            member = self.parents[member];
        }
        member
    }

    /// Merges the sets of two numbers.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }

    /// Whether two numbers are in one set.
    pub fn are_joined(&mut self, a: usize, b: usize) -> bool {
        self.root(a) == self.root(b)
    }

    /// The sets of two or more numbers, each ascending, ordered by smallest member.
    pub fn members(&mut self) -> Vec<Vec<usize>> {
        let mut by_root = vec![Vec::new(); self.parents.len()];
        for member in 0..self.parents.len() {
            let root = self.root(member);
            by_root[root].push(member);
        }
        by_root.retain(|members| members.len() > 1);
        by_root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pairs_make_groups() {
        let mut groups = DisjointSets::new(7);
        for (a, b) in [(5, 1), (2, 6), (1, 3)] {
            groups.join(a, b);
        }
        assert_eq!(groups.members(), [vec![1, 3, 5], vec![2, 6]]);
        assert!(groups.are_joined(5, 3) && !groups.are_joined(5, 2));
    }

    proptest! {
        #[test]
        fn the_order_of_pairs_does_not_matter(mut pairs in proptest::collection::vec((0usize..20, 0usize..20), 0..20)) {
            let joined = |pairs: &[(usize, usize)]| {
                let mut groups = DisjointSets::new(20);
                pairs.iter().for_each(|&(a, b)| groups.join(a, b));
                groups.members()
            };
            let forwards = joined(&pairs);
            pairs.reverse();
            prop_assert_eq!(joined(&pairs), forwards);
        }
    }
}
