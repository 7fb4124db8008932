//! The operator's rules for single pages, by what servers see.

use crate::bench::Bench;
use messages::FetchOutcome;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

type Seen = Arc<Mutex<Vec<String>>>;

/// A server of all hosts that notes the heads of requests. `/away` redirects to another host.
fn server() -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, seen) = (listener.local_addr().unwrap(), Seen::default());
    let noted = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut head) = (stream.unwrap(), [0; 4_096]);
            let length = stream.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let answer = match head.split(' ').nth(1) {
                Some("/robots.txt") => "404 Not Found\r\n",
                Some("/away") => "302 Found\r\nlocation: http://denied.test/x\r\n",
                _ => "200 OK\r\n",
            };
            noted.lock().unwrap().push(head);
            let _ = write!(stream, "HTTP/1.1 {answer}content-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (address, seen)
}

const RULES: &str = "[[rules]]\npages = [\"denied.test\", \"*/secret/*\"]\ncrawl = \"deny\"\n\
                     [[rules]]\npages = [\"http://a.test/de/*\"]\nheaders = { Accept-Language = \"de\", X-Key = \"k1\" }\n";

#[test]
fn a_redirect_to_a_denied_page_ends_there_and_its_host_is_not_even_asked_for_robots_txt() {
    let (address, seen) = server();
    let mut bench = Bench::with_rules(address, RULES);
    let result = bench.fetch("http://a.test/away");
    assert_eq!(result.look.outcome, FetchOutcome::OutOfScope);
    assert!(result.detail.unwrap().contains("rule 1 denies it"));
    assert_eq!(bench.fetch("http://a.test/secret/x").look.outcome, FetchOutcome::OutOfScope);
    let seen = seen.lock().unwrap();
    let asked: Vec<_> = seen.iter().map(|head| head.split(' ').nth(1).unwrap()).collect();
    assert_eq!(asked, ["/robots.txt", "/away"]);
    assert!(seen.iter().all(|head| head.contains("host: a.test")));
}

#[test]
fn the_headers_of_a_rule_go_to_its_pages_alone() {
    let (address, seen) = server();
    let mut bench = Bench::with_rules(address, RULES);
    for path in ["/de/x", "/en/x"] {
        assert_eq!(bench.fetch(&format!("http://a.test{path}")).look.outcome, FetchOutcome::Fetched);
    }
    let seen = seen.lock().unwrap();
    let with_key: Vec<_> = seen.iter().filter(|head| head.to_lowercase().contains("x-key: k1")).collect();
    assert_eq!(with_key.len(), 1, "{seen:?}");
    assert!(with_key[0].starts_with("GET /de/x ") && with_key[0].to_lowercase().contains("accept-language: de"));
}

#[test]
fn the_headers_of_a_rule_that_names_no_scheme_are_not_sent_in_clear() {
    let (address, seen) = server();
    let mut bench = Bench::with_rules(address, &RULES.replace("http://a.test", "a.test"));
    assert_eq!(bench.fetch("http://a.test/de/x").look.outcome, FetchOutcome::Fetched);
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty() && seen.iter().all(|head| !head.to_lowercase().contains("k1")), "{seen:?}");
}

#[test]
fn a_page_whose_rule_is_unknown_is_not_asked_for() {
    let (address, seen) = server();
    let rules = "[[rules]]\npages = ['regex:/((a|aa)+(?<!q))+/secret$']\ncrawl = \"deny\"\n";
    let mut bench = Bench::with_rules(address, rules);
    let result = bench.fetch(&format!("http://a.test/{}!/aaaa/secret", "a".repeat(60)));
    assert_eq!(result.look.outcome, FetchOutcome::OutOfScope);
    assert!(result.detail.unwrap().contains("an expression of rule 1 takes too many steps"));
    assert!(seen.lock().unwrap().is_empty());
}
