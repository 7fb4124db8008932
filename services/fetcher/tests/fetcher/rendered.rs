//! Pages that a browser renders, by what their server saw.

use crate::bench::{Bench, request, with_digest};
use messages::{FetchOutcome, FetchResult, body};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DELAY: Duration = Duration::from_millis(50);
/// Two clocks measure it, one on each side.
const CLOCKS_DIFFER: Duration = Duration::from_millis(1);

const PAGE: &str = "<!doctype html><title>Shop</title><div id=list></div><img src=/logo.png><script src=/app.js></script>\
    <script src=/private/spy.js></script><script src=http://other.test/ads.js></script>\
    <script src=http://cdn.shop.test/lib.js></script>";
const APP: &str = "fetch('/api/items').then(r => r.json()).then(items => { list.innerHTML = \
    items.map(item => `<p>${item}</p>`).join('') + (window.lib || ''); })";

/// A server of all hosts: its answers by address, and the requests that it saw.
#[derive(Clone, Default)]
struct Web {
    answers: Arc<Mutex<HashMap<String, String>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

#[derive(Clone, Debug)]
struct Seen {
    at: Instant,
    answered_at: Instant,
    address: String,
    head: String,
}

impl Web {
    fn set(&self, address: &str, status: &str, headers: &str, body: &str) {
        let answer =
            format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        self.answers.lock().unwrap().insert(address.to_owned(), answer);
    }

    fn shop() -> Self {
        let web = Self::default();
        let robots = "User-agent: *\nDisallow: /private/\n";
        web.set("shop.test/robots.txt", "200 OK", "", robots);
        web.set("cdn.shop.test/robots.txt", "200 OK", "", robots);
        web.set("shop.test/", "200 OK", "content-type: text/html\r\netag: \"page\"\r\n", PAGE);
        web.set("shop.test/app.js", "200 OK", "content-type: text/javascript\r\netag: \"app\"\r\n", APP);
        let kept = "content-type: text/javascript\r\ncache-control: max-age=3600\r\n";
        web.set("cdn.shop.test/lib.js", "200 OK", kept, "window.lib = '<p>library</p>'");
        web.items(&["Bike pump", "Saddle"]);
        web
    }

    fn items(&self, items: &[&str]) {
        let body = format!("[{}]", items.iter().map(|item| format!("{item:?}")).collect::<Vec<_>>().join(","));
        self.set("shop.test/api/items", "200 OK", "content-type: application/json\r\n", &body);
    }

    fn listen(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, web) = (listener.local_addr().unwrap(), self.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut head) = (stream.unwrap(), [0; 4_096]);
                let length = stream.read(&mut head).unwrap_or(0);
                let (at, head) = (Instant::now(), String::from_utf8_lossy(&head[..length]).to_lowercase());
                let host = head.split("host: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
                let address = format!("{host}{}", head.split(' ').nth(1).unwrap_or_default());
                let answer = web.answers.lock().unwrap().get(&address).cloned();
                let etag = answer.as_deref().and_then(|answer| answer.split("etag: ").nth(1)?.lines().next());
                let is_known = etag.is_some_and(|etag| head.contains(&format!("if-none-match: {etag}")));
                let missing = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
                let unchanged = "HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n".to_owned();
                let answer = if is_known { unchanged } else { answer.unwrap_or(missing) };
                let _ = stream.write_all(answer.as_bytes());
                web.seen.lock().unwrap().push(Seen { at, answered_at: Instant::now(), address, head });
            }
        });
        address
    }

    /// The addresses asked for since the last call, in order.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap()).into_iter().map(|seen| seen.address).collect()
    }
}

const RULE: &str = "[[rules]]\npages = [\"shop.test/*\"]\nrender = \"always\"\n";

fn text_of(result: &FetchResult) -> String {
    String::from_utf8(body::unpack(result.body.as_deref().unwrap(), 1 << 20).unwrap().into_owned()).unwrap()
}

#[test]
fn parts_of_a_rendered_page_are_asked_for_like_pages() {
    let web = Web::shop();
    let rules = format!("[politeness]\ncrawl_delay = \"50ms\"\n{RULE}");
    let mut bench = Bench::with_rules_alone(web.listen(), &rules);
    let result = bench.fetch("http://shop.test/");
    let look = &result.look;
    assert_eq!(
        (look.outcome, look.status, result.rendered),
        (FetchOutcome::Fetched, Some(200), true),
        "{:?}",
        result.detail
    );
    let text = text_of(&result);
    assert!(text.contains("<div id=\"list\"><p>Bike pump</p><p>Saddle</p><p>library</p></div>"), "{text}");
    assert_eq!(result.content_type.as_deref(), Some("text/html; charset=utf-8"));
    assert_eq!((&look.validators.etag, look.requests), (&None, 6));
    let seen = web.seen.lock().unwrap().clone();
    let mut asked: Vec<_> = seen.iter().map(|seen| seen.address.as_str()).collect();
    assert_eq!(asked[..2], ["shop.test/robots.txt", "shop.test/"]);
    asked.sort_unstable();
    let allowed = [
        "cdn.shop.test/lib.js",
        "cdn.shop.test/robots.txt",
        "shop.test/",
        "shop.test/api/items",
        "shop.test/app.js",
        "shop.test/robots.txt",
    ];
    assert_eq!(asked, allowed, "no picture, nothing that robots.txt forbids, nothing of another site");
    for host in ["shop.test/", "cdn.shop.test/"] {
        let of_host: Vec<_> = seen.iter().filter(|seen| seen.address.starts_with(host)).collect();
        for pair in of_host.windows(2) {
            let gap = pair[1].at.saturating_duration_since(pair[0].answered_at);
            assert!(gap + CLOCKS_DIFFER >= DELAY, "{} came {gap:?} after {}", pair[1].address, pair[0].address);
        }
    }
    assert!(seen.iter().all(|seen| seen.head.contains("user-agent: recrawl/")), "{seen:?}");
    let accept_of = |address: &str| seen.iter().find(|seen| seen.address == address).unwrap().head.clone();
    assert!(accept_of("shop.test/api/items").contains("accept: */*\r\n"));
    // What was received is there for archives.
    let received: Vec<_> =
        result.exchanges.iter().map(|exchange| (exchange.url.as_str(), exchange.body.is_some())).collect();
    assert_eq!(received[0], ("http://shop.test/", true));
    assert_eq!(received.len(), 4, "{received:?}");
}

#[test]
fn a_second_look_costs_the_document_and_its_data_and_finds_them_the_same() {
    let web = Web::shop();
    let mut bench = Bench::with_rules(web.listen(), RULE);
    let first = bench.fetch("http://shop.test/");
    web.asked();
    let again = with_digest(request("http://shop.test/"), &first);
    let second = bench.fetch_request(&again);
    assert_eq!(second.look.outcome, FetchOutcome::SameContent, "{:?}", second.detail);
    let seen = web.seen.lock().unwrap().clone();
    let conditional: Vec<_> =
        seen.iter().map(|seen| (seen.address.as_str(), seen.head.contains("if-none-match"))).collect();
    assert_eq!(conditional, [("shop.test/", false), ("shop.test/app.js", true), ("shop.test/api/items", false)]);
    web.items(&["Bike pump"]);
    web.asked();
    let third = bench.fetch_request(&again);
    assert_eq!(third.look.outcome, FetchOutcome::Fetched);
    assert!(!text_of(&third).contains("Saddle"));
    let asked = web.asked();
    assert_eq!(
        asked,
        ["shop.test/", "shop.test/app.js", "shop.test/api/items"],
        "each once, although a look came before"
    );
}

#[test]
fn no_browser_runs_where_the_document_its_scripts_and_its_data_are_as_they_were() {
    let web = Web::shop();
    // Each rendering writes another number, if only the script ran.
    web.set(
        "shop.test/time",
        "200 OK",
        "content-type: text/html\r\n",
        "<p id=p></p><script>p.textContent = Date.now()</script>",
    );
    let mut bench = Bench::with_rules(web.listen(), RULE);
    let first = bench.fetch("http://shop.test/time");
    let second = bench.fetch_request(&with_digest(request("http://shop.test/time"), &first));
    assert_eq!(second.look.outcome, FetchOutcome::SameContent);
    assert_eq!(second.look.body_length, first.look.body_length);
    let third = bench.fetch("http://shop.test/time");
    assert_ne!(text_of(&third), text_of(&first), "who has no copy gets one");
}

#[test]
fn where_the_rule_leaves_it_open_pages_are_rendered_that_gain_by_it() {
    let web = Web::shop();
    let shell = "<title>App</title><div id=root></div><script src=/idle.js></script>";
    web.set("shop.test/idle.js", "200 OK", "content-type: text/javascript\r\n", "window.idle = true");
    web.set("shop.test/shell", "200 OK", "content-type: text/html\r\n", shell);
    let text = format!(
        "<h1>Article</h1><p>{}</p><div id=root></div><script src=/app.js></script>",
        "A sentence. ".repeat(200)
    );
    web.set("shop.test/article", "200 OK", "content-type: text/html\r\n", &text);
    web.items(&[
        "Bike pump, made of steel, with a gauge that can be read at night, and a hose of one metre for every valve",
        "Saddle of leather, for long tours in the rain",
    ]);
    let mut bench = Bench::with_rules(web.listen(), &RULE.replace("always", "auto"));
    let article = bench.fetch("http://shop.test/article");
    assert!(!article.rendered && text_of(&article) == text, "it has its text");
    assert_eq!(web.asked(), ["shop.test/robots.txt", "shop.test/article"]);
    let gains = bench.fetch("http://shop.test/");
    assert!(gains.rendered && text_of(&gains).contains("Bike pump"), "{:?}", gains.detail);
    web.asked();
    for asked in [&["shop.test/shell", "shop.test/idle.js"][..], &["shop.test/shell"]] {
        let in_vain = bench.fetch("http://shop.test/shell");
        assert!(!in_vain.rendered && text_of(&in_vain) == shell);
        let exchange = in_vain.exchange_of_page().unwrap();
        assert_eq!((exchange.url.as_str(), &exchange.body), ("http://shop.test/shell", &None));
        assert_eq!(web.asked(), asked, "it is tried once");
    }
}

#[test]
fn a_part_that_fails_fails_the_look_until_it_is_known_to_fail_for_good() {
    let web = Web::shop();
    web.set("shop.test/app.js", "500 Internal Server Error", "", "");
    let mut bench = Bench::with_rules(web.listen(), RULE);
    for _ in 0..2 {
        let failed = bench.fetch("http://shop.test/");
        assert_eq!((failed.look.outcome, failed.rendered), (FetchOutcome::ServerError, false));
        let detail = failed.detail.unwrap();
        assert!(detail.contains("its part http://shop.test/app.js: status 500"), "{detail}");
    }
    web.set("shop.test/other", "200 OK", "content-type: text/html\r\n", PAGE);
    let other = bench.fetch("http://shop.test/other");
    assert_eq!(other.look.outcome, FetchOutcome::ServerError, "what failed at one page says nothing of another");
    let without = bench.fetch("http://shop.test/");
    assert_eq!(without.look.outcome, FetchOutcome::Fetched);
    assert!(text_of(&without).contains("<div id=\"list\"></div>"));
    // A host that wants to be left alone is asked for nothing more.
    web.set("shop.test/api/items", "429 Too Many Requests", "retry-after: 600\r\n", "");
    web.set("shop.test/app.js", "200 OK", "content-type: text/javascript\r\n", APP);
    let known = with_digest(request("http://shop.test/"), &without);
    let asked_again = bench.fetch_request(&known);
    assert_eq!(asked_again.look.outcome, FetchOutcome::RateLimited, "the part that failed is asked for again");
    assert!(asked_again.look.retry_after_s.is_some_and(|wait| wait > 500), "{asked_again:?}");
    web.asked();
    let held = bench.fetch("http://shop.test/other");
    assert!(held.look.was_not_sent() && web.asked().is_empty(), "{held:?}");
}

#[test]
fn a_page_that_never_ends_is_a_failed_look_and_other_answers_are_read_as_they_are() {
    let web = Web::shop();
    web.set("shop.test/loop", "200 OK", "content-type: text/html\r\n", "<p>before</p><script>for (;;) {}</script>");
    web.set("shop.test/data", "200 OK", "content-type: application/json\r\n", "{\"a\": 1}");
    let rules = format!("[fetch]\nrender_timeout = \"2s\"\n{RULE}");
    let mut bench = Bench::with_rules(web.listen(), &rules);
    let data = bench.fetch("http://shop.test/data");
    assert_eq!(
        (data.look.outcome, data.rendered, text_of(&data).as_str()),
        (FetchOutcome::Fetched, false, "{\"a\": 1}")
    );
    assert_eq!(bench.fetch("http://shop.test/missing").look.outcome, FetchOutcome::NotFound);
    let endless = bench.fetch("http://shop.test/loop");
    assert_eq!(endless.look.outcome, FetchOutcome::TimedOut);
    assert!(endless.detail.unwrap().contains("the page was not done within 2 s of work of the browser"));
    assert_eq!(bench.fetch("http://shop.test/").look.outcome, FetchOutcome::Fetched);
}
