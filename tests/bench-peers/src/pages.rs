//! Reading, sketching and judging pages, beside lol_html, gaoya and a bare scan for brackets, which take turns within a
//! round.

use crate::avro::thread_time;
use change::{DEFAULT_SHINGLE_WIDTH, PageState, Shingler, Version};
use document::{Body, ContentDigest, content_digest, decode, extract};
use gaoya::minhash::{MinHasher, MinHasher32};
use lol_html::html_content::TextChunk;
use lol_html::{DocumentContentHandlers, HtmlRewriter, Settings};
use mirrors::{SKETCH_SLOTS, Sketch};
use page::UrlRules;
use reading::read;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

static URLS: UrlRules = UrlRules::none();
const HEADER: Option<&str> = Some("text/html; charset=utf-8");
const ADDRESS: Option<&str> = Some("https://docs.test/manual/page.html");
/// Most pages measured. Of a larger corpus, pages at even distances are taken.
const MOST_PAGES: usize = 400;

/// A page, and what the contestants are given of it.
struct Page {
    html: String,
    text: String,
    /// The page with a paragraph more.
    edited: String,
    /// Its digest, which comes with a body: the fetcher has made it.
    digest: ContentDigest,
    /// The detector's state of the page before the edit.
    known: PageState,
}

/// A contestant: its name, and a function that processes all pages and returns the time that this took.
type Contestant<'c> = (&'static str, Box<dyn FnMut(&[Page]) -> Duration + 'c>);

/// Measures all and prints microseconds a page, one figure a round. For peers in other languages it writes two things into
/// `output`: `texts`, all texts with a zero byte behind each, and `pages`, a directory of what is read on the way to the verdict.
pub fn measure(rounds: usize, directory: &str, output: &str) {
    let pages = pages(Path::new(directory));
    pages.iter().for_each(check);
    let news = pages.iter().filter(|page| is_news(page)).count();
    assert!(2 * news > pages.len(), "of {} new paragraphs {news} are seen", pages.len());
    println!("news: {news}");
    write(&pages, Path::new(output)).expect("the directory for output takes files");
    let bytes: usize = pages.iter().map(|page| page.html.len()).sum();
    let words: usize = pages.iter().map(|page| page.text.split_whitespace().count()).sum();
    println!("pages: {}", pages.len());
    println!("bytes a page: {}", bytes / pages.len());
    println!("words a page: {}", words / pages.len());
    let hasher = MinHasher32::new(SKETCH_SLOTS);
    let gaoya = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        hasher.create_signature(words.windows(DEFAULT_SHINGLE_WIDTH.get()))
    };
    let mut shingler = Shingler::default();
    let mut contestants: [Contestant<'_>; 8] = [
        ("scan", Box::new(|pages| timed(pages, |page| scan(&page.html)))),
        ("lol_html text", Box::new(|pages| timed(pages, |page| lol_html_text(&page.html)))),
        ("extract", Box::new(|pages| timed(pages, |page| extract(HEADER, page.html.as_bytes())))),
        ("read", Box::new(|pages| timed(pages, |page| read(page.html.as_bytes(), HEADER, ADDRESS)))),
        ("lol_html and gaoya", Box::new(|pages| timed(pages, |page| gaoya(&lol_html_text(&page.edited))))),
        ("verdict", Box::new(verdicts)),
        ("gaoya", Box::new(|pages| timed(pages, |page| gaoya(&page.text)))),
        ("sketch", Box::new(|pages| timed(pages, |page| sketch(&mut shingler, &page.text)))),
    ];
    let mut figures = vec![Vec::new(); contestants.len()];
    for _ in 0..rounds {
        for ((_, work), figures) in contestants.iter_mut().zip(&mut figures) {
            figures.push(work(black_box(&pages)).as_secs_f64() * 1e6 / pages.len() as f64);
        }
    }
    for ((name, _), figures) in contestants.iter().zip(figures) {
        let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.3}")).collect();
        println!("{name} us: {}", figures.join(" "));
    }
}

fn write(pages: &[Page], output: &Path) -> std::io::Result<()> {
    let texts: String = pages.iter().flat_map(|page| [page.text.as_str(), "\0"]).collect();
    std::fs::write(output.join("texts"), texts)?;
    let directory = output.join("pages");
    std::fs::create_dir(&directory)?;
    pages
        .iter()
        .enumerate()
        .try_for_each(|(number, page)| std::fs::write(directory.join(number.to_string()), &page.edited))
}

/// A fast wrong answer has no speed: the text is that of the way token by token.
fn check(page: &Page) {
    assert!(read(page.html.as_bytes(), HEADER, ADDRESS).full_text == page.text, "two ways to read a page differ");
}

/// Whether the new paragraph is seen, which it is where it does not stand in the frame of the page.
fn is_news(page: &Page) -> bool {
    let version = Version::new(page.edited.as_bytes(), HEADER, ADDRESS, &URLS);
    page.known.clone().observe(&version, None).meaningful
}

fn pages(directory: &Path) -> Vec<Page> {
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).expect("the corpus is a directory").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "html"));
    paths.sort();
    let every = paths.len().div_ceil(MOST_PAGES).max(1);
    let page = |path: &std::path::PathBuf| {
        let html = decode(&std::fs::read(path).expect("the corpus can be read"), Some("text/html")).text.into_owned();
        // Before the first paragraph, or else at the end.
        let place = html.find("<p>").unwrap_or(html.len());
        let edited = [&html[..place], "<p>A new paragraph came today. ", &html[place..]].concat();
        let mut known = PageState::default();
        known.observe(&Version::new(html.as_bytes(), HEADER, ADDRESS, &URLS), None);
        let text = extract(HEADER, html.as_bytes()).text;
        let digest = content_digest(edited.as_bytes());
        Page { html, text, edited, digest, known }
    };
    let pages: Vec<Page> = paths.iter().step_by(every).map(page).collect();
    assert!(!pages.is_empty(), "a corpus has pages");
    pages
}

fn timed<T>(pages: &[Page], mut work: impl FnMut(&Page) -> T) -> Duration {
    let begun = thread_time();
    for page in pages {
        black_box(work(page));
    }
    thread_time() - begun
}

/// From the bytes of each page to what they mean, without what it takes to get and keep the state it is judged by.
fn verdicts(pages: &[Page]) -> Duration {
    let mut known: Vec<PageState> = pages.iter().map(|page| page.known.clone()).collect();
    let mut states = known.iter_mut();
    timed(pages, |page| {
        let version =
            Version::of_body(&Body::new(page.edited.as_bytes(), HEADER, ADDRESS).with_digest(page.digest), &URLS);
        states.next().map(|known| known.observe(&version, None))
    })
}

/// The least a reader of markup does: from each `<` to the next `>`.
fn scan(page: &str) -> usize {
    let mut rest = page.as_bytes();
    let mut tags = 0;
    while let Some(open) = memchr::memchr(b'<', rest) {
        let Some(close) = memchr::memchr(b'>', &rest[open..]) else { break };
        rest = &rest[open + close..];
        tags += 1;
    }
    tags
}

fn lol_html_text(page: &str) -> String {
    let mut text = String::new();
    let handlers = DocumentContentHandlers::default().text(|chunk: &mut TextChunk<'_>| {
        text.push_str(chunk.as_str());
        Ok(())
    });
    let settings = Settings::new().append_document_content_handler(handlers).with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(page.as_bytes()).and_then(|()| rewriter.end()).expect("no handler fails");
    text
}

fn sketch(shingler: &mut Shingler, text: &str) -> Sketch {
    Sketch::of(shingler.shingles([text], DEFAULT_SHINGLE_WIDTH).iter().copied().map(u64::from))
}
