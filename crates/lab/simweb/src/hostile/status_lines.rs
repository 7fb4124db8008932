//! Malformed status lines, and statuses without a meaning.

use crate::hostile::script::{ReplyScript, ScriptStep, by_request, page_bytes, raw, steps};
use crate::hostile::{Expect, Misbehaviour};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MALFORMED: Expect = Expect::none("malformed_response");
const LOST: Expect = Expect::none("connection_lost");

/// A page of five bytes under another status line.
fn line(status_line: &str) -> ReplyScript {
    raw(format!("{status_line}\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello"))
}

/// These bytes, and this step.
fn then(start: &[u8], step: ScriptStep) -> ReplyScript {
    steps(vec![ScriptStep::Send(start.to_vec()), step])
}

/// The connection ends at the first request, and the next one gets a page.
fn once_closed() -> ReplyScript {
    let is_first = AtomicBool::new(true);
    by_request(move |_| match is_first.swap(false, Ordering::Relaxed) {
        true => Vec::new(),
        false => vec![ScriptStep::Send(page_bytes("", "hello"))],
    })
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let early_hints = b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec();
    // After a robots.txt over the same connection.
    let used = |name: &str, page, expect| {
        let robots = then(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", ScriptStep::Stay);
        Misbehaviour::new(name, page, expect).robots(robots)
    };
    vec![
        case("no-bytes", steps(vec![]), LOST),
        case("reset-at-once", steps(vec![ScriptStep::Reset]), LOST),
        case("silence", steps(vec![ScriptStep::Hold]), Expect::none("timed_out")).stalling(),
        case("silence-after-early-hints", then(&early_hints, ScriptStep::Hold), Expect::none("timed_out")).stalling(),
        // A server that is silent may be at work: it is not asked again.
        used("silence-on-a-used-connection", steps(vec![ScriptStep::Hold]), Expect::none("timed_out")).stalling(),
        used("half-a-head-on-a-used-connection", raw("HTTP/1.1 20"), LOST),
        used("early-hints-on-a-used-connection", raw(early_hints.clone()), LOST),
        used("closed-on-a-used-connection", steps(vec![]), LOST).asked(2),
        used("reset-on-a-used-connection", steps(vec![ScriptStep::Reset]), LOST).asked(2),
        used("closed-once-on-a-used-connection", once_closed(), Expect::page(5)).asked(2),
        case("status-line-absent", raw("<html>hello</html>"), MALFORMED),
        case("status-line-half", raw("HTTP/1.1 20"), LOST),
        case("status-line-endless", steps(vec![ScriptStep::Forever(b"HTTP/1.1 200 OOOO".repeat(64))]), MALFORMED),
        case("mail-server", raw("220 mail.test ESMTP ready\r\n"), MALFORMED),
        case("ssh-server", raw("SSH-2.0-OpenSSH_9.6\r\n"), MALFORMED),
        case("icy-server", line("ICY 200 OK"), MALFORMED),
        case("tls-alert-in-clear", raw(*b"\x15\x03\x01\x00\x02\x02\x28"), MALFORMED),
        case("http2-in-clear", raw(*b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"), MALFORMED),
        case("byte-order-mark-first", line("\u{feff}HTTP/1.1 200 OK"), MALFORMED),
        case("version-0-9", line("HTTP/0.9 200 OK"), MALFORMED),
        case("version-1-2", line("HTTP/1.2 200 OK"), MALFORMED),
        case("version-2-0", line("HTTP/2.0 200 OK"), MALFORMED),
        case("version-lower-case", line("http/1.1 200 OK"), MALFORMED),
        case("version-absent", line("200 OK"), MALFORMED),
        case("status-two-digits", line("HTTP/1.1 20 OK"), MALFORMED),
        case("status-four-digits", line("HTTP/1.1 2000 OK"), MALFORMED),
        case("status-letters", line("HTTP/1.1 abc OK"), MALFORMED),
        case("status-negative", line("HTTP/1.1 -20 OK"), MALFORMED),
        case("status-zero", line("HTTP/1.1 000 Zero"), MALFORMED),
        case("status-99", line("HTTP/1.1 099 Low"), MALFORMED),
        case("status-600", line("HTTP/1.1 600 High"), Expect::answer("malformed_response", 600)),
        case("status-999", line("HTTP/1.1 999 Request denied"), Expect::answer("rate_limited", 999)),
        case("status-100-for-ever", steps(vec![ScriptStep::Forever(b"HTTP/1.1 100 Continue\r\n\r\n".repeat(64))]), {
            Expect::none("malformed_response")
        }),
        case(
            "status-101-unasked",
            raw("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
            Expect::answer("malformed_response", 101),
        ),
        case("status-103-first", raw([&b"HTTP/1.1 103 Early Hints\r\n\r\n"[..], &page_bytes("", "hello")].concat()), {
            Expect::page(5)
        }),
        case("reason-absent", line("HTTP/1.1 200"), Expect::page(5)),
        case("reason-long", line(&format!("HTTP/1.1 200 {}", "x".repeat(1 << 20))), MALFORMED),
        case("reason-latin-1", raw(*b"HTTP/1.1 200 Tr\xe8s bien\r\ncontent-length: 5\r\n\r\nhello"), Expect::page(5)),
        case("reason-nul", line("HTTP/1.1 200 O\0K"), MALFORMED),
        case("blank-lines-first", line("\r\n\r\nHTTP/1.1 200 OK"), Expect::page(5)),
        case("blank-lines-endless", steps(vec![ScriptStep::Forever(b"\r\n".repeat(1_000))]), MALFORMED),
        case("line-feeds-alone", raw("HTTP/1.1 200 OK\ncontent-length: 5\n\nhello"), Expect::page(5)),
        case(
            "status-line-dripping",
            steps(vec![ScriptStep::Drip(b"HTTP/1.1 200 OK, and so on and on ".to_vec(), Duration::from_millis(20))]),
            Expect::none("timed_out"),
        )
        .stalling(),
    ]
}
