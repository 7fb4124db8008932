//! Long answers in small pieces, which make a reader look at the same bytes again and again. Expectations are for a
//! fetcher that takes heads of [`PIECEMEAL_BYTES`].

use crate::hostile::script::{ScriptStep, head, page_bytes, steps};
use crate::hostile::{Expect, Misbehaviour};

/// Longest head that the fetcher is to take.
pub const PIECEMEAL_BYTES: u64 = 1 << 20;
/// Size of the pieces.
const PIECE_BYTES: usize = 64;
const LINES: usize = 400;

/// The first has nothing but a long body.
pub fn piecemeal() -> Vec<Misbehaviour> {
    let whole = PIECEMEAL_BYTES as usize;
    let case = |name: &str, start: &[u8], bytes: Vec<u8>, expect| {
        let reply = steps(vec![ScriptStep::Send(start.to_vec()), ScriptStep::Pieces(bytes, PIECE_BYTES)]);
        Misbehaviour::new(format!("pieces-of-{name}"), reply, expect)
    };
    let five = Expect::page(5);
    let malformed = Expect::none("malformed_response");
    let line = |start: &str| format!("{start}{}\r\n", "x".repeat(whole / LINES - 40));
    let start = b"HTTP/1.1 200 OK\r\n";
    let chunked = head("transfer-encoding: chunked\r\n");
    vec![
        case("a-body", &head(""), vec![b'x'; whole], Expect::cut_page()),
        case("a-head", b"", page_bytes(&line("x-more: ").repeat(LINES), "hello"), five.clone()),
        case("a-folded-head", b"", page_bytes(&line("x-more:\r\n ").repeat(LINES), "hello"), five.clone()),
        case("a-head-of-odd-lines", b"", page_bytes(&line("x more: ").repeat(LINES), "hello"), five),
        case("a-header-value", start, [&b"x-more: "[..], &vec![b'x'; whole]].concat(), malformed.clone()),
        case("a-reason", b"HTTP/1.1 200 ", vec![b'x'; whole], malformed.clone()),
        case("blank-lines", b"", b"\r\n".repeat(whole / 2), malformed.clone()),
        case("early-hints", b"", b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(10_000), malformed.clone()),
        case("a-chunk-size", &chunked, b"0".repeat(whole), malformed.clone()),
        case("blanks", &[&chunked[..], b"5"].concat(), b" ".repeat(whole), malformed.clone()),
        case("an-extension", &[&chunked[..], b"5;"].concat(), b"x".repeat(whole), malformed.clone()),
        case("trailers", &[&chunked[..], b"0\r\n"].concat(), b"x-more: more\r\n".repeat(whole / 20), malformed),
    ]
}
