//! Answers of the port: their form, their methods, and what they keep from browsers and strangers.

use crate::port::echo;
use crate::port::{TOKEN, get, port_with, post, sent};
use daemon::http::{Call, OrderKind, PROBLEM, STEP_TIMEOUT, Task, TextResponse, routes};
use messages::CommandKind;
use serde_json::Value;
use std::io::Read;
use std::net::SocketAddr;

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Lines of the head, in lower case.
    pub(crate) head: Vec<String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

pub(crate) fn ask(address: SocketAddr, request: &str) -> Answer {
    let mut text = String::new();
    sent(address, request).read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let head: Vec<_> = head.lines().map(str::to_ascii_lowercase).collect();
    Answer { status: head[0].split(' ').nth(1).unwrap().parse().unwrap(), head, body: body.to_owned() }
}

/// A request without a body.
pub(crate) fn bare(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n{headers}\r\n")
}

/// Carries out commands, but to forget pages fails.
fn carry_out(call: &Call<'_>) -> TextResponse {
    assert!(call.task != Task::Order(OrderKind::Command(CommandKind::Forget)), "the password is tulip");
    echo(call)
}

#[test]
fn every_refusal_is_a_problem_document_that_names_its_status() {
    let (_open, address) = port_with(STEP_TIMEOUT, carry_out);
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    let requests = [
        (400, post("/indexnow", 0, "").replace("content-length: 0", "transfer-encoding: chunked") + "x\r\n"),
        (401, bare("GET", "/changes.atom", "")),
        (401, bare("POST", "/api/v1/pages/refetch", "x-recrawl-command: 1\r\n")),
        (403, bare("POST", "/api/v1/pages/refetch", &bearer)),
        (404, bare("GET", "/../../etc/passwd", &bearer)),
        (404, post("/%2e%2e/http.token", 0, "")),
        (404, bare("GET", "/websub/news?hub.mode=subscribe", "")),
        (405, bare("DELETE", "/status", &bearer)),
        (405, bare("PUT", "/api/v1/pages/refetch", &bearer)),
        (409, bare("GET", "/status", "x-recrawl-log: another\r\n")),
        (413, post("/indexnow", 5 << 20, &" ".repeat(5 << 20))),
        (421, get("/status").replace("localhost", "elsewhere.test")),
        (500, post("/api/v1/pages/forget", 0, "")),
    ];
    for (status, request) in requests {
        let start: String = request.chars().take(100).collect();
        let answer = ask(address, &request);
        assert_eq!((answer.status, answer.header("content-type")), (status, Some(PROBLEM)), "{start}");
        let problem: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(problem["status"], status, "{start}");
        let is_text = |member: &str| problem[member].as_str().is_some_and(|text| !text.trim().is_empty());
        assert!(is_text("title") && is_text("detail"), "{start}: {problem}");
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401, "{start}");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{start}");
        assert!(!answer.body.contains("tulip"), "words of a fault are for the log: {}", answer.body);
    }
}

#[test]
fn a_method_that_a_path_lacks_is_refused_with_those_that_it_has() {
    let (_open, address) = port_with(STEP_TIMEOUT, carry_out);
    let headers = format!("x-recrawl-command: 1\r\nauthorization: Bearer {TOKEN}\r\n");
    for (path, allowed) in [
        ("/healthz", "get, head, options"),
        ("/readyz", "get, head, options"),
        ("/metrics", "get, head, options"),
        ("/status", "get, head, options"),
        ("/openapi.json", "get, head, options"),
        ("/changes.atom", "get, head, options"),
        ("/api/v1/seeds", "post, options"),
        ("/api/v1/focuses/lamps", "delete, options"),
        ("/hints", "post, options"),
        ("/indexnow", "get, post, options"),
    ] {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "BREW"] {
            let answer = ask(address, &bare(method, path, &headers));
            let is_allowed = allowed.split(", ").any(|allowed| allowed.eq_ignore_ascii_case(method));
            assert_eq!(answer.status != 405, is_allowed, "{method} {path}");
            let lists = method == "OPTIONS" || !is_allowed;
            assert_eq!(answer.header("allow"), lists.then_some(allowed), "{method} {path}");
        }
    }
}

#[test]
fn head_has_the_status_and_length_of_get_and_no_body() {
    let (_open, address) = port_with(STEP_TIMEOUT, carry_out);
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    for (path, headers) in
        [("/healthz", ""), ("/changes.atom", &bearer), ("/changes.atom", ""), ("/none", &bearer), ("/openapi.json", "")]
    {
        let [get, head] = ["GET", "HEAD"].map(|method| ask(address, &bare(method, path, headers)));
        assert_eq!((head.status, head.header("content-length")), (get.status, get.header("content-length")), "{path}");
        assert!(head.body.is_empty() && !get.body.is_empty(), "{path}");
    }
}

#[test]
fn no_answer_runs_in_a_browser_or_lets_another_origin_in() {
    let (_open, address) = port_with(STEP_TIMEOUT, carry_out);
    let markup = "<script>alert(1)</script>";
    let origin = "origin: https://evil.test\r\n";
    let preflight = format!("{origin}access-control-request-headers: x-recrawl-command\r\n");
    let reflected =
        [get("/status").replace("localhost", markup), bare("GET", "/status", &format!("x-recrawl-log: {markup}\r\n"))];
    for request in &reflected {
        let answer = ask(address, request);
        assert!(answer.body.contains(markup), "this case reflects: {}", answer.body);
        assert_eq!(answer.header("content-type"), Some(PROBLEM));
    }
    let others = [
        get("/healthz"),
        bare("GET", "/status", origin),
        bare("OPTIONS", "/api/v1/pages/refetch", &preflight),
        post("/api/v1/pages/refetch", 0, ""),
        post("/api/v1/pages/refetch", 0, "").replace("\r\nhost", &format!("\r\n{}host", origin)),
    ];
    for request in reflected.iter().chain(&others) {
        let answer = ask(address, request);
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{request}");
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{request}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{request}");
        assert!(!answer.head.iter().any(|line| line.starts_with("access-control-")), "{request}");
    }
}

#[test]
fn strangers_do_not_learn_the_version_and_owners_of_a_key_do() {
    let (_open, address) = port_with(STEP_TIMEOUT, carry_out);
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    for route in routes().filter(|route| route.method.name() == "GET") {
        let answer = ask(address, &bare("GET", &route.path_with(Some("x")), ""));
        assert!(!answer.body.contains(&version) && answer.header("server").is_none(), "{}", route.path);
    }
    assert!(ask(address, &bare("GET", "/metrics", "")).body.contains("recrawl_build_info{version=\"\"} 1"));
    assert!(ask(address, &bare("GET", "/metrics", &bearer)).body.contains(&version));
}
