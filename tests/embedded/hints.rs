//! Hints from outside, on their way to the scheduler of a running crawl: a sitemap that robots.txt names, and pings.

use crate::site::serve;
use operate::Access;
use page::{HOUR, Timestamp};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};
use tests::{Crawl, SOON, wait_for};

const TOKEN: &str = "a-token-of-some-length";
const KEY: &str = "0123456789abcdef";
const PAGE: &str = "http://site.test/page";

/// A site whose robots.txt names a sitemap, which says that the page changes an hour from when it is asked.
fn site() -> SocketAddr {
    serve(|path| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let date = Timestamp::from_secs(since.as_secs() as i64) + HOUR;
        match path {
            "/robots.txt" => ("text/plain", "Sitemap: http://site.test/map.xml\n".to_owned()),
            "/map.xml" => {
                let entry = format!("<url><loc>{PAGE}</loc><lastmod>{date}</lastmod></url>");
                ("application/xml", format!("<urlset>{entry}</urlset>"))
            }
            _ => ("text/html", "<p>Nothing ever happens here, whatever they may say.".to_owned()),
        }
    })
}

/// Sends a request to the running crawl, and gives status and body.
pub(crate) fn request(crawl: &Crawl, method: &str, target: &str, headers: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(Access::noted(&crawl.data()).unwrap().address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let head =
        format!("{method} {target} HTTP/1.0\r\nhost: localhost\r\n{headers}content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    // A refusal may come before all of it was sent.
    let _ = stream.write_all(body.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no HTTP: {answer:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn kinds_of_hints(crawl: &Crawl) -> Option<u64> {
    let output = crawl.ask("explain", &[PAGE]);
    if output.status.success() { output.json()["hints"]["kinds"].as_u64() } else { None }
}

#[test]
fn a_sitemap_that_is_discovered_and_a_ping_both_become_hints() {
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={}", site()))
        .with("politeness.crawl_delay", "10ms")
        .with("policy.scan_interval", "20ms")
        .with("hints.discover", "true")
        .with("hints.token", TOKEN)
        .with("hints.indexnow", &format!("site.test={KEY}"));
    std::fs::write(crawl.seeds_file(), PAGE).unwrap();
    let running = crawl.run(&[]);
    wait_for("the sitemap is found, and says that the page has changed", SOON, || kinds_of_hints(&crawl) == Some(1));

    let ping = format!("{{\"url\": {PAGE:?}}}\n{{\"url\": \"nothing\"}}\n");
    assert_eq!(request(&crawl, "POST", "/hints", "authorization: Bearer guessed-something\r\n", &ping).0, 401);
    assert_eq!(kinds_of_hints(&crawl), Some(1));
    let authorization = format!("authorization: Bearer {TOKEN}\r\n");
    let (status, body) = request(&crawl, "POST", "/hints", &authorization, &ping);
    let reported: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, reported["taken"].as_u64(), reported["refused"].as_u64()), (200, Some(1), Some(1)));
    wait_for("the ping is heard", SOON, || kinds_of_hints(&crawl) == Some(2));

    assert_eq!(request(&crawl, "GET", &format!("/indexnow?url={PAGE}&key={KEY}"), "", "").0, 200);
    assert_eq!(request(&crawl, "GET", &format!("/indexnow?url={PAGE}&key=another-key"), "", "").0, 403);
    let long = " ".repeat(daemon::pings::MAX_BODY_BYTES + 1);
    assert_eq!(request(&crawl, "POST", "/hints", &authorization, &long).0, 413);
    // No setting opens WebSub. The token for pings gives no right to send commands.
    assert_eq!(request(&crawl, "GET", "/websub/news?hub.mode=subscribe", "", "").0, 404);
    let command = format!("{authorization}x-recrawl-command: 1\r\n");
    assert_eq!(request(&crawl, "POST", "/api/v1/seeds", &command, PAGE).0, 401);
    for line in ["recrawl_pings_taken_total 2", "recrawl_pings_refused_total 1", "recrawl_detector_lists_total 1"] {
        // The stages' own figures are renewed now and then.
        wait_for(line, SOON, || request(&crawl, "GET", "/metrics", "", "").1.lines().any(|found| found == line));
    }
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
}
