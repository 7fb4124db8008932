//! Which hosts are mirrors of each other: how many pages of one have a mirror on the other.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Two hosts that have mirrors of each other's pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPair {
    /// The two hosts, in order of name.
    pub hosts: [String; 2],
    /// Pages of the first that have a mirror on the second, and the other way round.
    pub mirrored: [usize; 2],
    /// Pages of each host among those given.
    pub pages: [usize; 2],
}

/// The authority of an address.
pub(crate) fn host_of(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
    behind.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The pairs of hosts in the groups, those with the most mirrored pages first.
pub(crate) fn host_pairs<'u>(urls: impl Iterator<Item = &'u String>, groups: &[Vec<String>]) -> Vec<HostPair> {
    let mut pages: BTreeMap<&str, usize> = BTreeMap::new();
    urls.for_each(|url| *pages.entry(host_of(url)).or_default() += 1);
    let mut mirrored: BTreeMap<[&str; 2], [usize; 2]> = BTreeMap::new();
    for group in groups {
        let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
        group.iter().for_each(|url| *hosts.entry(host_of(url)).or_default() += 1);
        for (first, ours) in &hosts {
            for (second, theirs) in hosts.range(*first..).skip(1) {
                let counts = mirrored.entry([first, second]).or_default();
                *counts = [counts[0] + ours, counts[1] + theirs];
            }
        }
    }
    let pair = |(hosts, mirrored): ([&str; 2], [usize; 2])| HostPair {
        hosts: hosts.map(str::to_owned),
        mirrored,
        pages: hosts.map(|host| pages.get(host).copied().unwrap_or_default()),
    };
    let mut pairs: Vec<HostPair> = mirrored.into_iter().map(pair).collect();
    // Stable, so that equals stay in order of name.
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.mirrored[0] + pair.mirrored[1]));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_with_a_mirror_on_the_other_host_are_counted() {
        let groups: Vec<Vec<String>> = [
            vec!["http://a/1", "http://b:80/1", "http://b:80/one"],
            vec!["http://a/2", "http://b:80/2"],
            vec!["http://a/3", "http://a/three"],
            vec!["https://c?x", "http://a/4"],
        ]
        .into_iter()
        .map(|group| group.into_iter().map(str::to_owned).collect())
        .collect();
        let others: Vec<String> = vec!["http://b:80/9".to_owned(), "http://d/".to_owned()];
        let pairs = host_pairs(groups.iter().flatten().chain(&others), &groups);
        let pair = |hosts: [&str; 2], mirrored, pages| HostPair { hosts: hosts.map(str::to_owned), mirrored, pages };
        assert_eq!(pairs, [pair(["a", "b:80"], [2, 3], [5, 4]), pair(["a", "c"], [1, 1], [5, 1])]);
    }
}
