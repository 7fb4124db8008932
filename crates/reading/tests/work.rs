//! The memory that a page can make its readers ask for, in proportion to its length. In a program of its own, whose allocator
//! counts.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use document::Body;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

/// Bytes that a reader may ask for in all, for each byte of the page, …
const PER_BYTE: usize = 200;
/// … and beside.
const BESIDE: usize = 16 << 20;
/// Pages are so long.
const PAGE_BYTES: usize = 256 << 10;

/// The name of a reader, and its work on a page.
type Reader<'a> = (&'static str, Box<dyn FnOnce() + 'a>);

struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it hands every call on as it is.
#[allow(unsafe_code, reason = "an allocator is unsafe by its trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + layout.size()));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn asked_for(work: impl FnOnce()) -> usize {
    let before = ASKED.get();
    work();
    ASKED.get() - before
}

/// A text of so many bytes, by repeating what a number gives.
fn repeated(part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    (0..)
        .map(part)
        .take_while(|part| {
            text.push_str(part);
            text.len() < PAGE_BYTES
        })
        .for_each(drop);
    text
}

/// Pages that ask for as much as they can, by what they multiply.
fn pages() -> Vec<(&'static str, &'static str, String)> {
    let links = |base: usize| {
        let base = format!("<base href='http://x.test/{}'>", "A/".repeat(base));
        base + &repeated(|number| format!("<a href={}>x", number % 10))
    };
    let html = |name, text| (name, "text/html", text);
    let xml = |name, text| (name, "application/xml", text);
    let nested = |open: &str, close: &str| {
        let depth = PAGE_BYTES / (open.len() + close.len());
        format!("{}{}", open.repeat(depth), close.repeat(depth))
    };
    vec![
        html("a short base and many links", links(10)),
        html("a base as long as an address and many links", links(1_000)),
        html("a base of a megabyte and many links", links(1 << 19)),
        html("different links", repeated(|number| format!("<a href=/{number}>{number}</a> "))),
        html("links with titles", repeated(|number| format!("<a href=/{number} title='{number} words'>w</a>"))),
        html("one long line with links", repeated(|number| format!("word{number} <a href=/{number}>l</a> "))),
        html(
            "addresses that grow when they are written out",
            repeated(|_| "<a href=/\u{e9}\u{e9}\u{e9}>\u{e9}</a>".to_owned()),
        ),
        html("deep elements", nested("<div>", "</div>")),
        html("deep inline elements", nested("<b>", "</b>")),
        html("headings", repeated(|number| format!("<h1>{number}</h1>"))),
        html("canonicals", repeated(|number| format!("<link rel=canonical href=/{number}>"))),
        html("feeds", repeated(|number| format!("<link rel=alternate type=application/rss+xml href=/{number}>"))),
        html("metas", repeated(|number| format!("<meta name=robots content='a{number},b,c'>"))),
        html("dates", repeated(|number| format!("<time datetime=2026-01-{:02}>x</time>", number % 28 + 1))),
        html("attributes", format!("<p {}>", repeated(|number| format!("a{number}=b ")))),
        html("tables", repeated(|number| format!("<table><tr><td>{number}"))),
        html("entities", repeated(|_| "&amp;".to_owned())),
        html(
            "linked data",
            format!("<script type=application/ld+json>[{}1]</script>", repeated(|_| "{\"a\":1},".to_owned())),
        ),
        html(
            "linked data with a long name",
            format!(
                "<script type=application/ld+json>{{\"name\":\"{}\",\"price\":[{}1]}}</script>",
                "n".repeat(PAGE_BYTES / 2),
                "1,".repeat(PAGE_BYTES / 4)
            ),
        ),
        html(
            "data with comments",
            format!("<script type=application/ld+json>{{{}}}</script>", "a:b//c/*d".repeat(PAGE_BYTES / 9)),
        ),
        html("a number of many groups", format!("<p>1{} €", " 111".repeat(PAGE_BYTES / 4))),
        html("prices with cents", format!("<p>{}", "1€11 ".repeat(PAGE_BYTES / 5))),
        html("addresses of the page", repeated(|number| format!("<meta property=og:url content=/{number}>"))),
        html("deep linked data", format!("<script type=application/ld+json>{}</script>", nested("[", "]"))),
        ("lines", "text/plain", repeated(|number| format!("{number}\n"))),
        ("a JSON array", "application/json", format!("[{}1]", repeated(|number| format!("{number},")))),
        ("a JSON object", "application/json", format!("{{{}\"a\":1}}", repeated(|number| format!("\"k{number}\":1,")))),
        (
            "JSON with a long key",
            "application/json",
            format!("{{\"{}\":[{}1]}}", "k".repeat(PAGE_BYTES / 2), "1,".repeat(PAGE_BYTES / 4)),
        ),
        (
            "JSON with many keys on the way",
            "application/json",
            format!(
                "{}[{}1]{}",
                format!("{{\"{}\":", "k".repeat(1_000)).repeat(120),
                "1,".repeat(PAGE_BYTES / 4),
                "}".repeat(120)
            ),
        ),
        (
            "JSON whose elements have long names",
            "application/json",
            format!(
                "[{{\"name\":\"{}\",\"v\":[{}1]}}]",
                "n n".repeat(20),
                repeated(|number| format!("{{\"name\":\"{number}\",\"b\":1}},"))
            ),
        ),
        ("deep JSON", "application/json", nested("[", "]")),
        xml("deep XML", nested("<a>", "</a>")),
        xml(
            "a sitemap",
            format!("<urlset>{}</urlset>", repeated(|n| format!("<url><loc>http://a.test/{n}</loc></url>"))),
        ),
        xml(
            "a feed",
            format!("<rss><channel>{}</channel></rss>", repeated(|n| format!("<item><link>/{n}</link></item>"))),
        ),
        xml(
            "a feed with a long base within",
            format!(
                "<feed><entry xml:base='http://a.test/{}'>{}</entry></feed>",
                "b/".repeat(1_000),
                repeated(|n| format!("<link href='{n}'/>"))
            ),
        ),
        xml(
            "a feed with a long relative base within",
            format!(
                "<feed><entry xml:base='{}'>{}</entry></feed>",
                "b/".repeat(1_000),
                repeated(|n| format!("<link href='{n}'/>"))
            ),
        ),
        xml("attributes in XML", format!("<urlset {}/>", repeated(|number| format!("a{number}=\"b\" ")))),
    ]
}

#[test]
fn no_reader_asks_for_more_memory_than_in_proportion_to_the_page() {
    let mut too_much = String::new();
    for (name, content_type, page) in pages() {
        let (bytes, url) = (page.as_bytes(), Some("http://a.test/dir/page"));
        let most = PER_BYTE * bytes.len() + BESIDE;
        let readers: [Reader<'_>; 3] = [
            ("reading::read", Box::new(move || drop(reading::read(bytes, Some(content_type), url)))),
            ("document", Box::new(move || drop(Body::new(bytes, Some(content_type), url).blocks_and_text()))),
            ("sitemaps", Box::new(move || drop(sitemaps::read(bytes)))),
        ];
        for (reader, work) in readers {
            let asked = asked_for(work);
            if asked > most {
                writeln!(too_much, "{reader}, {name}: {asked} for {} bytes", bytes.len()).unwrap();
            }
        }
    }
    assert!(too_much.is_empty(), "{too_much}");
}
