//! How well the main text is found, on labelled pages of three sources.
//!
//! Words and constants were chosen looking at errors on all of them, so these are development figures; the halves of the
//! article benchmark are judged apart to show how far two samples of such pages lie from one another.

use archives::Archive;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use reading::read;
use serde_json::Value;

/// Runs of four words and how often each occurs, as the article benchmark counts them.
fn shingles(text: &str) -> HashMap<Vec<&str>, usize> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let words: Vec<&str> = text.split(|character| !is_part(character)).filter(|word| !word.is_empty()).collect();
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

    /// F1 of the means of precision and recall over pages, as the article benchmark publishes it.
    fn f1(&self) -> f64 {
        let (precision, recall) = (self.precision / self.pages, self.recall / self.pages);
        2.0 * precision * recall / (precision + recall)
    }
}

fn main_text(html: &[u8]) -> String {
    read(html, Some("text/html"), None).text
}

#[test]
fn articles_are_distinguished_from_what_surrounds_them() {
    let Some(files) = corpora::unpack("conformance/maintext-article-benchmark.tar.zst") else { return };
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
    let Some(files) = corpora::unpack("conformance/maintext-trafilatura.tar.zst") else { return };
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
    assert!(pages > 200 && f1 > 0.91, "{f1}");
}

#[test]
fn reader_views_are_met() {
    let Some(files) = corpora::unpack("conformance/maintext-readability.tar.zst") else { return };
    let files: HashMap<String, Vec<u8>> = files.into_iter().collect();
    let mut score = Score::default();
    for (path, html) in files.iter().filter(|(path, _)| path.ends_with("/source.html")) {
        let expected = &files[&path.replace("source.html", "expected.html")];
        let expected = document::extract(Some("text/html; charset=utf-8"), expected).text;
        // These pages are kept in UTF-8, whatever they declare.
        score.add(&expected, &read(html, Some("text/html; charset=utf-8"), None).text);
    }
    println!("readability pages: {}, F1 {:.3}", score.pages, score.f1());
    assert!(score.pages > 60.0 && score.f1() > 0.935, "{}", score.f1());
}

/// Whether a page has text; it must not come out without any then.
fn has_text(body: &[u8], content_type: Option<&str>, name: &str) -> bool {
    let page = read(body, content_type, None);
    assert!(!page.text.is_empty() || page.full_text.is_empty(), "{name}: no main text");
    !page.full_text.is_empty()
}

#[test]
fn no_page_with_text_comes_out_empty() {
    let archives = ["article-benchmark", "readability", "trafilatura"].map(|name| format!("maintext-{name}.tar.zst"));
    for name in archives.iter().map(String::as_str).chain(["encodings.tar.zst"]) {
        let Some(files) = corpora::unpack(&format!("conformance/{name}")) else { continue };
        let is_page = |path: &str| path.ends_with(".html") || name.starts_with("encodings");
        let pages = files.iter().filter(|(path, body)| is_page(path) && has_text(body, None, path)).count();
        println!("{name}: {pages} pages with text");
        assert!(pages > 60, "{name}: {pages}");
    }
}

#[test]
fn no_page_of_a_history_comes_out_empty() {
    let Some(content) = corpora::find("content") else { return };
    let mut archive = Archive::open(&content, None).expect("the archive can be opened");
    let mut with_text: BTreeMap<String, usize> = BTreeMap::new();
    // The newest version of each page: its last one before the next page.
    let mut newest: Option<(archives::ArchivedPage, Vec<u8>)> = None;
    let mut count = |(page, body): (archives::ArchivedPage, Vec<u8>)| {
        let has_text = has_text(&body, Some(&page.content_type), &page.address);
        *with_text.entry(page.source).or_default() += usize::from(has_text);
    };
    let read_all = archive.for_each_version(|page, body| {
        match &mut newest {
            Some((last, bytes)) if last.page_id == page.page_id => body.clone_into(bytes),
            _ => {
                newest.replace((page.clone(), body.to_vec())).map(&mut count);
            }
        }
        ControlFlow::Continue(())
    });
    read_all.expect("the archive can be read");
    newest.map(&mut count);
    println!("newest versions with text: {with_text:?}");
    assert!(with_text.len() >= 9 && with_text.values().sum::<usize>() > 10_000, "{with_text:?}");
}
