//! Finds mirrors among pages given with their links, with both methods side by side.

use super::Finding;
use super::banded::banded;
use super::banding::Banding;
use super::degree::DegreeHistogram;
use super::degree_bound::degree_bound;
use super::groups::DisjointSets;
use super::link_set::LinkSet;
use super::threshold::Threshold;
use mirrors::address_order;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A page and its links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedPage {
    pub url: String,
    /// The absolute targets of its links, in any order and with repetitions.
    pub links: Vec<String>,
}

/// The mirrors among a set of pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirrorReport {
    /// Groups found by either method, ordered by their first address. Within a group, the canonical page comes first
    /// and the others follow in order of address.
    pub groups: Vec<Vec<String>>,
    /// Cost and result of each method.
    pub methods: Vec<MethodReport>,
}

/// Cost and result of one method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodReport {
    /// `degree-bound` or `banding`.
    pub name: String,
    /// Number of comparisons of two sets of links.
    pub comparisons: u64,
    /// The groups it found, ordered like those of the report.
    pub groups: Vec<Vec<String>>,
}

/// Finds the mirrors among pages, with the default threshold and bounds. If a page occurs twice, the last one counts.
pub fn compare_all(pages: Vec<LinkedPage>) -> MirrorReport {
    let by_url: BTreeMap<String, LinkSet> =
        pages.into_iter().map(|page| (page.url, LinkSet::of(page.links.iter().map(String::as_str)))).collect();
    let (urls, links): (Vec<String>, Vec<LinkSet>) = by_url.into_iter().unzip();
    let threshold = Threshold::default();
    let bounds = links.iter().map(LinkSet::degree).collect::<DegreeHistogram>().bounds();
    let mut all = DisjointSets::new(urls.len());
    let mut report = |name: &str, mut finding: Finding| {
        for group in finding.groups.members() {
            group.iter().for_each(|&page| all.join(page, group[0]));
        }
        let groups = addresses(&mut finding.groups, &urls);
        MethodReport { name: name.to_owned(), comparisons: finding.comparisons, groups }
    };
    let methods = vec![
        report("degree-bound", degree_bound(&links, bounds, threshold)),
        report("banding", banded(&links, bounds, threshold, Banding::default())),
    ];
    MirrorReport { groups: addresses(&mut all, &urls), methods }
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

    #[test]
    fn the_report_names_groups_and_counts_comparisons() {
        let pages =
            [("http://c/", 0..20), ("http://a/long", 0..19), ("https://b/longer", 0..20), ("http://z/", 90..110)];
        let report = compare_all(lines(&pages));
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
        assert_eq!(compare_all(reversed), report);
    }

    #[test]
    fn nine_of_ten_links_in_common_are_enough_and_a_page_is_no_mirror_of_itself() {
        // 18 common links of 20; 17 of 20 would be one too few.
        let pages = [("http://a/", 0..19), ("http://b/", 1..20), ("http://a/", 0..19)];
        assert_eq!(compare_all(lines(&pages)).groups, [["http://a/", "http://b/"]]);
        let pages = [("http://a/", 0..18), ("http://b/", 1..20)];
        assert!(compare_all(lines(&pages)).groups.is_empty());
        assert!(compare_all(Vec::new()).groups.is_empty());
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let line = r#"{"url":"http://a/","links":["http://b/","http://c/"],"fetched":1}"#;
        let page: LinkedPage = serde_json::from_str(line).unwrap();
        assert_eq!((page.url.as_str(), page.links.len()), ("http://a/", 2));
    }
}
