//! Sites with a page that no program can read which may take little memory.

use crate::site::{answer, serve_answers};
use std::path::Path;

/// Variables that limit what a program allocates, databases excepted, to less than a reader of the page needs. The program
/// aborts there, as programs do wherever memory runs out. With 96 to 128 MiB the page is fetched and cannot be read.
pub(crate) const LITTLE_MEMORY: [(&str, &str); 2] =
    [("MIMALLOC_RESERVE_OS_MEMORY", "112MiB"), ("MIMALLOC_DISALLOW_OS_ALLOC", "1")];

/// Pages that cost little.
pub(crate) const OTHERS: usize = 20;

/// Why the page is set aside, up to a time.
pub(crate) const WHY: &str = "2 times the process ended while it processed http://deadly.test/; it is set aside until ";

/// The page has as many short paragraphs as it may have bytes.
fn deadly() -> String {
    let mut body = String::new();
    for number in 0_u32.. {
        let paragraph = format!("<p>{number:x}");
        if body.len() + paragraph.len() > 7 << 20 {
            break;
        }
        body += &paragraph;
    }
    body
}

/// Serves the pages and writes the file of their addresses. Returns settings with which they are crawled.
pub(crate) fn serve(seeds: &Path) -> [(&'static str, String); 4] {
    let others = (0..OTHERS).map(|number| format!("http://other-{number}.test/"));
    let addresses: Vec<_> = others.chain(["http://deadly.test/".to_owned()]).collect();
    std::fs::write(seeds, addresses.join("\n")).unwrap();
    let site = serve_answers(|request| match (request.path(), request.header("host")) {
        ("/robots.txt", _) => answer("404 Not Found", ""),
        (_, Some("deadly.test")) => answer("200 OK\r\ncontent-type: text/html", deadly()),
        (_, host) => answer("200 OK\r\ncontent-type: text/html", format!("<p>The words of {host:?}.")),
    });
    [
        ("fetch.resolve", format!("*.test={site}")),
        ("fetch.max_body", "7MiB".to_owned()),
        ("politeness.crawl_delay", "0s".to_owned()),
        ("policy.scan_interval", "20ms".to_owned()),
    ]
}
