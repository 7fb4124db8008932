//! Crawls in different orders. Each knows only the part of the web that it has fetched, except the oracle.

use super::rank::rank_roughly;
use super::web::{FocusPage, FocusWeb};
use document::LinkedPage;
use focus::{Focus, IcuSegmenter, LinkPrediction, PageTerms, PhraseSegmenter, RelevanceMeasure, predict_links};
use std::collections::{BTreeMap, VecDeque};

/// Ranks are computed anew after this number of fetches.
const RANKED_EVERY: usize = 100;

/// A page as the crawler reads it: its relevance, and RW of each link.
pub(super) struct CrawledPage {
    pub(super) is_relevant: bool,
    links: Vec<(usize, f64)>,
}

pub(super) fn read(prediction: &LinkPrediction, focus: &Focus, web: &FocusWeb) -> Vec<CrawledPage> {
    let (icu, measure) = (IcuSegmenter::default(), RelevanceMeasure::default());
    let phrases = focus.phrases(&icu);
    let segmenter = PhraseSegmenter::new(&icu, &phrases);
    let read = |page: &FocusPage| {
        let terms = PageTerms::read(&segmenter, &page.title, &page.text);
        let links = predict_links(prediction, focus, &segmenter, &LinkedPage::of_html(&page.html), Some(&page.url));
        CrawledPage {
            is_relevant: focus.relevance(&measure, &terms).is_relevant,
            links: links.iter().filter_map(|link| Some((web.number(&link.url)?, link.relevance))).collect(),
        }
    };
    web.pages().iter().map(read).collect()
}

pub(super) fn breadth_first(readings: &[CrawledPage], seeds: &[usize], most: usize) -> Vec<usize> {
    let mut queue: VecDeque<usize> = seeds.iter().copied().collect();
    let mut is_known = known(readings.len(), seeds);
    let mut fetched = Vec::new();
    while fetched.len() < most
        && let Some(page) = queue.pop_front()
    {
        fetched.push(page);
        queue.extend(
            readings[page].links.iter().map(|(to, _)| *to).filter(|to| !std::mem::replace(&mut is_known[*to], true)),
        );
    }
    fetched
}

/// Fetches the page of the best rank among those that it has links to. With RW as weights this is IPageRank.
pub(super) fn by_rank(
    readings: &[CrawledPage],
    seeds: &[usize],
    most: usize,
    weight: impl Fn(f64) -> f64,
) -> Vec<usize> {
    let mut graph: Vec<Vec<(usize, f64)>> = vec![Vec::new(); readings.len()];
    let mut is_known = known(readings.len(), seeds);
    let mut open: Vec<usize> = seeds.to_vec();
    let mut fetched = Vec::new();
    while fetched.len() < most && !open.is_empty() {
        let ranks = rank_roughly(&graph);
        open.sort_by(|one, other| ranks[*other].total_cmp(&ranks[*one]));
        let rest = open.split_off(RANKED_EVERY.min(open.len()));
        for page in std::mem::replace(&mut open, rest) {
            graph[page] = readings[page].links.iter().map(|(to, relevance)| (*to, weight(*relevance))).collect();
            open.extend(
                readings[page]
                    .links
                    .iter()
                    .map(|(to, _)| *to)
                    .filter(|to| !std::mem::replace(&mut is_known[*to], true)),
            );
            fetched.push(page);
        }
    }
    fetched.truncate(most);
    fetched
}

/// Knows which pages are in the focus, and the way to the nearest one not yet fetched.
pub(super) fn oracle(web: &FocusWeb, readings: &[CrawledPage], seeds: &[usize], most: usize) -> Vec<usize> {
    let distances = distances(web.pages(), readings);
    let mut open: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut is_known = known(readings.len(), seeds);
    let mut fetched = Vec::new();
    open.extend(seeds.iter().enumerate().map(|(order, seed)| ((distances[*seed], order), *seed)));
    let mut order = seeds.len();
    while fetched.len() < most
        && let Some((_, page)) = open.pop_first()
    {
        fetched.push(page);
        for (to, _) in &readings[page].links {
            if !std::mem::replace(&mut is_known[*to], true) {
                open.insert((distances[*to], order), *to);
                order += 1;
            }
        }
    }
    fetched
}

/// Links from each page to the nearest page in the focus.
fn distances(pages: &[FocusPage], readings: &[CrawledPage]) -> Vec<usize> {
    let mut links_to: Vec<Vec<usize>> = vec![Vec::new(); pages.len()];
    for (from, page) in readings.iter().enumerate() {
        page.links.iter().for_each(|(to, _)| links_to[*to].push(from));
    }
    let mut distances = vec![usize::MAX; pages.len()];
    let mut queue: VecDeque<usize> = (0..pages.len()).filter(|page| pages[*page].is_relevant).collect();
    queue.iter().for_each(|page| distances[*page] = 0);
    while let Some(page) = queue.pop_front() {
        for from in &links_to[page] {
            if distances[*from] == usize::MAX {
                distances[*from] = distances[page] + 1;
                queue.push_back(*from);
            }
        }
    }
    distances
}

fn known(pages: usize, seeds: &[usize]) -> Vec<bool> {
    let mut is_known = vec![false; pages];
    seeds.iter().for_each(|seed| is_known[*seed] = true);
    is_known
}
