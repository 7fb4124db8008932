//! Texts that a program made, and those of the recorded pages, which are no spam.

use archives::{Archive, ArchivedPage};
use chance::{Draws, SplitMix64};
use document::Body;
use spam::{TextJudge, TextShape};
use std::collections::BTreeMap;

/// Texts of each kind.
const TEXTS: usize = 200;

/// Words as in a language: the n-th commonest comes in proportion to 1/n.
fn word(random: &mut SplitMix64, vocabulary: f64) -> String {
    let rank = vocabulary.powf(random.uniform());
    format!("{:x}", chance::splitmix64(rank as u64) % 0xfff_ffff)
}

fn sentence(random: &mut SplitMix64, vocabulary: f64) -> Vec<String> {
    let words = 6 + random.below(12);
    (0..words).map(|_| word(random, vocabulary)).collect()
}

/// The texts of one kind.
fn made(kind: &str, random: &mut SplitMix64) -> String {
    let sentences = 20 + random.below(60) as usize;
    let fresh = |random: &mut SplitMix64| (0..sentences).flat_map(|_| sentence(random, 20_000.0)).collect::<Vec<_>>();
    let words: Vec<String> = match kind {
        "ordinary" => fresh(random),
        // A list of names and prices, all lines of one form.
        "price list" => (0..sentences * 2)
            .flat_map(|_| {
                [word(random, 20_000.0), "in".into(), "stock".into(), random.below(9_999).to_string(), "EUR".into()]
            })
            .collect(),
        "one word in four stuffed" => {
            let (stuffed, words) = (word(random, 20_000.0), fresh(random));
            let each = |word: String| if random.uniform() < 0.25 { stuffed.clone() } else { word };
            words.into_iter().map(each).collect()
        }
        "ten keywords over and over" => {
            let keywords: Vec<String> = (0..10).map(|_| word(random, 20_000.0)).collect();
            (0..sentences * 10).map(|_| keywords[random.below(10) as usize].clone()).collect()
        }
        "eight sentences over and over" => {
            let pool: Vec<Vec<String>> = (0..8).map(|_| sentence(random, 20_000.0)).collect();
            (0..sentences).flat_map(|_| pool[random.below(8) as usize].clone()).collect()
        }
        "a paragraph for each of fifty towns" => {
            let paragraph: Vec<String> = (0..4).flat_map(|_| sentence(random, 20_000.0)).collect();
            (0..50).flat_map(|town| paragraph.iter().cloned().chain([format!("town{town}")])).collect()
        }
        "sentences of other pages" => fresh(random),
        _ => unreachable!("it is one of the kinds"),
    };
    words.join(" ")
}

/// By kind, the least and the largest share of texts that are known as spam.
const KNOWN: [(&str, f64, f64); 7] = [
    ("ordinary", 0.0, 0.0),
    ("price list", 0.0, 0.01),
    ("one word in four stuffed", 0.9, 1.0),
    ("ten keywords over and over", 0.75, 1.0),
    ("eight sentences over and over", 0.7, 1.0),
    ("a paragraph for each of fifty towns", 1.0, 1.0),
    // Each is said once here. Only a comparison with other pages would find them.
    ("sentences of other pages", 0.0, 0.0),
];

#[test]
fn made_texts_are_known_where_they_repeat_themselves() {
    let mut judge = TextJudge::default();
    for (kind, least, most) in KNOWN {
        let mut random = SplitMix64(7);
        let texts: Vec<TextShape> = (0..TEXTS).map(|_| judge.measure(&made(kind, &mut random))).collect();
        let spam = texts.iter().filter(|shape| shape.shape().is_spam()).count() as f64 / TEXTS as f64;
        println!("| {kind} | {spam:.3} |");
        assert!((least..=most).contains(&spam), "{kind}: {spam}");
    }
}

#[test]
fn recorded_pages_are_not_accused() {
    let Some(content) = corpora::find("content") else { return };
    let mut judge = TextJudge::default();
    let mut by_source = BTreeMap::<String, Vec<TextShape>>::new();
    let take = |page: &ArchivedPage, bytes: &[u8]| {
        let text = Body::new(bytes, Some(&page.content_type), Some(&page.address)).text().text;
        by_source.entry(page.source.clone()).or_default().push(judge.measure(&text));
    };
    Archive::open(&content, None).unwrap().for_each_latest(take).unwrap();
    let (mut all_judged, mut all_accused) = (0, 0);
    for (source, mut pages) in by_source {
        let all = pages.len();
        pages.retain(|shape| shape.words >= 100);
        let accused = pages.iter().filter(|shape| shape.shape().is_spam()).count();
        println!("| {source} | {all} | {} | {accused} |", pages.len());
        (all_judged, all_accused) = (all_judged + pages.len(), all_accused + accused);
        // Of few pages one is more than the share.
        assert!(accused as f64 <= (0.025 * pages.len() as f64).max(1.0), "{source}: {accused} of {}", pages.len());
    }
    println!("{all_accused} of {all_judged} accused");
    assert!(all_accused as f64 <= 0.005 * all_judged as f64, "{all_accused} of {all_judged}");
}
