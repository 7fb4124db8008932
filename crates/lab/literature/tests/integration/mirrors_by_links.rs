//! A hundred thousand pages, made from a seed: what banding finds and what it costs, beside the degree bound and beside
//! an exact search that uses neither.

use chance::{splitmix64, unit};
use literature::mirrors_by_links::{Banding, DegreeHistogram, Finding, LinkSet, Threshold, banded, degree_bound};
use std::collections::HashMap;

const PAGES_PER_SITE: usize = 200;

/// Uniform in [0, 1).
fn share(state: &mut u64) -> f64 {
    *state = splitmix64(*state);
    unit(*state)
}

/// Sites of 200 pages that share a menu, up to 85 % of a page's links, so that many pages nearly resemble each other.
/// Degrees follow a power law from 10 to 150. One page in sixteen copies an earlier one, with up to 8 % of the links
/// exchanged.
fn pages(count: usize) -> Vec<LinkSet> {
    let mut pages: Vec<LinkSet> = Vec::with_capacity(count);
    let mut state = 1;
    let mut fresh = 0u64;
    let mut new_link = || {
        fresh += 1;
        splitmix64(fresh)
    };
    let mut menu: Vec<u64> = Vec::new();
    let mut menu_share = 0.0;
    for number in 0..count {
        if number % PAGES_PER_SITE == 0 {
            menu = (0..150).map(|_| new_link()).collect();
            menu_share = 0.85 * share(&mut state);
        }
        let links = if number > 0 && share(&mut state) < 1.0 / 16.0 {
            let exchanged = 0.08 * share(&mut state);
            let original = (share(&mut state) * number as f64) as usize;
            let copy = |&link: &u64| if share(&mut state) < exchanged { new_link() } else { link };
            pages[original].hashes().iter().map(copy).collect()
        } else {
            let degree = (10.0 * (1.0 - share(&mut state)).powf(-1.0 / 1.4)).min(150.0) as usize;
            let from_menu = (menu_share * degree as f64) as usize;
            menu[..from_menu].iter().copied().chain((from_menu..degree).map(|_| new_link())).collect()
        };
        pages.push(LinkSet::from_hashes(links));
    }
    pages
}

/// All pairs of mirrors: two sets that have 0.9 of their union in common have one of the rarest links of each in common,
/// of d links one among the d − ⌈0.9 d⌉ + 1 rarest (Chaudhuri, Ganti & Kaushik, ICDE 2006; Bayardo, Ma & Srikant, WWW
/// 2007).
fn all_mirrors(pages: &[LinkSet]) -> Vec<(usize, usize)> {
    let mut frequencies: HashMap<u64, usize> = HashMap::new();
    pages.iter().flat_map(LinkSet::hashes).for_each(|link| *frequencies.entry(*link).or_default() += 1);
    let mut pages_of: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (page, links) in pages.iter().enumerate() {
        let mut rarest = links.hashes().to_vec();
        rarest.sort_by_cached_key(|link| (frequencies[link], *link));
        rarest.truncate(rarest.len() - (9 * rarest.len()).div_ceil(10) + 1);
        let mut candidates: Vec<usize> = rarest.iter().flat_map(|link| pages_of.get(link)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.retain(|&other| links.resembles(&pages[other], Threshold::default()));
        pairs.extend(candidates.into_iter().map(|other| (other, page)));
        rarest.into_iter().for_each(|link| pages_of.entry(link).or_default().push(page));
    }
    pairs
}

#[test]
fn banding_finds_99_percent_of_100_000_pages_mirrors_with_less_than_1_percent_of_the_comparisons() {
    let pages = pages(100_000);
    let histogram: DegreeHistogram = pages.iter().map(LinkSet::degree).collect();
    let bounds = histogram.bounds();
    let mut finding = banded(&pages, bounds, Threshold::default(), Banding::default());

    let mirrors = all_mirrors(&pages);
    assert!(mirrors.len() > 4_000, "there is something to find: {}", mirrors.len());
    let found = mirrors.iter().filter(|&&(a, b)| finding.groups.are_joined(a, b)).count();
    let recall = found as f64 / mirrors.len() as f64;
    assert!(recall >= 0.99, "{found} of {}", mirrors.len());

    // Even if every mirror were deleted before the first comparison, the degree bound would compare the others.
    let mut originals: Vec<bool> = vec![true; pages.len()];
    mirrors.iter().for_each(|&(_, later)| originals[later] = false);
    let left = pages.iter().zip(&originals).filter(|(_, original)| **original).map(|(page, _)| page.degree());
    let by_degree = left.collect::<DegreeHistogram>().comparisons(bounds, Threshold::default());
    assert!(finding.comparisons * 100 < by_degree, "{} beside {by_degree}", finding.comparisons);
    println!("recall {recall:.5}, {} comparisons, degree bound at least {by_degree}", finding.comparisons);
}

#[test]
fn both_ways_agree_on_10_000_pages() {
    let pages = pages(10_000);
    let bounds = pages.iter().map(LinkSet::degree).collect::<DegreeHistogram>().bounds();
    let mut by_degree = degree_bound(&pages, bounds, Threshold::default());
    let mut by_bands = banded(&pages, bounds, Threshold::default(), Banding::default());
    assert!(by_bands.comparisons * 100 < by_degree.comparisons);
    let mirrors = all_mirrors(&pages);
    let missed = |finding: &mut Finding| {
        mirrors.iter().filter(|&&(a, b)| !finding.groups.are_joined(a, b)).count() as f64 / mirrors.len() as f64
    };
    let (missed_by_degree, missed_by_bands) = (missed(&mut by_degree), missed(&mut by_bands));
    println!(
        "{} mirrors; degree bound misses {missed_by_degree:.4} with {} comparisons, banding {missed_by_bands:.4} with {}",
        mirrors.len(),
        by_degree.comparisons,
        by_bands.comparisons,
    );
    // A deleted page takes its own mirrors along: pairs that resemble each other but not the first page are missed.
    assert!(missed_by_degree < 0.05 && missed_by_bands < 0.01);
    for finding in [&mut by_degree, &mut by_bands] {
        let joined: usize = finding.groups.members().iter().map(|group| group.len() - 1).sum();
        assert!(joined <= mirrors.len(), "no page is joined that is no mirror");
    }
}
