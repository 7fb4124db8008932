//! Headers that are too many, too long, malformed, or contradictory.

use crate::hostile::script::{ReplyScript, ScriptStep, answer, by_request, head, page, page_bytes, raw, steps};
use crate::hostile::{Expect, Misbehaviour};
use std::time::Duration;

const MALFORMED: Expect = Expect::none("malformed_response");
const FIVE: Expect = Expect::page(5);

/// A page of five bytes with further header lines.
fn with(headers: &str) -> ReplyScript {
    page(headers, "hello")
}

/// The same with bytes that are not text.
fn with_bytes(headers: &[u8]) -> ReplyScript {
    raw([&b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n"[..], headers, b"\r\nhello"].concat())
}

fn unavailable(headers: &str) -> ReplyScript {
    answer("503 Service Unavailable", headers)
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let limited = Expect::answer("rate_limited", 503);
    let failed = Expect::answer("server_error", 503);
    vec![
        case("header-of-1-mib", with(&format!("x-long: {}\r\n", "x".repeat(1 << 20))), MALFORMED),
        case("header-name-of-1-mib", with(&format!("{}: x\r\n", "x".repeat(1 << 20))), MALFORMED),
        case("headers-10000", with(&"x: y\r\n".repeat(10_000)), MALFORMED),
        case(
            "headers-endless",
            steps(vec![
                ScriptStep::Send(b"HTTP/1.1 200 OK\r\n".to_vec()),
                ScriptStep::Forever(b"x-more: more\r\n".repeat(64)),
            ]),
            MALFORMED,
        ),
        case(
            "header-value-endless",
            steps(vec![
                ScriptStep::Send(b"HTTP/1.1 200 OK\r\nx-more: ".to_vec()),
                ScriptStep::Forever(b"more".repeat(256)),
            ]),
            MALFORMED,
        ),
        case(
            "headers-dripping",
            {
                let drip = ScriptStep::Drip(b"x-more: more\r\n".to_vec(), Duration::from_millis(20));
                steps(vec![ScriptStep::Send(b"HTTP/1.1 200 OK\r\n".to_vec()), drip])
            },
            Expect::none("timed_out"),
        )
        .stalling(),
        case(
            "headers-then-silence",
            steps(vec![ScriptStep::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n".to_vec()), ScriptStep::Hold]),
            Expect::none("timed_out"),
        )
        .stalling(),
        case("headers-cut-off", raw("HTTP/1.1 200 OK\r\ncontent-type: text/ht"), Expect::none("connection_lost")),
        case("header-without-colon", with("x-broken\r\n"), FIVE),
        case("header-without-name", with(": value\r\n"), FIVE),
        case("header-name-with-space", with("x broken: value\r\n"), FIVE),
        case("header-name-space-behind", with("x-broken : value\r\n"), FIVE),
        case("header-name-utf-8", with("x-br\u{f6}ken: value\r\n"), FIVE),
        case("header-name-nul", with("x-\0: value\r\n"), MALFORMED),
        case("header-value-nul", with("x-broken: a\0b\r\n"), MALFORMED),
        case("header-value-bare-cr", with("x-broken: a\rb\r\n"), MALFORMED),
        case("header-value-escape", with("x-broken: a\x1b[31mb\r\n"), FIVE),
        case("header-value-latin-1", with_bytes(b"x-name: Tr\xe8s\r\n"), FIVE),
        case("header-value-utf-8", with("x-name: \u{6f22}\u{5b57}\r\n"), FIVE),
        case("header-folded", with("x-folded: a\r\n b\r\n"), FIVE),
        case("header-first-folded", raw("HTTP/1.1 200 OK\r\n x: y\r\ncontent-length: 0\r\n\r\n"), Expect::page(0)),
        case("content-length-name-space-behind", raw("HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\nhello"), MALFORMED),
        case("content-length-folded", raw("HTTP/1.1 200 OK\r\ncontent-length:\r\n 5\r\n\r\nhello"), MALFORMED),
        case("header-value-empty", with("x-empty:\r\nx-blank:      \r\n"), FIVE),
        case("headers-500", with(&"x: y\r\n".repeat(500)), FIVE),
        // Cookies are off: a client that sends one back gets an error.
        case(
            "cookies-500",
            {
                by_request(|asked| match asked.has("cookie") {
                    true => vec![ScriptStep::Send(crate::hostile::script::answer_bytes("400 Bad Request", ""))],
                    false => vec![ScriptStep::Send(page_bytes(&"set-cookie: a=b; path=/\r\n".repeat(500), "hello"))],
                })
            },
            FIVE,
        )
        .again(Expect { outcome: "same_content", ..FIVE }),
        case("content-type-twice", with("content-type: image/png\r\n"), FIVE),
        case(
            "content-type-of-10-kib",
            {
                raw(format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-type: {}\r\n\r\nhello",
                    "x".repeat(10_000)
                ))
            },
            FIVE,
        ),
        case("content-type-absent", raw("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"), FIVE),
        case("content-type-not-ascii", with_bytes(b"content-type: text/html; charset=\xff\xfe\r\n"), FIVE),
        case("date-of-nonsense", with("date: yesterday\r\nexpires: -1\r\nage: -5\r\n"), FIVE),
        case("upgrade-unasked", with("upgrade: h2c\r\n"), FIVE),
        case("refresh-to-loopback", with("refresh: 0; url=http://127.0.0.1/\r\n"), FIVE),
        case("location-without-redirect", with("location: http://127.0.0.1/\r\n"), FIVE),
        case("close-promised-not-kept", steps(vec![ScriptStep::Send(page_bytes("", "hello")), ScriptStep::Hold]), FIVE),
        case("keep-alive-promised-not-kept", raw("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"), FIVE)
            .again(Expect { outcome: "same_content", ..FIVE }),
        case(
            "proxy-authentication-asked",
            answer("407 Proxy Authentication Required", "proxy-authenticate: Basic realm=x\r\n"),
            Expect::answer("client_error", 407),
        ),
        case(
            "password-asked",
            answer("401 Unauthorized", "www-authenticate: Basic realm=\"give me your password\"\r\n"),
            Expect::answer("client_error", 401),
        ),
        case("retry-after-10-to-the-9", unavailable("retry-after: 1000000000\r\n"), limited.clone()),
        case(
            "retry-after-10-to-the-30",
            unavailable(&format!("retry-after: 1{}\r\n", "0".repeat(30))),
            limited.clone(),
        ),
        case("retry-after-year-9999", unavailable("retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n"), limited.clone()),
        case("retry-after-long-ago", unavailable("retry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\n"), limited),
        case("retry-after-negative", unavailable("retry-after: -120\r\n"), failed.clone()),
        case("retry-after-fraction", unavailable("retry-after: 1.5\r\n"), failed.clone()),
        case("retry-after-soon", unavailable("retry-after: soon\r\n"), failed),
        case("retry-after-with-429", answer("429 Slow Down", "retry-after: 99999999\r\n"), {
            Expect::answer("rate_limited", 429)
        }),
        case("retry-after-with-200", with("retry-after: 3600\r\n"), FIVE),
        case("head-alone", raw(head("")), Expect::page(0)),
    ]
}
