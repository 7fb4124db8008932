//! How fast text and links are read from pages, beside lol_html and beside the least that any reader must do.
//!
//! `cargo run -p change --example extract_speed -- DIRECTORY…` reads the HTML files of each directory. Contestants take
//! turns within a round; printed are CPU time and the ratios round by round, as their median, least and most.

use change::extract;
use lol_html::{DocumentContentHandlers, HtmlRewriter, Settings};
use std::hint::black_box;

const ROUNDS: usize = 9;
const HEADER: Option<&str> = Some("text/html; charset=utf-8");

/// A contestant: what it is called, and what it makes of a page.
type Contestant = (&'static str, fn(&str) -> usize);

const CONTESTANTS: [Contestant; 4] = [
    ("memchr over < and >", scan),
    ("lol_html, text", lol_html_text),
    ("recrawl, text and links", |page| extract(HEADER, page.as_bytes()).text.len()),
    ("recrawl, all of `read`", |page| change::read(page.as_bytes(), HEADER, None).text.len()),
];

fn main() -> std::io::Result<()> {
    for directory in std::env::args().skip(1) {
        let pages = html_files(&directory)?;
        let bytes: usize = pages.iter().map(String::len).sum();
        println!("{directory}: {} pages, {} bytes on average", pages.len(), bytes / pages.len().max(1));
        let rounds: Vec<[f64; 4]> = (0..ROUNDS).map(|_| CONTESTANTS.map(|(_, read)| seconds(&pages, read))).collect();
        for (place, (name, _)) in CONTESTANTS.iter().enumerate() {
            let speed = spread(rounds.iter().map(|round| bytes as f64 / round[place] / 1e6).collect());
            let of_scan = spread(rounds.iter().map(|round| round[0] / round[place]).collect());
            let of_lol_html = spread(rounds.iter().map(|round| round[1] / round[place]).collect());
            println!("{name:24} {speed:.0?} MB/s, {of_scan:.2?} of the scan, {of_lol_html:.2?} × lol_html");
        }
    }
    Ok(())
}

/// Median, least and most.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values[values.len() / 2], values[0], values[values.len() - 1]]
}

fn seconds(pages: &[String], read: fn(&str) -> usize) -> f64 {
    let start = cpu_seconds();
    for page in pages {
        black_box(read(black_box(page)));
    }
    cpu_seconds() - start
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

fn lol_html_text(page: &str) -> usize {
    let mut text = String::new();
    let handlers = DocumentContentHandlers::default().text(|chunk: &mut lol_html::html_content::TextChunk<'_>| {
        text.push_str(chunk.as_str());
        Ok(())
    });
    let settings = Settings::new().append_document_content_handler(handlers).with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(page.as_bytes()).and_then(|()| rewriter.end()).expect("no handler fails");
    text.len()
}

/// CPU time of this thread: other work on the machine hardly disturbs it.
fn cpu_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this example runs on Linux");
    let nanoseconds = statistics.split_whitespace().next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.expect("schedstat begins with the time on the CPU in ns") / 1e9
}

fn html_files(directory: &str) -> std::io::Result<Vec<String>> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(change::decode(&std::fs::read(path)?, Some("text/html")).text.into_owned());
        }
    }
    Ok(pages)
}
