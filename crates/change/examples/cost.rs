//! What a page costs: microseconds of CPU time per page for extraction, fingerprint and comparison.
//!
//! `cargo run -p change --example cost -- DIRECTORY` reads the directory's HTML files; without one, a made-up page of 14 kB.

use change::{Fingerprint, compare, content_digest, decode, extract};
use std::hint::black_box;

fn main() -> std::io::Result<()> {
    let pages: Vec<Vec<u8>> = match std::env::args().nth(1) {
        Some(directory) => html_files(&directory)?,
        None => vec![made_up_page()],
    };
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!("{} pages, {} bytes on average", pages.len(), bytes / pages.len().max(1));
    let header = Some("text/html; charset=utf-8");
    let old: Vec<Fingerprint> = pages.iter().map(|page| Fingerprint::of(&extract(None, page), page)).collect();
    measure("digest of the body", &pages, |_, page| content_digest(page)[0] as usize);
    measure("decode", &pages, |_, page| decode(page, header).text.len());
    measure("decode + extract", &pages, |_, page| extract(header, page).text.len());
    measure("all up to the fingerprint", &pages, |_, page| {
        Fingerprint::of(&extract(header, page), page).shingles.len()
    });
    measure("all up to the verdict", &pages, |index, page| {
        let new = Fingerprint::of(&extract(header, page), page);
        compare(Some(&old[(index + 1) % old.len()]), &new).verdict as usize
    });
    Ok(())
}

/// The fastest of several rounds: other work on the machine can only add.
fn measure(what: &str, pages: &[Vec<u8>], work: impl Fn(usize, &[u8]) -> usize) {
    let repeats = 2_000usize.div_ceil(pages.len());
    let round = || {
        let start = cpu_micros();
        for _ in 0..repeats {
            for (index, page) in pages.iter().enumerate() {
                black_box(work(index, black_box(page)));
            }
        }
        (cpu_micros() - start) / (repeats * pages.len()) as f64
    };
    let fastest = (0..5).map(|_| round()).fold(f64::INFINITY, f64::min);
    println!("{fastest:8.1} µs/page  {what}");
}

/// CPU time of this thread: other work on the machine hardly disturbs it.
fn cpu_micros() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this example runs on Linux");
    let nanoseconds = statistics.split_whitespace().next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.expect("schedstat begins with the time on the CPU in ns") / 1e3
}

fn html_files(directory: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(std::fs::read(path)?);
        }
    }
    Ok(pages)
}

fn made_up_page() -> Vec<u8> {
    let mut page = String::from("<!doctype html><title>Made up</title><style>p{margin:0}</style><body>");
    let mut number = 1u64;
    while page.len() < 14_000 {
        number = change::splitmix64(number);
        let words: Vec<String> =
            (0..24).map(|index| format!("{:x}", change::splitmix64(number + index) >> 44)).collect();
        let text = words.join(" ");
        page.push_str(&format!("<div class=\"entry\"><h2><a href=\"/entry/{number}\">Entry {}</a></h2>", number % 999));
        page.push_str(&format!("<p class=\"text\">{text}, <b>bold</b> &amp; <code>code</code>.</p></div>\n"));
    }
    page.into_bytes()
}
