//! Redirects in a circle, to nowhere, or to forbidden targets.

use crate::hostile::script::{
    Asked, ReplyScript, ScriptStep, answer, answer_bytes, by_request, page_bytes, raw, steps,
};
use crate::hostile::{Expect, Misbehaviour, REDIRECTS};

const TOO_MANY: Expect = Expect::none("too_many_redirects");
const REFUSED: Expect = Expect::none("address_refused");
const FIVE: Expect = Expect::page(5);

fn to(location: &str) -> ReplyScript {
    answer("302 Found", &format!("location: {location}\r\n"))
}

/// A redirect from `/`, and a page at its target.
fn once(location: &'static str) -> ReplyScript {
    by_request(move |asked| match asked.path.as_str() {
        "/" => vec![ScriptStep::Send(answer_bytes("301 Moved", &format!("location: {location}\r\n")))],
        _ => vec![ScriptStep::Send(page_bytes("", "hello"))],
    })
}

/// `/1`, `/2` … up to a page behind this many redirects.
fn chain(hops: usize) -> ReplyScript {
    by_request(move |asked| {
        let number: usize = asked.path.trim_start_matches('/').parse().unwrap_or(0);
        vec![ScriptStep::Send(match number < hops {
            true => answer_bytes("302 Found", &format!("location: /{}\r\n", number + 1)),
            false => page_bytes("", "hello"),
        })]
    })
}

fn growing(asked: &Asked) -> Vec<ScriptStep> {
    vec![ScriptStep::Send(answer_bytes("302 Found", &format!("location: {}x\r\n", asked.path)))]
}

fn circles() -> Vec<Misbehaviour> {
    let case = |name: &str, page, expect| Misbehaviour::new(name, page, expect).asked(1 + REDIRECTS);
    vec![
        case("redirect-to-itself", to("/"), TOO_MANY),
        case("redirect-to-nothing", to(""), TOO_MANY),
        case(
            "redirect-in-a-circle",
            {
                by_request(|asked| {
                    let next = if asked.path == "/" { "/other" } else { "/" };
                    vec![ScriptStep::Send(answer_bytes("307 Temporary Redirect", &format!("location: {next}\r\n")))]
                })
            },
            TOO_MANY,
        ),
        case("redirect-ever-longer", by_request(growing), TOO_MANY),
        case(
            "redirect-between-names",
            {
                by_request(|asked| {
                    let next = if asked.head.contains("\r\nhost: redirect-between-names.test") { "a" } else { "b" };
                    vec![ScriptStep::Send(answer_bytes(
                        "302 Found",
                        &format!("location: http://redirect-between-names.{next}.test/\r\n"),
                    ))]
                })
            },
            TOO_MANY,
        )
        .asked_for_robots(3),
        case("redirects-50", chain(50), TOO_MANY),
        case("redirects-as-many-as-allowed", chain(REDIRECTS), FIVE),
        case("redirects-one-too-many", chain(REDIRECTS + 1), TOO_MANY),
    ]
}

fn nowhere() -> impl Iterator<Item = Misbehaviour> {
    let away = Expect::answer("redirected_away", 302);
    let locations = [
        ("file", "file:///etc/passwd"),
        ("ftp", "ftp://127.0.0.1/"),
        ("gopher", "gopher://127.0.0.1:25/_MAIL"),
        ("javascript", "javascript:alert(1)"),
        ("data", "data:text/html,hello"),
        ("mail", "mailto:a@example.org"),
        ("blank", "about:blank"),
        ("websocket", "ws://example.org/"),
        ("no-host", "http://"),
        ("slashes", "//"),
        ("half-an-address", "http://[::1"),
        ("port-too-large", "http://a.test:99999/"),
        ("port-of-letters", "http://a.test:http/"),
        ("host-with-space", "http://a b.test/"),
        ("host-percent", "http://%00.test/"),
        ("number-too-large", "http://4294967296/"),
    ];
    let long = format!("http://a.test/{}", "x".repeat(60_000));
    let case =
        move |name: &str, location: &str| Misbehaviour::new(format!("redirect-to-{name}"), to(location), away.clone());
    let too_long = case("60-kib", &long);
    locations.into_iter().map(move |(name, location)| case(name, location)).chain([too_long])
}

fn inward() -> impl Iterator<Item = Misbehaviour> {
    let hosts = [
        ("loopback", "127.0.0.1"),
        ("loopback-decimal", "2130706433"),
        ("loopback-hexadecimal", "0x7f000001"),
        ("loopback-octal", "0177.0.0.1"),
        ("loopback-short", "127.1"),
        ("loopback-6", "[::1]"),
        ("loopback-mapped", "[::ffff:127.0.0.1]"),
        ("loopback-nat64", "[64:ff9b::7f00:1]"),
        ("any-address", "0.0.0.0"),
        ("metadata", "169.254.169.254"),
        ("metadata-6", "[fd00:ec2::254]"),
        ("neighbour", "10.0.0.1"),
        ("link-local", "[fe80::1]"),
        ("localhost", "localhost"),
    ];
    hosts.into_iter().map(|(name, host)| {
        let reply = by_request(move |asked| {
            let location = format!("http://{host}:{}/", asked.port);
            vec![ScriptStep::Send(answer_bytes("302 Found", &format!("location: {location}\r\n")))]
        });
        Misbehaviour::new(format!("redirect-to-{name}"), reply, REFUSED)
    })
}

fn statuses() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let followed = |name: &str, page| Misbehaviour::new(name, page, FIVE).asked(2);
    let away = |name: &str, status: &str, code| {
        Misbehaviour::new(name, answer(status, "location: /elsewhere\r\n"), Expect::answer("redirected_away", code))
    };
    vec![
        away("redirect-300", "300 Multiple Choices", 300),
        away("redirect-305-use-my-proxy", "305 Use Proxy", 305),
        away("redirect-306", "306 Switch Proxy", 306),
        away("redirect-399", "399 What", 399),
        case("redirect-without-location", answer("301 Moved", ""), Expect::answer("redirected_away", 301)),
        case("redirect-304-unasked", answer("304 Not Modified", "location: /elsewhere\r\n"), {
            Expect::none("malformed_response")
        }),
        followed("redirect-not-ascii", once("/\u{fc}ber")),
        followed("redirect-not-utf-8", {
            by_request(|asked| match asked.path.as_str() {
                "/" => vec![ScriptStep::Send(
                    b"HTTP/1.1 302 Found\r\nlocation: /\xfc\r\ncontent-length: 0\r\n\r\n".to_vec(),
                )],
                _ => vec![ScriptStep::Send(page_bytes("", "hello"))],
            })
        }),
        followed("redirect-with-spaces", once("   /a b   ")),
        followed("redirect-with-line-ends", once("/a%0d%0alocation:%20x")),
        followed("redirect-with-backslashes", once("\\a\\b")),
        followed("redirect-with-password", once("http://user:secret@redirect-with-password.test/a")),
        followed("redirect-with-fragment", once("/a#b")),
        followed("redirect-with-dots", once("/../../../a")),
        followed("redirect-twice-told", once("/a\r\nlocation: /b")),
        followed("redirect-to-another-port", once("http://redirect-to-another-port.test:8080/a")).asked_for_robots(2),
        case("redirect-to-no-tls", to("https://redirect-to-no-tls.test/"), Expect::none("tls_failed")),
        followed("redirect-with-endless-body", {
            by_request(|asked| match asked.path.as_str() {
                "/" => vec![
                    ScriptStep::Send(b"HTTP/1.1 302 Found\r\nlocation: /a\r\n\r\n".to_vec()),
                    ScriptStep::Forever(b"x".repeat(8_192)),
                ],
                _ => vec![ScriptStep::Send(page_bytes("", "hello"))],
            })
        }),
        case("redirect-into-robots", once("/private/a"), Expect::none("robots_disallowed"))
            .robots(raw(page_bytes("", "User-agent: *\nDisallow: /private/\n"))),
        case(
            "redirect-then-reset",
            {
                by_request(|asked| match asked.path.as_str() {
                    "/" => vec![ScriptStep::Send(answer_bytes("302 Found", "location: /a\r\n"))],
                    _ => vec![ScriptStep::Reset],
                })
            },
            Expect::none("connection_lost"),
        )
        .asked(2),
        case("redirect-half-told", steps(vec![ScriptStep::Send(b"HTTP/1.1 302 Found\r\nlocation: /a".to_vec())]), {
            Expect::none("connection_lost")
        }),
    ]
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    circles().into_iter().chain(nowhere()).chain(inward()).chain(statuses()).collect()
}
