//! Mirrors share one stream of fetches (Section E7): one page is kept fresh for all of them, the others are looked at now
//! and then, to notice when they go their own way.

use std::cmp::{Ordering, Reverse};

/// How often a mirror is looked at, beside the page that is kept fresh for it.
pub const PROBE_RATE_SHARE: f64 = 0.1;

/// A page of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirror<'u> {
    /// Its address.
    pub url: &'u str,
    /// Its importance; what is not positive counts as nothing.
    pub weight: f64,
}

/// What to do with a page of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RefreshRole {
    /// Keep it fresh, with the weight of all.
    Canonical {
        /// The sum of the group's weights.
        weight: f64,
    },
    /// Fetch it so many times for each fetch of the canonical page.
    Probe {
        /// [`PROBE_RATE_SHARE`].
        rate_share: f64,
    },
}

/// The page that stands for the others: the one of the highest weight; among equals https before http, then the shortest
/// address, then the first by bytes. Nothing for an empty group.
pub fn canonical(group: &[Mirror<'_>]) -> Option<usize> {
    (0..group.len()).min_by(|&a, &b| precedence(&group[a], &group[b]).then(a.cmp(&b)))
}

fn precedence(a: &Mirror<'_>, b: &Mirror<'_>) -> Ordering {
    let by_address = |mirror: &Mirror<'_>| (Reverse(mirror.url.starts_with("https:")), mirror.url.len());
    counted(b).total_cmp(&counted(a)).then_with(|| by_address(a).cmp(&by_address(b))).then_with(|| a.url.cmp(b.url))
}

fn counted(mirror: &Mirror<'_>) -> f64 {
    // Also for a weight that is no number; never a negative zero, which would rank below zero.
    if mirror.weight > 0.0 { mirror.weight } else { 0.0 }
}

/// The role of each page of a group, in the same order.
pub fn refresh_roles(group: &[Mirror<'_>]) -> Vec<RefreshRole> {
    let canonical = canonical(group);
    let weight = group.iter().map(counted).sum();
    let role = |index| match canonical == Some(index) {
        true => RefreshRole::Canonical { weight },
        false => RefreshRole::Probe { rate_share: PROBE_RATE_SHARE },
    };
    (0..group.len()).map(role).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weight_comes_first_then_https_then_brevity_then_bytes() {
        let check = |group: &[(&str, f64)], expected: &str| {
            let group: Vec<Mirror<'_>> = group.iter().map(|&(url, weight)| Mirror { url, weight }).collect();
            assert_eq!(group[canonical(&group).unwrap()].url, expected);
        };
        check(&[("https://a/", 1.0), ("http://b/long", 2.0)], "http://b/long");
        check(&[("http://a/", 1.0), ("https://b/long", 1.0)], "https://b/long");
        check(&[("http://a/index.html", 1.0), ("http://b/", 1.0)], "http://b/");
        check(&[("http://b/", -0.0), ("http://a/", f64::NAN)], "http://a/");
        assert_eq!((canonical(&[]), refresh_roles(&[])), (None, vec![]));
    }

    #[test]
    fn the_canonical_page_carries_the_weight_of_all() {
        let group = [("http://a/", 1.0), ("http://b/", 2.5), ("http://c/", 0.5)];
        let roles = refresh_roles(&group.map(|(url, weight)| Mirror { url, weight }));
        let probe = RefreshRole::Probe { rate_share: 0.1 };
        assert_eq!(roles, [probe, RefreshRole::Canonical { weight: 4.0 }, probe]);
    }

    proptest! {
        #[test]
        fn the_choice_does_not_depend_on_the_order(group in proptest::collection::btree_map("https?://[ab]{1,3}", 0u8..3, 1..6)) {
            let mut group: Vec<Mirror<'_>> =
                group.iter().map(|(url, &weight)| Mirror { url, weight: weight.into() }).collect();
            let chosen = group[canonical(&group).unwrap()];
            group.reverse();
            prop_assert_eq!(group[canonical(&group).unwrap()], chosen);
            prop_assert!(group.iter().all(|other| other.weight <= chosen.weight));
        }
    }
}
