//! Validators that change for no reason, never change, or are malformed; statuses that change their meaning.

use crate::hostile::script::{ReplyScript, ScriptStep, answer, answer_bytes, by_request, page, page_bytes};
use crate::hostile::{Expect, Misbehaviour};
use std::sync::atomic::{AtomicU64, Ordering};

const FIVE: Expect = Expect::page(5);
const SAME: Expect = Expect { outcome: "same_content", ..FIVE };
const NOT_MODIFIED: Expect = Expect::answer("not_modified", 304);

/// A page with these headers, and 304 for a request with a validator.
fn confirming(headers: &'static str) -> ReplyScript {
    by_request(move |asked| {
        vec![ScriptStep::Send(match asked.has("if-none-match") || asked.has("if-modified-since") {
            true => answer_bytes("304 Not Modified", headers),
            false => page_bytes(headers, "hello"),
        })]
    })
}

/// A page the first time, this status the second time.
fn then(status: &'static str) -> ReplyScript {
    let asked_before = AtomicU64::new(0);
    by_request(move |_| {
        vec![ScriptStep::Send(match asked_before.fetch_add(1, Ordering::Relaxed) {
            0 => page_bytes("", "hello"),
            _ => answer_bytes(status, ""),
        })]
    })
}

/// A redirect to another target at each request, as `/latest` and roll-backs make it. Each target confirms whatever
/// validators it is asked with.
fn moving(targets: [&'static str; 2]) -> ReplyScript {
    let asked_before = AtomicU64::new(0);
    by_request(move |asked| {
        vec![ScriptStep::Send(match asked.path.as_str() {
            "/" => {
                let number = asked_before.fetch_add(1, Ordering::Relaxed) as usize;
                answer_bytes("302 Found", &format!("location: {}\r\n", targets[number % 2]))
            }
            _ if asked.has("if-none-match") || asked.has("if-modified-since") => answer_bytes("304 Not Modified", ""),
            "/older" => page_bytes("last-modified: Mon, 02 Nov 2026 10:00:00 GMT\r\n", "older"),
            _ => page_bytes("last-modified: Sun, 22 Nov 2026 10:00:00 GMT\r\netag: \"1\"\r\n", "newer"),
        })]
    })
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let counter = AtomicU64::new(0);
    let changing = by_request(move |_| {
        let etag = counter.fetch_add(1, Ordering::Relaxed);
        vec![ScriptStep::Send(page_bytes(&format!("etag: \"{etag}\"\r\n"), "hello"))]
    });
    let second = |name: &str, status, outcome, code| {
        Misbehaviour::new(name, then(status), FIVE).again(Expect::answer(outcome, code))
    };
    vec![
        case("etag-changing-each-time", changing, FIVE).again(SAME),
        case("etag-of-60-kib", page(&format!("etag: \"{}\"\r\n", "x".repeat(60_000)), "hello"), FIVE).again(SAME),
        case("etag-unquoted", confirming("etag: abc\r\n"), FIVE).again(NOT_MODIFIED),
        case("etag-empty", page("etag:\r\n", "hello"), FIVE).again(SAME),
        case("etag-star", page("etag: *\r\n", "hello"), FIVE).again(SAME),
        case("etag-half-quoted", page("etag: W/\"\r\n", "hello"), FIVE).again(SAME),
        case("etag-not-ascii", page("etag: \"\u{e9}\"\r\n", "hello"), FIVE).again(SAME),
        case("etag-twice", page("etag: \"a\"\r\netag: \"b\"\r\n", "hello"), FIVE).again(SAME),
        case("modified-in-2099", confirming("last-modified: Thu, 31 Dec 2099 23:59:59 GMT\r\n"), FIVE)
            .again(NOT_MODIFIED),
        case("modified-before-1970", confirming("last-modified: Fri, 01 Jan 1904 00:00:00 GMT\r\n"), FIVE)
            .again(NOT_MODIFIED),
        case("modified-on-no-day", page("last-modified: Thu, 31 Feb 2020 25:61:61 GMT\r\n", "hello"), FIVE).again(SAME),
        case("modified-yesterday", page("last-modified: yesterday\r\n", "hello"), FIVE).again(SAME),
        case("modified-of-10-kib", page(&format!("last-modified: {}\r\n", "9".repeat(10_000)), "hello"), FIVE)
            .again(SAME),
        case("redirect-that-moves", moving(["/newer", "/older"]), FIVE).again(FIVE).asked(2),
        case("redirect-that-stays", moving(["/newer", "/newer"]), FIVE).again(NOT_MODIFIED).asked(2),
        case("not-modified-at-first-sight", answer("304 Not Modified", ""), Expect::none("malformed_response")),
        case(
            "not-modified-with-another-etag",
            {
                by_request(|asked| {
                    vec![ScriptStep::Send(match asked.has("if-none-match") {
                        true => answer_bytes("304 Not Modified", "etag: \"b\"\r\n"),
                        false => page_bytes("etag: \"a\"\r\n", "hello"),
                    })]
                })
            },
            FIVE,
        )
        .again(NOT_MODIFIED),
        case(
            "not-modified-with-a-body",
            {
                by_request(|asked| {
                    vec![ScriptStep::Send(match asked.has("if-none-match") {
                        true => b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\nhello".to_vec(),
                        false => page_bytes("etag: \"a\"\r\n", "hello"),
                    })]
                })
            },
            FIVE,
        )
        .again(NOT_MODIFIED),
        second("then-400", "400 Bad Request", "client_error", 400),
        second("then-402", "402 Pay", "payment_required", 402),
        second("then-403", "403 Forbidden", "client_error", 403),
        second("then-404", "404 Not Found", "not_found", 404),
        second("then-410", "410 Gone", "gone", 410),
        second("then-412", "412 Precondition Failed", "client_error", 412),
        second("then-418", "418 Teapot", "client_error", 418),
        second("then-429", "429 Slow Down", "rate_limited", 429),
        second("then-451", "451 Lawyers", "client_error", 451),
        second("then-500", "500 Oops", "server_error", 500),
        second("then-503", "503 Busy", "server_error", 503),
        second("then-520", "520 Cloud", "server_error", 520),
    ]
}
