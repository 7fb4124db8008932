//! The findings of a study.

use super::history::KnownChange;
use super::{Sample, StudiedPage};
use ::page::{CanonicalUrl, Timestamp};
use change_rate::memoryless::{MemorylessResult, MemorylessTest, PageLives};
use importance::power_law::{PowerLawTail, tail_of_counts, tail_of_values};
use messages::{Verdict, word};
use scheduler::ListedPage;
use serde::Serialize;
use std::collections::BTreeMap;

/// Ends of the classes of age, in days, and their names.
const AGES: [(f64, &str); 5] = [
    (1.0, "under a day"),
    (7.0, "1 to 7 days"),
    (30.0, "7 to 30 days"),
    (90.0, "30 to 90 days"),
    (365.0, "90 to 365 days"),
];
const OLDEST: &str = "over a year";
/// Longest ending of a path that counts as a kind of page.
const MOST_ENDING_BYTES: usize = 5;
/// A page whose address has no such ending.
const NO_ENDING: &str = "none";

/// The study of a crawl.
#[derive(Serialize)]
pub(super) struct Study {
    pub(super) pages_known: u64,
    pub(super) pages_studied: u64,
    /// Those of them with two looks: rates, classes and the test are of these, since a rate of fewer looks is the prior's.
    pub(super) pages_seen_twice: u64,
    /// Changes of these pages that are still kept.
    pub(super) changes_read: u64,
    pub(super) changes_left_out: u64,
    pub(super) records_unreadable: u64,
    /// The first change of the crawl that is still kept.
    pub(super) changes_since: Option<Timestamp>,
    pub(super) all: PageClass,
    /// The distribution of the lives of versions, all pages together.
    pub(super) memoryless: Option<MemorylessResult>,
    pub(super) by_host: Vec<PageClass>,
    pub(super) by_depth: Vec<PageClass>,
    pub(super) by_ending: Vec<PageClass>,
    pub(super) by_age: Vec<PageClass>,
    /// How much of a page changed, by verdict, by part and by ending.
    pub(super) extent: Vec<Extent>,
    pub(super) links: Links,
    pub(super) importance: Option<Importance>,
}

/// Pages of a kind or place.
#[derive(Serialize)]
pub(super) struct PageClass {
    pub(super) name: String,
    pub(super) pages: u64,
    pub(super) looks: u64,
    pub(super) changes: u64,
    pub(super) change_rate_per_day: Quantiles,
    pub(super) importance_median: f64,
    /// Whether the times between changes are exponential. `None`: the changes are too few.
    pub(super) memoryless: Option<ClassTest>,
}

/// The test of a class.
#[derive(Serialize)]
pub(super) struct ClassTest {
    pub(super) changes: u64,
    pub(super) chi_square: f64,
    pub(super) degrees_of_freedom: u32,
    pub(super) p_value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Quantiles {
    pub(super) p10: f64,
    pub(super) p50: f64,
    pub(super) p90: f64,
}

/// How much changes of a kind changed.
#[derive(Serialize)]
pub(super) struct Extent {
    pub(super) name: String,
    pub(super) changes: u64,
    pub(super) magnitude: Quantiles,
}

/// Links of the pages.
#[derive(Serialize)]
pub(super) struct Links {
    /// Pages whose links were read: those with a copy kept as received.
    pub(super) pages_read: u64,
    pub(super) copies_unreadable: u64,
    /// Whether these are all pages, so that in-links are complete.
    pub(super) is_whole: bool,
    pub(super) out_links: Option<Quantiles>,
    pub(super) out_links_tail: Option<PowerLawTail>,
    pub(super) in_links: Option<Quantiles>,
    pub(super) in_links_tail: Option<PowerLawTail>,
    /// Changes of pages that changed links of their main part, as a share of all changes.
    pub(super) changes_of_links_share: f64,
    /// Links that came and went with these, as far as they are listed.
    pub(super) links_added: u64,
    pub(super) links_removed: u64,
}

/// The weights that links give.
#[derive(Serialize)]
pub(super) struct Importance {
    pub(super) quantiles: Quantiles,
    pub(super) tail: Option<PowerLawTail>,
}

impl Quantiles {
    /// By linear interpolation between order statistics. `None` of no numbers.
    pub(super) fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * numbers.len().checked_sub(1)? as f64;
            let (low, high) = (numbers.get(place.floor() as usize)?, numbers.get(place.ceil() as usize)?);
            Some(low + (high - low) * place.fract())
        };
        Some(Self { p10: at(0.1)?, p50: at(0.5)?, p90: at(0.9)? })
    }
}

/// Sums over pages of a class.
#[derive(Default)]
struct ClassSums {
    looks: u64,
    changes: u64,
    rates: Vec<f64>,
    importance: Vec<f64>,
    test: MemorylessTest,
}

impl ClassSums {
    fn add(&mut self, page: &ListedPage, lives: &[PageLives]) {
        self.looks += page.fetches.max(0).unsigned_abs();
        self.changes += page.changes.max(0).unsigned_abs();
        self.rates.push(page.change_rate_per_day);
        self.importance.push(page.importance);
        lives.iter().for_each(|lives| self.test.add(lives));
    }

    fn class(self, name: String) -> PageClass {
        const NONE: Quantiles = Quantiles { p10: 0.0, p50: 0.0, p90: 0.0 };
        PageClass {
            name,
            pages: self.rates.len() as u64,
            looks: self.looks,
            changes: self.changes,
            change_rate_per_day: Quantiles::of(self.rates).unwrap_or(NONE),
            importance_median: Quantiles::of(self.importance).unwrap_or(NONE).p50,
            memoryless: self.test.result().map(|result| ClassTest {
                changes: result.changes,
                chi_square: result.chi_square,
                degrees_of_freedom: result.degrees_of_freedom,
                p_value: result.p_value,
            }),
        }
    }
}

/// The classes, those with most pages first.
fn largest(classes: BTreeMap<String, ClassSums>, top: usize) -> Vec<PageClass> {
    let mut classes: Vec<PageClass> = classes.into_iter().map(|(name, sums)| sums.class(name)).collect();
    classes.sort_by(|one, other| other.pages.cmp(&one.pages).then_with(|| one.name.cmp(&other.name)));
    classes.truncate(top);
    classes
}

/// Number of directories in the path of a page.
fn depth(url: &CanonicalUrl) -> usize {
    url.path().split('/').filter(|part| !part.is_empty()).count()
}

/// The ending of the last part of a path, such as `html`.
fn ending(url: &CanonicalUrl) -> String {
    let last = url.path().rsplit('/').next().unwrap_or_default();
    let ending = last.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_one = |ending: &String| {
        (1..=MOST_ENDING_BYTES).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    ending.filter(is_one).unwrap_or_else(|| NO_ENDING.to_owned())
}

fn age(page: &ListedPage) -> &'static str {
    let days = page.last_look_at.map_or(0.0, |last| last.days_since(page.discovered_at));
    AGES.iter().find(|(end, _)| days < *end).map_or(OLDEST, |(_, name)| *name)
}

/// The kinds under which a change is counted.
fn kinds_of(change: &KnownChange, url: &CanonicalUrl) -> Vec<String> {
    let parts = [
        (change.content, "text of the main part"),
        (change.links, "links of the main part"),
        (change.structure, "outside the main part"),
    ];
    let mut kinds = vec!["all changes".to_owned()];
    let named = |verdict: Verdict| format!("verdict {}", word(&verdict));
    kinds.push(named(change.verdict));
    kinds.extend(parts.into_iter().filter(|(is, _)| *is).map(|(_, name)| name.to_owned()));
    kinds.push(format!("ending {}", ending(url)));
    kinds
}

impl Study {
    /// The study of this sample, with as many classes of each kind.
    pub(super) fn of(sample: &Sample, top: usize) -> Self {
        let mut all = ClassSums::default();
        let mut classes: [BTreeMap<String, ClassSums>; 4] = Default::default();
        let mut extents: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let (mut changes, mut of_links, mut added, mut removed) = (0u64, 0u64, 0, 0);
        for (id, page) in &sample.pages {
            let StudiedPage { listed, changes: history } = page;
            for change in history.changes() {
                changes += 1;
                of_links += u64::from(change.links);
                added += change.links_added as u64;
                removed += change.links_removed as u64;
                for kind in kinds_of(change, &listed.url) {
                    extents.entry(kind).or_default().push(change.magnitude);
                }
            }
            if listed.fetches < 2 || listed.last_look_at.is_none() {
                continue;
            }
            let number = u64::from_be_bytes(std::array::from_fn(|byte| id.0[byte]));
            let lives = history.lives(listed, number);
            all.add(listed, &lives);
            let url = &listed.url;
            let names = [url.host_name().to_owned(), depth(url).to_string(), ending(url), age(listed).to_owned()];
            for (classes, name) in classes.iter_mut().zip(names) {
                classes.entry(name).or_default().add(listed, &lives);
            }
        }
        let importance: Vec<f64> = sample.pages.values().map(|page| page.listed.importance).collect();
        let has_links = importance.iter().any(|weight| *weight != 1.0);
        let (memoryless, pages_seen_twice) = (all.test.result(), all.rates.len() as u64);
        let [by_host, by_depth, by_ending, by_age] = classes.map(|classes| largest(classes, top));
        let extent = extents.into_iter().filter_map(|(name, magnitudes)| {
            Some(Extent { name, changes: magnitudes.len() as u64, magnitude: Quantiles::of(magnitudes)? })
        });
        let links = &sample.links;
        let into = |page| links.into.get(page).copied().unwrap_or(0);
        let in_links: Vec<u64> =
            if links.out.is_empty() { Vec::new() } else { sample.pages.keys().map(into).collect() };
        let numbers = |counts: &[u64]| Quantiles::of(counts.iter().map(|count| *count as f64).collect());
        Self {
            pages_known: sample.known,
            pages_studied: sample.pages.len() as u64,
            pages_seen_twice,
            changes_read: sample.changes,
            changes_left_out: sample.pages.values().map(|page| page.changes.left_out).sum(),
            records_unreadable: sample.unreadable,
            changes_since: sample.since,
            all: all.class("all pages".to_owned()),
            memoryless,
            by_host,
            by_depth,
            by_ending,
            by_age,
            extent: extent.collect(),
            links: Links {
                pages_read: links.out.len() as u64,
                copies_unreadable: links.unreadable,
                is_whole: links.is_whole && sample.known == sample.pages.len() as u64,
                out_links: numbers(&links.out),
                out_links_tail: tail_of_counts(&links.out),
                in_links: numbers(&in_links),
                in_links_tail: tail_of_counts(&in_links),
                changes_of_links_share: of_links as f64 / changes.max(1) as f64,
                links_added: added,
                links_removed: removed,
            },
            importance: Quantiles::of(importance.clone())
                .filter(|_| has_links)
                .map(|quantiles| Importance { quantiles, tail: tail_of_values(&importance) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_order_statistics() {
        let quantiles = Quantiles::of((0..=10).rev().map(f64::from).collect());
        assert_eq!(quantiles, Some(Quantiles { p10: 1.0, p50: 5.0, p90: 9.0 }));
        assert_eq!(Quantiles::of(vec![1.0, 2.0]).map(|two| two.p50), Some(1.5));
        assert_eq!(Quantiles::of(Vec::new()), None);
    }

    #[test]
    fn the_kind_and_place_of_a_page_are_read_from_its_address() {
        for (url, expected) in [
            ("http://a.test/", (0, "none")),
            ("http://a.test/a/b.HTML?x=y.pdf", (2, "html")),
            ("http://a.test/v1.2-release/notes/", (2, "none")),
            ("http://a.test/a/report.final-version", (2, "none")),
        ] {
            let url = CanonicalUrl::parse(url).unwrap();
            assert_eq!((depth(&url), &*ending(&url)), expected, "{url}");
        }
    }
}
