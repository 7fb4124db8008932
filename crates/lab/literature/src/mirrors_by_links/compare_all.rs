//! Finds mirrors among pages given with their links, with several methods side by side.

use super::Finding;
use super::all_pairs::all_pairs;
use super::banded::banded;
use super::banding::Banding;
use super::degree::{DegreeBounds, DegreeHistogram, LEAST_DEGREE};
use super::degree_bound::degree_bound;
use super::groups::DisjointSets;
use super::host_pairs::{HostPair, host_of, host_pairs};
use super::link_set::{LinkSet, MAX_LINKS};
use super::shingles::{link_shingles, sampled};
use mirrors::{Threshold, address_order, link_key};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// A page and its links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedPage {
    pub url: String,
    /// The absolute targets of its links, with repetitions. Their order counts for shingles of several links alone.
    pub links: Vec<String>,
}

/// A way to find mirrors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorMethod {
    /// [`all_pairs`].
    AllPairs,
    /// [`degree_bound`].
    DegreeBound,
    /// [`banded`], with the default banding.
    Banding,
    /// [`sampled`]. It has no threshold.
    Samples,
}

impl MirrorMethod {
    fn name(self) -> &'static str {
        match self {
            Self::AllPairs => "all-pairs",
            Self::DegreeBound => "degree-bound",
            Self::Banding => "banding",
            Self::Samples => "samples",
        }
    }
}

/// How mirrors are searched for.
#[derive(Clone, Debug)]
pub struct MirrorSearch {
    /// The resemblance from which on pages are mirrors.
    pub threshold: Threshold,
    /// D_min, the fewest different links of a page that is compared.
    pub least_links: usize,
    /// D_max, the most. `None`: where the tail of the histogram begins ([`DegreeHistogram::bounds`]).
    pub most_links: Option<usize>,
    /// Links per shingle. The elements compared are shingles, if it is more than 1.
    pub shingle_width: NonZeroUsize,
    /// Shingles that [`MirrorMethod::Samples`] keeps of a page.
    pub samples: NonZeroUsize,
    /// Whether links within the page's own host count with the host, as in the paper. Otherwise they count by path and
    /// query ([`link_key`]), so that a copy under another host name has the same links.
    pub with_own_host: bool,
    pub methods: Vec<MirrorMethod>,
    /// Whether pairs of hosts are reported.
    pub by_host: bool,
}

impl Default for MirrorSearch {
    /// 0.9 or more of the links, of pages with 10 links and more; by degree bound and by bands.
    fn default() -> Self {
        Self {
            threshold: Threshold::default(),
            least_links: LEAST_DEGREE,
            most_links: None,
            shingle_width: NonZeroUsize::MIN,
            samples: NonZeroUsize::MIN.saturating_add(1),
            with_own_host: false,
            methods: vec![MirrorMethod::DegreeBound, MirrorMethod::Banding],
            by_host: false,
        }
    }
}

/// The mirrors among a set of pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirrorReport {
    /// Groups found by any method, ordered by their first address. Within a group, the canonical page comes first
    /// and the others follow in order of address.
    pub groups: Vec<Vec<String>>,
    /// Cost and result of each method.
    pub methods: Vec<MethodReport>,
    /// Pairs of hosts with pages in one group, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<HostPair>>,
}

/// Cost and result of one method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodReport {
    /// `all-pairs`, `degree-bound`, `banding` or `samples`.
    pub name: String,
    /// Number of comparisons of two sets of links.
    pub comparisons: u64,
    /// The groups it found, ordered like those of the report.
    pub groups: Vec<Vec<String>>,
}

/// Finds the mirrors among pages. If a page occurs twice, the last one counts.
pub fn compare_all(pages: Vec<LinkedPage>, search: &MirrorSearch) -> MirrorReport {
    let by_url: BTreeMap<String, Vec<u64>> = pages.into_iter().map(|page| keys_of(page, search)).collect();
    let (urls, links): (Vec<String>, Vec<Vec<u64>>) = by_url.into_iter().unzip();
    let sets = compared_sets(&links, search);
    // Pages beyond the bounds have no elements. A page may have more shingles than links, and fewer.
    let bounds = DegreeBounds { least: 1, greatest: MAX_LINKS };
    let mut all = DisjointSets::new(urls.len());
    let mut methods = Vec::new();
    for method in &search.methods {
        let mut finding: Finding = match method {
            MirrorMethod::AllPairs => all_pairs(&sets, bounds, search.threshold),
            MirrorMethod::DegreeBound => degree_bound(&sets, bounds, search.threshold),
            MirrorMethod::Banding => banded(&sets, bounds, search.threshold, Banding::default()),
            MirrorMethod::Samples => sampled(&sets, bounds, search.samples),
        };
        for group in finding.groups.members() {
            group.iter().for_each(|&page| all.join(page, group[0]));
        }
        let groups = addresses(&mut finding.groups, &urls);
        methods.push(MethodReport { name: method.name().to_owned(), comparisons: finding.comparisons, groups });
    }
    let groups = addresses(&mut all, &urls);
    let hosts = search.by_host.then(|| host_pairs(urls.iter(), &groups));
    MirrorReport { groups, methods, hosts }
}

/// The hashes of a page's links in page order.
fn keys_of(page: LinkedPage, search: &MirrorSearch) -> (String, Vec<u64>) {
    let host = if search.with_own_host { "" } else { host_of(&page.url) };
    let keys = page.links.iter().map(|link| link_key(host, link)).collect();
    (page.url, keys)
}

/// The set that each page is compared by; empty for a page with too few or too many links.
fn compared_sets(links: &[Vec<u64>], search: &MirrorSearch) -> Vec<LinkSet> {
    let sets: Vec<LinkSet> = links.iter().map(|links| LinkSet::from_hashes(links.clone())).collect();
    let found = sets.iter().map(LinkSet::degree).collect::<DegreeHistogram>().bounds();
    let greatest = search.most_links.unwrap_or(found.greatest).min(MAX_LINKS - 1);
    let bounds = DegreeBounds { least: search.least_links.max(1), greatest };
    let set = |(set, links): (LinkSet, &Vec<u64>)| match bounds.admits(set.degree()) {
        true if search.shingle_width.get() == 1 => set,
        true => link_shingles(links, search.shingle_width),
        false => LinkSet::default(),
    };
    sets.into_iter().zip(links).map(set).collect()
}

fn addresses(groups: &mut DisjointSets, urls: &[String]) -> Vec<Vec<String>> {
    let named = |members: Vec<usize>| {
        let mut group: Vec<&String> = members.into_iter().map(|member| &urls[member]).collect();
        let first = (0..group.len()).min_by(|&a, &b| address_order(group[a], group[b]));
        if let Some(first) = first {
            group[..=first].rotate_right(1);
        }
        group.into_iter().cloned().collect()
    };
    let mut named: Vec<Vec<String>> = groups.members().into_iter().map(named).collect();
    named.sort_unstable();
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pages: &[(&str, std::ops::Range<u32>)]) -> Vec<LinkedPage> {
        let page = |(url, links): &(&str, std::ops::Range<u32>)| LinkedPage {
            url: (*url).to_owned(),
            links: links.clone().map(|number| format!("http://linked.example/{number}")).collect(),
        };
        pages.iter().map(page).collect()
    }

    fn found(pages: Vec<LinkedPage>) -> MirrorReport {
        compare_all(pages, &MirrorSearch::default())
    }

    #[test]
    fn the_report_names_groups_and_counts_comparisons() {
        let pages =
            [("http://c/", 0..20), ("http://a/long", 0..19), ("https://b/longer", 0..20), ("http://z/", 90..110)];
        let report = found(lines(&pages));
        assert_eq!(
            serde_json::to_value(&report).unwrap(),
            serde_json::json!({
                "groups": [["https://b/longer", "http://a/long", "http://c/"]],
                "methods": [
                    {
                        "name": "degree-bound", "comparisons": 3,
                        "groups": [["https://b/longer", "http://a/long", "http://c/"]],
                    },
                    {
                        "name": "banding", "comparisons": 2,
                        "groups": [["https://b/longer", "http://a/long", "http://c/"]],
                    },
                ],
            })
        );
        let mut reversed = lines(&pages);
        reversed.reverse();
        assert_eq!(found(reversed), report);
    }

    #[test]
    fn nine_of_ten_links_in_common_are_enough_and_a_page_is_no_mirror_of_itself() {
        // 18 common links of 20; 17 of 20 would be one too few.
        let pages = [("http://a/", 0..19), ("http://b/", 1..20), ("http://a/", 0..19)];
        assert_eq!(found(lines(&pages)).groups, [["http://a/", "http://b/"]]);
        let pages = [("http://a/", 0..18), ("http://b/", 1..20)];
        assert!(found(lines(&pages)).groups.is_empty());
        assert!(found(Vec::new()).groups.is_empty());
    }

    #[test]
    fn the_threshold_and_the_bounds_of_links_decide() {
        let groups = |pages: &[(&str, std::ops::Range<u32>)], search: MirrorSearch| {
            let methods = vec![MirrorMethod::AllPairs, MirrorMethod::DegreeBound];
            let report = compare_all(lines(pages), &MirrorSearch { methods, ..search });
            assert_eq!(report.methods[0].groups, report.methods[1].groups);
            report.groups.len()
        };
        let above = |numerator, denominator| MirrorSearch {
            threshold: Threshold::above(numerator, denominator).unwrap(),
            ..MirrorSearch::default()
        };
        let at_least = |numerator, denominator| MirrorSearch {
            threshold: Threshold::at_least(numerator, denominator).unwrap(),
            ..MirrorSearch::default()
        };
        // 18 links of 22 in common: 0.818.
        let pages = [("http://a/", 0..20), ("http://b/", 2..22)];
        assert_eq!([groups(&pages, at_least(8, 10)), groups(&pages, at_least(82, 100))], [1, 0]);
        assert_eq!([groups(&pages, at_least(18, 22)), groups(&pages, above(18, 22))], [1, 0]);
        // The paper's two pages of 5 links with 4 in common resemble each other by 4/6, not by 0.8.
        let pages = [("http://a/", 0..5), ("http://b/", 1..6)];
        let with_few = |search| MirrorSearch { least_links: 5, ..search };
        assert_eq!([groups(&pages, with_few(at_least(4, 6))), groups(&pages, with_few(at_least(8, 10)))], [1, 0]);
        assert_eq!(groups(&pages, at_least(4, 6)), 0, "fewer than ten links are no evidence");
        // More than 8 links, and more than 10.
        let pages = [("http://a/", 0..9), ("http://b/", 0..9), ("http://c/", 0..11), ("http://d/", 0..11)];
        let more_than = |links: usize| MirrorSearch { least_links: links + 1, ..at_least(95, 100) };
        assert_eq!([8, 9, 10, 11].map(|links| groups(&pages, more_than(links))), [2, 1, 1, 0]);
        let at_most = |links| MirrorSearch { most_links: Some(links), ..more_than(8) };
        assert_eq!([8, 9, 11].map(|links| groups(&pages, at_most(links))), [0, 1, 2]);
    }

    #[test]
    fn a_copy_under_another_host_has_the_links_of_its_original() {
        let page = |host: &str| LinkedPage {
            url: format!("http://{host}/x"),
            links: (0..20).map(|number| format!("http://{host}/{number}")).collect(),
        };
        let pages = vec![page("a.example"), page("b.example")];
        assert_eq!(found(pages.clone()).groups.len(), 1);
        let as_in_the_paper = MirrorSearch { with_own_host: true, ..MirrorSearch::default() };
        assert!(compare_all(pages.clone(), &as_in_the_paper).groups.is_empty());
        let report = compare_all(pages, &MirrorSearch { by_host: true, ..MirrorSearch::default() });
        let hosts = ["a.example", "b.example"].map(str::to_owned);
        assert_eq!(report.hosts, Some(vec![HostPair { hosts, mirrored: [1, 1], pages: [1, 1] }]));
    }

    #[test]
    fn shingles_of_links_count_their_order() {
        let mut pages = lines(&[("http://a/", 0..40), ("http://b/", 0..40), ("http://c/", 0..40)]);
        pages[2].links.reverse();
        assert_eq!(found(pages.clone()).groups, [["http://a/", "http://b/", "http://c/"]]);
        let of_links = |width: usize, samples: usize| MirrorSearch {
            shingle_width: NonZeroUsize::new(width).unwrap(),
            samples: NonZeroUsize::new(samples).unwrap(),
            methods: vec![MirrorMethod::Samples, MirrorMethod::Banding],
            ..MirrorSearch::default()
        };
        for (width, samples) in [(5, 2), (4, 3)] {
            let report = compare_all(pages.clone(), &of_links(width, samples));
            for method in &report.methods {
                assert_eq!(method.groups, [["http://a/", "http://b/"]], "{samples} of {width}: {}", method.name);
            }
        }
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let line = r#"{"url":"http://a/","links":["http://b/","http://c/"],"fetched":1}"#;
        let page: LinkedPage = serde_json::from_str(line).unwrap();
        assert_eq!((page.url.as_str(), page.links.len()), ("http://a/", 2));
    }
}
