//! Heads over HTTP/2 that break their compression, or grow when they are unpacked (RFC 7541).

use crate::hostile::http2::{
    CONTINUATION, Case, DATA, EARLY_HINTS, END_HEADERS, END_STREAM, HEADERS, PING, STATUS_200, after_head, frame,
    headers, indexed_bomb, literal, page, script, send,
};
use crate::hostile::script::ScriptStep;
use crate::hostile::{Expect, Misbehaviour};

/// A new size of the dynamic table: nought, and a mebibyte.
const TABLE_OF_NOUGHT: &[u8] = b"\x20";
const TABLE_OF_A_MEBIBYTE: &[u8] = b"\x3f\xe1\xff\x3f";

fn hints(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &[EARLY_HINTS, block].concat())
}

pub(super) fn cases(case: Case<'_>) -> Vec<Misbehaviour> {
    let malformed = Expect::none("malformed_response");
    let five = Expect::page(5);
    let with = |block: &[u8]| headers([STATUS_200, block].concat());
    vec![
        case("hpack-table-beyond", headers([TABLE_OF_A_MEBIBYTE, STATUS_200].concat()), &malformed),
        case("hpack-table-late", with(TABLE_OF_NOUGHT), &malformed),
        case(
            "hpack-tables-many",
            headers([&TABLE_OF_NOUGHT.repeat(10_000)[..], STATUS_200].concat()),
            &Expect::page(0),
        ),
        case("hpack-huffman-of-ones", with(b"\x00\x84\xff\xff\xff\xff\x01b"), &malformed),
        case("hpack-number-endless", with(&[&b"\xff"[..], &[0x80; 10_000]].concat()), &malformed),
        case("hpack-literal-cut-off", with(b"\x00\x03x-a\x7f"), &malformed),
        case("hpack-name-empty", with(b"\x00\x00\x01b"), &malformed),
        case(
            "hpack-bomb-in-hints",
            send(|stream| [hints(stream, &indexed_bomb()), page(stream, b"", b"hello")].concat()),
            &malformed,
        ),
        // Each is a hundred bytes, and 300 KiB when it is unpacked.
        case(
            "hpack-bombs-in-hints-endless",
            script(|asked| {
                let further = hints(asked.stream, &[0xbe; 100]).repeat(64);
                vec![ScriptStep::Send(hints(asked.stream, &indexed_bomb())), ScriptStep::Forever(further)]
            }),
            &malformed,
        ),
        case(
            "hpack-bomb-in-trailers",
            after_head(|stream| {
                let trailers = frame(HEADERS, END_HEADERS | END_STREAM, stream, &indexed_bomb());
                [frame(DATA, 0, stream, b"hello"), trailers].concat()
            }),
            &malformed,
        ),
        // Each makes room in the table by taking out the one before.
        case(
            "hpack-table-churned-endless",
            script(|asked| {
                let entry = [&b"\x40\x03x-a\x7f\xb9\x16"[..], &[b'b'; 3_000]].concat();
                vec![ScriptStep::Forever(hints(asked.stream, &entry).repeat(16))]
            }),
            &malformed,
        ),
        case(
            "trailers-endless",
            script(|asked| {
                let head = frame(HEADERS, END_HEADERS, asked.stream, STATUS_200);
                let start = [head, frame(HEADERS, END_STREAM, asked.stream, &literal("x-a", "b"))].concat();
                let further = frame(CONTINUATION, 0, asked.stream, &literal("x-a", "b")).repeat(64);
                vec![ScriptStep::Send(start), ScriptStep::Forever(further)]
            }),
            &malformed,
        ),
        case(
            "trailers-that-do-not-end",
            after_head(|stream| frame(HEADERS, END_HEADERS, stream, &literal("x-a", "b"))),
            &malformed,
        ),
        case("two-heads", after_head(|stream| page(stream, b"", b"hello")), &malformed),
        case("continuation-alone", send(|stream| frame(CONTINUATION, END_HEADERS, stream, STATUS_200)), &malformed),
        case(
            "continuation-after-a-ping",
            send(|stream| {
                let head = frame(HEADERS, 0, stream, STATUS_200);
                [head, frame(PING, 0, 0, &[0; 8]), frame(CONTINUATION, END_HEADERS, stream, b"")].concat()
            }),
            &malformed,
        ),
        case(
            "continuation-in-good-order",
            {
                send(|stream| {
                    let head = frame(HEADERS, 0, stream, STATUS_200);
                    let end = frame(CONTINUATION, END_HEADERS, stream, &literal("x-a", "b"));
                    [head, end, frame(DATA, END_STREAM, stream, b"hello")].concat()
                })
            },
            &five,
        ),
    ]
}
