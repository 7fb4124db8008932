//! Answers that are not as the standards have them, and are read nevertheless.

use crate::bench::Bench;
use messages::{FetchOutcome, FetchResult};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Answers by path, as bytes. Other paths are not found.
struct RawWeb {
    address: SocketAddr,
}

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

impl RawWeb {
    fn start(answers: &[(&str, Vec<u8>)]) -> Self {
        let answers: HashMap<String, Vec<u8>> =
            answers.iter().map(|(path, answer)| ((*path).to_owned(), answer.clone())).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let answers = answers.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &answers));
            }
        });
        Self { address }
    }

    fn fetch(&self, path: &str) -> FetchResult {
        Bench::at(self.address, &[]).fetch(&format!("http://odd.test{path}"))
    }
}

fn serve(mut stream: TcpStream, answers: &HashMap<String, Vec<u8>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut first = String::new();
        reader.read_line(&mut first).ok().filter(|length| *length > 0)?;
        let mut line = String::new();
        while reader.read_line(&mut line).ok()? > 2 {
            line.clear();
        }
        let path = first.split(' ').nth(1)?;
        stream.write_all(answers.get(path).map_or(NOT_FOUND, Vec::as_slice)).ok()?;
    }
}

fn answer(head: &[u8], body: &str) -> Vec<u8> {
    let length = format!("\r\ncontent-length: {}\r\n\r\n", body.len());
    [b"HTTP/1.1 ", head, length.as_bytes(), body.as_bytes()].concat()
}

const PAGE: &str = "<p>Words that are read here.</p>";

#[test]
fn words_that_are_no_coding_hide_neither_pages_nor_robots_txt() {
    let robots = answer(b"200 OK\r\ncontent-encoding: UTF-8", "User-agent: *\nDisallow: /private\nSitemap: /map.xml\n");
    let page = answer(b"200 OK\r\ncontent-type: text/html\r\ncontent-encoding: none", PAGE);
    let web = RawWeb::start(&[("/robots.txt", robots), ("/page", page.clone()), ("/private", page)]);
    let result = web.fetch("/page");
    assert_eq!((result.look.outcome, result.look.body_length), (FetchOutcome::Fetched, PAGE.len() as i64));
    assert_eq!(result.sitemaps, ["http://odd.test/map.xml"]);
    assert_eq!(web.fetch("/private").look.outcome, FetchOutcome::RobotsDisallowed);
}

#[test]
fn a_redirect_in_latin_1_is_followed() {
    let web = RawWeb::start(&[
        ("/", answer(b"302 Found\r\nlocation: /caf\xe9", "")),
        ("/caf%E9", answer(b"200 OK\r\ncontent-type: text/html; charset=utf-8; title=\"caf\xe9\"", PAGE)),
    ]);
    let result = web.fetch("/");
    assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    assert_eq!(result.look.answered_by().as_str(), "http://odd.test/caf%E9");
    assert_eq!(result.content_type.as_deref(), Some("text/html; charset=utf-8; title=\"caf\u{fffd}\""));
}

#[test]
fn headers_that_concern_links_come_with_the_page() {
    let web = RawWeb::start(&[
        ("/plain", answer(b"200 OK", PAGE)),
        ("/tagged", answer(b"200 OK\r\nx-robots-tag: other: noindex\r\nX-Robots-Tag: nofollow", PAGE)),
        ("/hidden", answer(b"200 OK\r\nx-robots-tag: noindex", PAGE)),
        (
            "/reserved",
            answer(
                b"200 OK\r\nContent-Usage: train-ai=n, search=y\r\nContent-Signal: ai-input=no\r\n\
                  TDM-Reservation: 1\r\nTDM-Policy: http://x.test/p",
                PAGE,
            ),
        ),
        ("/moving", answer(b"200 OK\r\nRefresh: 0; url=/new", PAGE)),
    ]);
    let said = |path| {
        let result = web.fetch(path);
        (result.preferences.join(" "), result.refresh)
    };
    assert_eq!(said("/plain"), (String::new(), None));
    assert_eq!(said("/tagged"), ("follow=n@x-robots-tag".to_owned(), None));
    assert_eq!(said("/hidden"), ("index=n@x-robots-tag".to_owned(), None));
    assert_eq!(said("/moving"), (String::new(), Some("0; url=/new".to_owned())));
    let reserved = "search=y@content-usage train-ai=n@content-usage ai-input=n@content-signal tdm=n@tdm-reservation \
         tdm-policy=http://x.test/p@tdm-reservation";
    assert_eq!(said("/reserved"), (reserved.to_owned(), None));
}

#[test]
fn lines_of_robots_txt_on_the_use_of_pages_come_with_the_page() {
    let robots = "User-agent: *\nContent-Usage: /page train-ai=n\nContent-Signal: search=yes\nDisallow: /private\n\
        User-agent: other\nContent-Usage: / search=n\nLicense: http://x.test/l\n";
    let page = answer(b"200 OK\r\ncontent-usage: train-ai=y", PAGE);
    let web = RawWeb::start(&[
        ("/robots.txt", answer(b"200 OK", robots)),
        ("/page", page.clone()),
        ("/other", page.clone()),
        ("/private", page),
    ]);
    let said = |path| web.fetch(path).preferences;
    let (license, search) = ("license=http://x.test/l@robots.txt:license", "search=y@robots.txt:content-signal");
    let (stricter, laxer) = ("train-ai=n@robots.txt:content-usage", "train-ai=y@content-usage");
    assert_eq!(said("/page"), [search, stricter, laxer, license]);
    assert_eq!(said("/other"), [search, laxer, license]);
    assert!(said("/private").is_empty() && said("/missing").is_empty(), "they show no page");
}
