//! Searches for copies as the matcher does, by texts, by links and by both.

use super::copies::COPIES;
use super::pages::RealPage;
use crate::draw::Draw;
use change::{PageState, ShingleSet, Version};
use document::Body;
use mirrors::{BandKey, LinkSketch, MAX_BUCKET_PAGES, MirrorRule, MirrorSketch, SketchEntry, TextSketch, Threshold};
use page::{CanonicalUrl, UrlRules};
use std::collections::{BTreeSet, HashMap};

const UTF_8: &str = "text/html; charset=utf-8";

/// Texts with this much in common are one document under two addresses. Manuals keep documents under an old and a new
/// name; all such pairs were looked at.
const SAME_DOCUMENT: f64 = 0.9;

/// The part of a page that a rule compares.
fn compared(rule: MirrorRule, sketch: &MirrorSketch) -> Option<MirrorSketch> {
    match rule {
        MirrorRule::Texts => MirrorSketch::new(sketch.text().copied(), None),
        MirrorRule::TextsAndLinks(_) => Some(*sketch),
        MirrorRule::Links(_) => MirrorSketch::new(None, sketch.links().copied()),
    }
}

/// Copies of one kind.
#[derive(Clone, Debug)]
pub struct MirrorRow {
    pub name: &'static str,
    /// The number of copies that are mirrors of their page.
    pub mirrors: usize,
    /// The result by texts, by links, and by both.
    pub by: [MirrorsFound; 3],
}

/// The result of a search for copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirrorsFound {
    /// Mirrors whose page was reported.
    pub found: usize,
    /// Reports of a page with one that says something else.
    pub wrong: usize,
}

impl MirrorsFound {
    /// Share of the reports that are right. Each mirror that was found counts as one report. 1 without reports.
    pub fn precision(self) -> f64 {
        let reports = self.found + self.wrong;
        if reports == 0 { 1.0 } else { self.found as f64 / reports as f64 }
    }
}

/// All rows together.
pub fn mirror_total(rows: &[MirrorRow]) -> MirrorRow {
    let by = std::array::from_fn(|rule| {
        let of = |count: fn(&MirrorsFound) -> usize| rows.iter().map(|row| count(&row.by[rule])).sum();
        MirrorsFound { found: of(|found| found.found), wrong: of(|found| found.wrong) }
    });
    MirrorRow { name: "all", mirrors: rows.iter().map(|row| row.mirrors).sum(), by }
}

/// A page as the matcher knows it, with the number of the real page that it says the same as.
struct SketchedPage {
    host: String,
    sketch: Option<MirrorSketch>,
    says: usize,
}

/// Makes copies of all kinds of the pages, and searches for them among all pages. The first row has the pages
/// themselves, among which there are no copies. `links` is the share of links from which on pages are copies by links.
pub fn measure_mirrors(pages: &[RealPage], links: Threshold, urls: &UrlRules) -> Vec<MirrorRow> {
    let mut originals = Vec::new();
    let mut documents: Vec<ShingleSet> = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        let (sketch, text) = read(page.html.as_bytes(), UTF_8, &page.address, urls);
        let same = documents.iter().position(|other| !text.is_empty() && text.resemblance(other) >= SAME_DOCUMENT);
        originals.push(SketchedPage {
            host: page.address.host().as_str().to_owned(),
            sketch,
            says: same.unwrap_or(number),
        });
        documents.push(text);
    }
    let mut rows = vec![MirrorRow { name: "the pages themselves", mirrors: 0, by: [MirrorsFound::default(); 3] }];
    let mut known = Vec::new();
    let rules = [MirrorRule::Texts, MirrorRule::Links(links), MirrorRule::TextsAndLinks(links)];
    for (rule, found) in rules.into_iter().zip(&mut rows[0].by) {
        let mut matcher = Buckets { rule, buckets: HashMap::new() };
        for number in 0..originals.len() {
            found.wrong += matcher.enter(number, &originals).wrong;
        }
        known.push(matcher);
    }
    for kind in COPIES {
        let count = originals.len();
        for (number, page) in pages.iter().enumerate() {
            let host = format!("mirror-of-{}", page.address.host().as_str());
            let address = CanonicalUrl::parse(&format!("https://{host}{}", page.address.path_and_query()));
            let Ok(address) = address else { continue };
            let drawn = Draw::of(1, page.address.as_str()).of_kind(kind.name);
            let Some(copy) = (kind.make)(page, &address, drawn) else { continue };
            let (sketch, _) = read(&copy.body, copy.content_type, &address, urls);
            // Other words say something that no page says.
            let says = if kind.is_mirror { originals[number].says } else { usize::MAX };
            originals.push(SketchedPage { host, sketch, says });
        }
        let mirrors = if kind.is_mirror { originals.len() - count } else { 0 };
        let mut row = MirrorRow { name: kind.name, mirrors, by: [MirrorsFound::default(); 3] };
        for (matcher, found) in known.iter().zip(&mut row.by) {
            let mut matcher = matcher.clone();
            for number in count..originals.len() {
                let reported = matcher.enter(number, &originals);
                found.found += reported.found;
                found.wrong += reported.wrong;
            }
        }
        rows.push(row);
        originals.truncate(count);
    }
    rows
}

/// The sketch of a body as the detector makes it, and the shingles of its text.
fn read(
    body: &[u8],
    content_type: &str,
    address: &CanonicalUrl,
    urls: &UrlRules,
) -> (Option<MirrorSketch>, ShingleSet) {
    let body = Body::new(body, Some(content_type), Some(address.as_str()));
    let mut state = PageState::default();
    state.observe(&Version::of_body(&body, urls), None);
    let links = LinkSketch::of_page(&body.text(), address, urls);
    (MirrorSketch::new(TextSketch::of(state.shingles()), links), state.shingles().clone())
}

/// The buckets of a matcher.
#[derive(Clone)]
struct Buckets {
    rule: MirrorRule,
    buckets: HashMap<BandKey, Vec<SketchEntry<usize>>>,
}

impl Buckets {
    /// Enters a page, and counts what is reported about it.
    fn enter(&mut self, number: usize, pages: &[SketchedPage]) -> MirrorsFound {
        let page = &pages[number];
        let Some(sketch) = page.sketch.as_ref().and_then(|sketch| compared(self.rule, sketch)) else {
            return MirrorsFound::default();
        };
        let entry = SketchEntry { page: number, host: page.host.clone(), sketch };
        let mut reported = BTreeSet::new();
        for band in sketch.bands() {
            let bucket = self.buckets.entry(band).or_default();
            reported.extend(self.rule.best_match(&entry, bucket, &band).map(|place| bucket[place].page));
            if bucket.len() < MAX_BUCKET_PAGES {
                bucket.push(entry.clone());
            }
        }
        let right = reported.iter().filter(|other| pages[**other].says == page.says).count();
        MirrorsFound { found: usize::from(right > 0), wrong: reported.len() - right }
    }
}
