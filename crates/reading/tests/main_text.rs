//! How well the main text is found, on labelled pages of three sources.
//!
//! Words and constants were chosen looking at errors on all of them, so these are development figures; the halves of the
//! article benchmark are judged apart to show how far two samples of such pages lie from one another.

#[path = "../../document/tests/corpora/mod.rs"]
mod corpora;

use std::collections::HashMap;

use reading::read;
use serde_json::Value;

/// Runs of four words and how often each occurs, as the article benchmark counts them.
fn shingles(text: &str) -> HashMap<Vec<&str>, usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: Vec<&str> = text.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect();
    let mut shingles = HashMap::new();
    for run in words.windows(4.min(words.len()).max(1)) {
        *shingles.entry(run.to_vec()).or_insert(0) += 1;
    }
    shingles
}

#[derive(Default)]
struct Score {
    precision: f64,
    recall: f64,
    pages: f64,
}

impl Score {
    fn add(&mut self, truth: &str, found: &str) {
        let (truth, found) = (shingles(truth), shingles(found));
        let common: usize = truth.iter().map(|(run, count)| *count.min(found.get(run).unwrap_or(&0))).sum();
        let share = |of: &HashMap<_, usize>| {
            if of.is_empty() { 0.0 } else { common as f64 / of.values().sum::<usize>() as f64 }
        };
        self.precision += share(&found);
        self.recall += share(&truth);
        self.pages += 1.0;
    }

    /// Of the means of precision and recall over pages, as the article benchmark publishes it.
    fn f1(&self) -> f64 {
        let (precision, recall) = (self.precision / self.pages, self.recall / self.pages);
        2.0 * precision * recall / (precision + recall)
    }
}

fn main_text(html: &[u8]) -> String {
    read(html, Some("text/html"), None).text
}

#[test]
fn articles_are_told_from_what_surrounds_them() {
    let Some(files) = corpora::archive("maintext-article-benchmark.tar.zst") else { return };
    let files: HashMap<String, Vec<u8>> = files.into_iter().collect();
    let file =
        |name: &str| files.iter().find(|(path, _)| path.ends_with(name)).map(|(_, content)| content).expect(name);
    let truth: HashMap<String, Value> = serde_json::from_slice(file("ground-truth.json")).expect("the truth is JSON");
    let mut halves = [Score::default(), Score::default()];
    for (id, article) in &truth {
        let half = usize::from(id.as_bytes()[3] % 2 == 0);
        let body = article["articleBody"].as_str().expect("an article has a body");
        halves[half].add(body, &main_text(file(&format!("{id}.html"))));
    }
    let [one, other] = halves.map(|half| (half.pages, half.f1()));
    println!("article benchmark: pages and F1 {one:?}, {other:?}");
    assert_eq!(one.0 + other.0, 89.0);
    assert!(one.1 > 0.97 && other.1 > 0.97, "{one:?} {other:?}");
}

#[test]
fn pages_of_many_kinds_keep_what_they_should_and_lose_what_they_should() {
    let Some(files) = corpora::archive("maintext-trafilatura.tar.zst") else { return };
    let files: HashMap<String, Vec<u8>> = files.into_iter().collect();
    let file =
        |name: &str| files.iter().find(|(path, _)| path.rsplit('/').next() == Some(name)).map(|(_, content)| content);
    let wanted: HashMap<String, Value> =
        serde_json::from_slice(file("evaldata.json").expect("the archive has its data")).expect("the data are JSON");
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut kept, mut lost, mut spoilt, mut pages) = (0, 0, 0, 0);
    for page in wanted.values() {
        let Some(html) = page["file"].as_str().and_then(file) else { continue };
        let text = folded(&main_text(html));
        let found = |list: &str| {
            let phrases = page[list].as_array().expect("a list of phrases");
            phrases.iter().filter(|phrase| phrase.as_str().is_some_and(|phrase| text.contains(&folded(phrase)))).count()
        };
        let with = found("with");
        kept += with;
        lost += page["with"].as_array().map_or(0, Vec::len) - with;
        spoilt += found("without");
        pages += 1;
    }
    let f1 = 2.0 * kept as f64 / (2 * kept + lost + spoilt) as f64;
    println!("trafilatura pages: {pages}, phrases kept {kept}, lost {lost}, of what should go {spoilt}; F1 {f1:.3}");
    assert!(pages > 200 && f1 > 0.89, "{f1}");
}

#[test]
fn reader_views_are_met() {
    let Some(files) = corpora::archive("maintext-readability.tar.zst") else { return };
    let files: HashMap<String, Vec<u8>> = files.into_iter().collect();
    let mut score = Score::default();
    for (path, html) in files.iter().filter(|(path, _)| path.ends_with("/source.html")) {
        let expected = &files[&path.replace("source.html", "expected.html")];
        let expected = document::extract(Some("text/html; charset=utf-8"), expected).text;
        // These pages are kept in UTF-8, whatever they declare.
        score.add(&expected, &read(html, Some("text/html; charset=utf-8"), None).text);
    }
    println!("readability pages: {}, F1 {:.3}", score.pages, score.f1());
    assert!(score.pages > 60.0 && score.f1() > 0.9, "{}", score.f1());
}
