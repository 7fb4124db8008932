//! Bodies that never end, trickle, break off, or do not match their type.

use crate::hostile::script::{ReplyScript, ScriptStep, head, page, raw, steps};
use crate::hostile::{Expect, KEPT_BYTES, Misbehaviour};
use std::time::Duration;

/// A page of this type.
fn typed(content_type: &str, body: &[u8]) -> ReplyScript {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", body.len());
    raw([head.as_bytes(), body].concat())
}

/// The head of a page that ends with the connection, followed by these steps.
fn after_head(further: Vec<ScriptStep>) -> ReplyScript {
    steps([vec![ScriptStep::Send(head(""))], further].concat())
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let timed_out = Expect::none("timed_out");
    let of_type = |name: &str, content_type: &str, body: &[u8]| {
        Misbehaviour::new(name, typed(content_type, body), Expect::page(body.len() as u64))
    };
    let wide: Vec<u8> = "<p>wide</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let kept = KEPT_BYTES as usize;
    vec![
        case("body-endless", after_head(vec![ScriptStep::Forever(b"x".repeat(8_192))]), Expect::cut_page()),
        case(
            "body-a-byte-per-second",
            after_head(vec![ScriptStep::Drip(b"x".to_vec(), Duration::from_secs(1))]),
            timed_out.clone(),
        )
        .stalling(),
        // Never silent for long enough to hit an idle timeout: the total timeout ends it.
        case(
            "body-a-byte-per-20-ms",
            after_head(vec![ScriptStep::Drip(b"x".to_vec(), Duration::from_millis(20))]),
            timed_out.clone(),
        )
        .stalling(),
        case(
            "body-half-then-silence",
            after_head(vec![ScriptStep::Send(b"<html>".to_vec()), ScriptStep::Hold]),
            timed_out,
        )
        .stalling(),
        case(
            "body-half-then-reset",
            after_head(vec![ScriptStep::Send(b"<html>".to_vec()), ScriptStep::Reset]),
            Expect::none("connection_lost"),
        ),
        case("body-empty", page("", ""), Expect::page(0)),
        case("body-as-long-as-kept", page("", "x".repeat(kept)), Expect::page(KEPT_BYTES)),
        case("body-a-byte-too-long", page("", "x".repeat(kept + 1)), Expect::cut_page()),
        case("body-of-nul-bytes", page("", vec![0; 100_000]), Expect::page(100_000)),
        case("body-of-every-byte", page("", (0..=255).collect::<Vec<u8>>()), Expect::page(256)),
        case("body-is-an-http-answer", page("", "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1/\r\n\r\n"), {
            Expect::some_page()
        }),
        case(
            "error-page-endless",
            {
                let head = b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec();
                steps(vec![ScriptStep::Send(head), ScriptStep::Forever(b"x".repeat(8_192))])
            },
            Expect::answer("not_found", 404),
        ),
        case(
            "error-page-silent",
            steps(vec![ScriptStep::Send(b"HTTP/1.1 410 Gone\r\ncontent-length: 9\r\n\r\n".to_vec()), ScriptStep::Hold]),
            Expect::answer("gone", 410),
        )
        .stalling(),
        case("error-page-cut-off", raw("HTTP/1.1 500 Oops\r\ncontent-length: 9\r\n\r\nx"), {
            Expect::answer("server_error", 500)
        }),
        of_type("type-html-is-a-picture", "text/html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        of_type("type-html-is-a-program", "text/html", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"),
        of_type("type-picture-is-html", "image/png", b"<html><p>hello</p></html>"),
        of_type("type-json-is-html", "application/json", b"<html><p>hello</p></html>"),
        of_type("type-empty", "", b"<p>hello</p>"),
        of_type("type-nonsense", ";;;===,,,", b"<p>hello</p>"),
        of_type("charset-utf-8-is-latin-1", "text/html; charset=utf-8", b"<p>Tr\xe8s bien \xe9t\xe9</p>"),
        of_type("charset-latin-1-is-utf-8", "text/html; charset=iso-8859-1", "<p>\u{e9}t\u{e9}</p>".as_bytes()),
        of_type("charset-unknown", "text/html; charset=x-klingon", b"<p>hello</p>"),
        of_type("charset-utf-7", "text/html; charset=utf-7", b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-"),
        of_type("charset-utf-16-without-mark", "text/html; charset=utf-16", &wide),
        of_type("charset-odd-utf-16", "text/html; charset=utf-16le", &wide[..wide.len() - 1]),
        of_type("charset-mark-disagrees", "text/html; charset=shift_jis", b"\xef\xbb\xbf<p>hello</p>"),
        of_type("charset-iso-2022-escape", "text/html; charset=iso-2022-jp", b"\x1b$B\x1b(J\x1b$B$3$s<p>\x1b"),
        of_type("utf-8-overlong", "text/html; charset=utf-8", b"<p>\xc0\xae\xc0\xae/\xe0\x80\xaf</p>"),
        of_type("utf-8-surrogates", "text/html; charset=utf-8", b"<p>\xed\xa0\x80\xed\xb0\x80</p>"),
        of_type("utf-8-cut-in-half", "text/html; charset=utf-8", b"<p>\xe6\xbc"),
    ]
}
