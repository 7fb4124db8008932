//! Predicts from a link's words whether its target is about a focus: RW(link).
//!
//! The words are those of the anchor, up to [`WORDS_AROUND`] on each side of it, of the address and of the `title`
//! attribute. `RW = max closeness(word)` if that is at least `c`, and 0 otherwise. Several links to one address are one
//! link with the words of all.
//!
//! In the published system all words count the same. On a page about the focus every link is then as promising as any
//! other. Here the words around a link count half, since they may belong to the link beside it, and not at all if the
//! link itself says enough: by three words, or by four Han characters, which are two words of Chinese.

use crate::focus_set::TermCloseness;
use crate::phrases::is_han;
use crate::words::{Segmenter, terms};
use document::{LinkedPage, prefix};
use page::LinkResolver;
use percent_encoding::percent_decode_str;
use std::collections::HashMap;
use std::ops::Range;

/// Words on each side of an anchor that count as its surroundings.
pub const WORDS_AROUND: usize = 20;
/// The default of c.
pub const LEAST_CLOSENESS: f64 = 0.35;
/// How links are predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPrediction {
    /// c: words that are less close to the focus say nothing.
    pub least_closeness: f64,
    /// How much a word beside the link counts, from 0 to 1; words of the link itself have 1.
    pub weight_around: f64,
    /// A link with this many words in its anchor says enough: the words around it do not count.
    pub informative_words: usize,
    /// So does one with this many Han characters in words.
    pub informative_han: usize,
}

impl Default for LinkPrediction {
    fn default() -> Self {
        Self { least_closeness: LEAST_CLOSENESS, weight_around: 0.5, informative_words: 3, informative_han: 4 }
    }
}

impl LinkPrediction {
    /// As the "SkyReach" system published it.
    pub fn published() -> Self {
        Self { weight_around: 1.0, informative_words: usize::MAX, informative_han: usize::MAX, ..Self::default() }
    }
}

/// Words of links to anything ("read on", "details", "part two") that are no stop words. They say nothing of the target.
const WORDS_OF_ANY_LINK: [&str; 7] = ["继续", "详细", "详情", "内容", "部分", "进入", "浏览"];
/// Bytes of a `title` attribute that are read.
const MAX_TITLE_BYTES: usize = 256;

/// RW of words with these closenesses to the focus.
pub fn link_relevance(closenesses: impl IntoIterator<Item = f64>, least: f64) -> f64 {
    let largest = closenesses.into_iter().fold(0.0, f64::max);
    if largest >= least { largest.min(1.0) } else { 0.0 }
}

/// A link of a page, with the promise of its words.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedLink {
    /// The target, resolved; as written if that fails.
    pub url: String,
    /// The text of the first link to it, up to 256 bytes.
    pub anchor: String,
    /// RW, from 0 to 1.
    pub relevance: f64,
    /// Whether the page vouches for it nowhere: each link to it has `rel=nofollow`, `ugc` or `sponsored`.
    pub is_nofollow: bool,
}

/// The links of a page, one for each target, in page order. `focus` is one or a [`FocusSet`](crate::FocusSet), `url`
/// the address of the page. Takes time linear in the page: a link has at most [`WORDS_AROUND`] words on each side, and anchors do not overlap.
pub fn predict_links(
    prediction: &LinkPrediction,
    focus: &dyn TermCloseness,
    segmenter: &dyn Segmenter,
    LinkedPage { page, anchors, titles }: &LinkedPage,
    url: Option<&str>,
) -> Vec<PredictedLink> {
    if anchors.is_empty() {
        return Vec::new();
    }
    let words = PlacedWords::read(focus, segmenter, &page.text);
    let mut resolver = LinkResolver::new(url, page.base.as_deref());
    let mut links: Vec<PredictedLink> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (link, anchor) in page.links.iter().zip(anchors) {
        let url = resolver.resolve(link.href).unwrap_or_else(|_| link.href.to_owned());
        let title = titles.get(link.href).map_or("", |title| prefix(title, MAX_TITLE_BYTES));
        let is_nofollow = link.is_nofollow();
        let place = *places.entry(url).or_insert_with_key(|url| {
            let anchor = link.anchor.to_owned();
            let relevance = largest_closeness(focus, segmenter, &readable_address(url));
            links.push(PredictedLink { url: url.clone(), anchor, relevance, is_nofollow });
            links.len() - 1
        });
        let link = &mut links[place];
        link.relevance =
            link.relevance.max(words.closeness_at(anchor, prediction)).max(largest_closeness(focus, segmenter, title));
        link.is_nofollow &= is_nofollow;
    }
    for link in &mut links {
        link.relevance = link_relevance([link.relevance], prediction.least_closeness);
    }
    links
}

/// The words of an address, apart: `/stock%2Dmarket/股票_1.html` as `stock market 股票 1 html`.
fn readable_address(url: &str) -> String {
    let behind_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let decoded = percent_decode_str(behind_scheme).decode_utf8_lossy();
    decoded.chars().map(|character| if character.is_alphanumeric() { character } else { ' ' }).collect()
}

fn largest_closeness(focus: &dyn TermCloseness, segmenter: &dyn Segmenter, text: &str) -> f64 {
    let mut largest = 0.0_f64;
    terms(segmenter, text, &mut |term, _| largest = largest.max(focus.closeness(term)));
    largest
}

/// The words of a text: their places, and how close each is to the focus.
struct PlacedWords {
    places: Vec<Range<usize>>,
    closenesses: Vec<f64>,
    /// Han characters of each word that says something of a target.
    han: Vec<usize>,
}

impl PlacedWords {
    fn read(focus: &dyn TermCloseness, segmenter: &dyn Segmenter, text: &str) -> Self {
        let mut words = Self { places: Vec::new(), closenesses: Vec::new(), han: Vec::new() };
        terms(segmenter, text, &mut |term, place| {
            words.places.push(place);
            words.closenesses.push(focus.closeness(term));
            let is_of_any_link = WORDS_OF_ANY_LINK.contains(&term);
            words.han.push(if is_of_any_link { 0 } else { term.chars().filter(|it| is_han(*it)).count() });
        });
        words
    }

    /// The largest closeness in an anchor and around it.
    fn closeness_at(&self, anchor: &Range<usize>, prediction: &LinkPrediction) -> f64 {
        let first = self.places.partition_point(|place| place.end <= anchor.start);
        let end = self.places.partition_point(|place| place.start < anchor.end).max(first);
        let around = first.saturating_sub(WORDS_AROUND)..(end + WORDS_AROUND).min(self.places.len());
        let largest = |words: Range<usize>| self.closenesses[words].iter().copied().fold(0.0, f64::max);
        let han: usize = self.han[first..end].iter().sum();
        if end - first >= prediction.informative_words || han >= prediction.informative_han {
            return largest(first..end);
        }
        largest(first..end).max(prediction.weight_around * largest(around))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus::{Focus, LanguageTerms};
    use crate::vector::FocusVector;
    use crate::words::IcuSegmenter;
    use proptest::prelude::*;

    fn focus() -> Focus {
        let terms = [("stock", 10.0), ("market", 5.0), ("money", 1.0), ("股票", 8.0)];
        let vector = FocusVector::new(terms.map(|(term, weight)| (term.to_owned(), weight)), 200);
        let terms = LanguageTerms { threshold: 0.3, vector };
        Focus { languages: [("any".to_owned(), terms)].into(), ..Focus::new("finance", "v") }
    }

    fn predicted(prediction: &LinkPrediction, html: &str, url: &str) -> Vec<PredictedLink> {
        predict_links(prediction, &focus(), &IcuSegmenter::default(), &LinkedPage::of_html(html), Some(url))
    }

    fn predict(html: &str) -> Vec<PredictedLink> {
        predicted(&LinkPrediction::published(), html, "http://a.test/x/")
    }

    /// Section D5 of the specification.
    #[test]
    fn the_reference_values_are_met() {
        let check = |closenesses: &[f64], expected| {
            assert_eq!(link_relevance(closenesses.iter().copied(), 0.35), expected, "{closenesses:?}");
        };
        check(&[0.2, 0.9, 0.5], 0.9);
        check(&[0.34, 0.1], 0.0);
        check(&[0.35], 0.35);
        check(&[], 0.0);
        check(&[1.0, 0.2], 1.0);
    }

    #[test]
    fn every_place_of_a_links_words_counts() {
        let check = |html: &str, expected: f64| {
            let links = predict(html);
            assert!((links[0].relevance - expected).abs() < 1e-12, "{html}: {links:?}");
        };
        check("<a href=/1>The stock</a>", 1.0);
        check("<a href=/1>here</a>", 0.0);
        check("<a href=/1 title='Stocks &amp; bonds'>here</a>", 1.0);
        check("<a href=/stock-prices>here</a>", 1.0);
        check("<a href='/%E8%82%A1%E7%A5%A8'>here</a>", 0.8);
        check("<a href=/1><img></a> the market", 0.5);
        check("<p>On the market: <a href=/1>read</a>", 0.5);
        check("<a href=/1>money</a>", 0.0);
        check("<a href=http://stock.test/>here</a>", 1.0);
        check("<base href=//market.test/y/><a href=1>here</a>", 0.5);
    }

    #[test]
    fn words_around_count_half_and_not_beside_a_reporting_anchor() {
        let html = "<p>Stock <a href=/1>here</a> and <a href=/2>the market</a></p>";
        let relevances = |prediction: &LinkPrediction| {
            let links = predicted(prediction, html, "http://a.test/");
            links.iter().map(|link| link.relevance).collect::<Vec<_>>()
        };
        assert_eq!(relevances(&LinkPrediction::default()), [0.5, 0.5]);
        assert_eq!(relevances(&LinkPrediction::published()), [1.0, 1.0]);
        let informative = LinkPrediction { informative_words: 1, ..LinkPrediction::published() };
        assert_eq!(relevances(&informative), [1.0, 0.5]);
        assert_eq!(relevances(&LinkPrediction { weight_around: 0.0, ..LinkPrediction::default() }), [0.0, 0.5]);
    }

    #[test]
    fn two_chinese_words_say_enough_and_those_of_any_link_do_not() {
        let relevance = |html: &str| predicted(&LinkPrediction::default(), html, "http://a.test/")[1].relevance;
        assert_eq!(relevance("<a href=/1>股票</a> <a href=/2>帆船比赛</a>"), 0.0);
        assert_eq!(relevance("<a href=/1>股票</a> <a href=/2>帆船</a>"), 0.4);
        assert_eq!(relevance("<a href=/1>股票</a> <a href=/2>详细内容</a>"), 0.4);
        assert_eq!(relevance("<a href=/1>股票</a> <a href=/2>点击这里</a>"), 0.4);
    }

    #[test]
    fn a_link_with_a_near_word_is_promising() {
        let mut focus = focus();
        assert!(focus.near.add("债券", "股票", 0.75) && focus.near.add("帆板", "股票", 0.3));
        let page = LinkedPage::of_html("<a href=/1>债券</a><p><a href=/2>帆板</a>");
        let prediction = LinkPrediction { weight_around: 0.0, ..LinkPrediction::default() };
        let links = predict_links(&prediction, &focus, &IcuSegmenter::default(), &page, Some("http://a.test/"));
        // .75 times .8, the closeness of 股票; .24 is below c.
        assert!((links[0].relevance - 0.6).abs() < 1e-12, "{links:?}");
        assert_eq!(links[1].relevance, 0.0);
    }

    #[test]
    fn surroundings_end_after_twenty_words() {
        let page = |gap: usize| format!("stock {} <a href=/1>here</a>", "word ".repeat(gap));
        assert_eq!(predict(&page(WORDS_AROUND - 1))[0].relevance, 1.0);
        assert_eq!(predict(&page(WORDS_AROUND))[0].relevance, 0.0);
        let behind = |gap: usize| format!("<a href=/1>here</a> {} stock", "word ".repeat(gap));
        assert_eq!(predict(&behind(WORDS_AROUND - 1))[0].relevance, 1.0);
        assert_eq!(predict(&behind(WORDS_AROUND))[0].relevance, 0.0);
    }

    #[test]
    fn links_to_one_address_are_one() {
        let gap = "word ".repeat(50);
        let links = predict(&format!(
            "<a rel=nofollow href=../1>here</a> {gap} <a href=/1>stock</a> {gap} <a rel=ugc href=/2>x</a>"
        ));
        let urls: Vec<_> = links.iter().map(|link| (link.url.as_str(), link.is_nofollow)).collect();
        assert_eq!(urls, [("http://a.test/1", false), ("http://a.test/2", true)]);
        assert_eq!((links[0].anchor.as_str(), links[0].relevance, links[1].relevance), ("here", 1.0, 0.0));
    }

    #[test]
    fn many_links_in_one_text_take_linear_time() {
        let page = "<a href=/x?y>stock</a> ".repeat(1 << 17);
        assert_eq!(predict(&page).len(), 1);
        let nested = "<a href=/1 title=stock>".repeat(1 << 17);
        assert_eq!(predict(&nested)[0].relevance, 1.0);
    }

    proptest! {
        #[test]
        fn any_soup_has_predicted_links(soup in "(<|>|/|=|\"| |a|%|%E8|股票|stock|href|title|base|<a href=|&amp;|\\?){0,60}") {
            for link in predict(&soup) {
                prop_assert!((0.0..=1.0).contains(&link.relevance));
            }
        }
    }
}
