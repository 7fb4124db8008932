//! The end of a message: false lengths, chunks that overflow, connections that end too early or too late.

use crate::hostile::script::{ReplyScript, ScriptStep, chunked, head, page_bytes, raw, steps};
use crate::hostile::{Expect, KEPT_BYTES, Misbehaviour};

const MALFORMED: Expect = Expect::none("malformed_response");
const LOST: Expect = Expect::none("connection_lost");
const TIMED_OUT: Expect = Expect::none("timed_out");
const FIVE: Expect = Expect::page(5);

/// A body of five bytes under these header lines.
fn framed(headers: &str) -> ReplyScript {
    raw([&head(headers)[..], b"hello"].concat())
}

/// The head of a chunked page, followed by this step.
fn chunks(further: ScriptStep) -> ReplyScript {
    steps(vec![ScriptStep::Send(head("transfer-encoding: chunked\r\n")), further])
}

fn lengths() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    vec![
        case("length-twice-unlike", framed("content-length: 5\r\ncontent-length: 3\r\n"), MALFORMED),
        case("length-twice-alike", framed("content-length: 5\r\ncontent-length: 5\r\n"), FIVE),
        case("length-list-unlike", framed("content-length: 5, 3\r\n"), MALFORMED),
        case("length-negative", framed("content-length: -1\r\n"), MALFORMED),
        case("length-with-plus", framed("content-length: +5\r\n"), MALFORMED),
        case("length-hexadecimal", framed("content-length: 0x5\r\n"), MALFORMED),
        case("length-fraction", framed("content-length: 5.0\r\n"), MALFORMED),
        case("length-letters", framed("content-length: five\r\n"), MALFORMED),
        case("length-empty", framed("content-length:\r\n"), MALFORMED),
        case("length-10-to-the-30", framed(&format!("content-length: 1{}\r\n", "0".repeat(30))), MALFORMED),
        case("length-2-to-the-64", framed("content-length: 18446744073709551616\r\n"), MALFORMED),
        case("length-of-an-exabyte", framed("content-length: 1152921504606846976\r\n"), LOST),
        case("length-too-long", framed("content-length: 6\r\n"), LOST),
        case("length-too-short", framed("content-length: 3\r\n"), Expect::page(3)),
        case("length-nought", framed("content-length: 0\r\n"), Expect::page(0)),
        case("length-absent", framed(""), FIVE),
        case(
            "length-then-silence",
            steps(vec![
                ScriptStep::Send(head("content-length: 100\r\n")),
                ScriptStep::Send(b"hello".to_vec()),
                ScriptStep::Hold,
            ]),
            TIMED_OUT,
        )
        .stalling(),
        case(
            "length-then-reset",
            steps(vec![ScriptStep::Send([&head("content-length: 100\r\n")[..], b"hello"].concat()), ScriptStep::Reset]),
            LOST,
        ),
        case("length-absent-then-reset", steps(vec![ScriptStep::Send(head("")), ScriptStep::Reset]), LOST),
        case("length-and-chunks", framed("content-length: 3\r\ntransfer-encoding: chunked\r\n"), MALFORMED),
        case(
            "length-huge-and-endless",
            {
                let body = ScriptStep::Forever(b"x".repeat(4_096));
                steps(vec![ScriptStep::Send(head("content-length: 9000000000000\r\n")), body])
            },
            Expect::cut_page(),
        ),
        case(
            "body-with-204",
            raw("HTTP/1.1 204 No Content\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello"),
            Expect { status: Some(204), ..Expect::page(0) },
        ),
        case(
            "part-unasked",
            raw("HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 0-4/100\r\ncontent-length: 5\r\n\r\nhello"),
            Expect::none("content_refused"),
        ),
        case("http-1-0-without-length", raw("HTTP/1.0 200 OK\r\n\r\nhello"), FIVE),
        case(
            "http-1-0-kept-alive",
            raw("HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\nhello"),
            FIVE,
        ),
        case(
            "two-answers-to-one-question",
            {
                let other = page_bytes("", "other page");
                let first = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".to_vec();
                steps(vec![ScriptStep::Send([first, other].concat()), ScriptStep::Stay])
            },
            FIVE,
        )
        .again(Expect { outcome: "same_content", ..FIVE }),
        case(
            "garbage-after-the-answer",
            {
                steps(vec![
                    ScriptStep::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello, world".to_vec()),
                    ScriptStep::Stay,
                ])
            },
            FIVE,
        )
        .again(Expect { outcome: "same_content", ..FIVE }),
    ]
}

fn transfer_codings() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let coded = |coding: &str| framed(&format!("transfer-encoding: {coding}\r\n"));
    vec![
        case("transfer-gzip", coded("gzip"), MALFORMED),
        case("transfer-unknown", coded("xchunked"), MALFORMED),
        case("transfer-chunked-first", coded("chunked, gzip"), MALFORMED),
        case("transfer-identity", coded("identity"), MALFORMED),
        case("transfer-chunked-twice", coded("chunked, chunked"), MALFORMED),
        case(
            "transfer-chunked-in-1-0",
            raw("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            MALFORMED,
        ),
        case("chunk-length-overflow", chunked("FFFFFFFFFFFFFFFFF\r\nhello"), MALFORMED),
        case("chunk-length-negative", chunked("-5\r\nhello\r\n0\r\n\r\n"), MALFORMED),
        case("chunk-length-letters", chunked("zz\r\nhello\r\n0\r\n\r\n"), MALFORMED),
        case("chunk-length-empty", chunked("\r\nhello\r\n0\r\n\r\n"), MALFORMED),
        case("chunk-length-with-0x", chunked("0x5\r\nhello\r\n0\r\n\r\n"), MALFORMED),
        case("chunk-length-too-short", chunked("3\r\nhello\r\n0\r\n\r\n"), MALFORMED),
        case("chunk-length-too-long", chunked("9\r\nhello\r\n0\r\n\r\n"), MALFORMED),
        case("chunk-length-padded", chunked("0000000000000005\r\nhello\r\n0\r\n\r\n"), FIVE),
        case("chunk-length-endless", chunks(ScriptStep::Forever(b"0".repeat(4_096))), MALFORMED),
        case(
            "chunk-length-blanks-endless",
            {
                let start = [&head("transfer-encoding: chunked\r\n")[..], b"5"].concat();
                steps(vec![ScriptStep::Send(start), ScriptStep::Forever(b" ".repeat(4_096))])
            },
            MALFORMED,
        ),
        case(
            "transfer-chunked-in-capitals",
            raw([&head("Transfer-Encoding: Chunked\r\n")[..], b"5\r\nhello\r\n0\r\n\r\n"].concat()),
            FIVE,
        ),
        case(
            "chunk-of-an-exabyte",
            {
                let body = ScriptStep::Forever(b"x".repeat(4_096));
                let start = [&head("transfer-encoding: chunked\r\n")[..], b"1000000000000000\r\n"].concat();
                steps(vec![ScriptStep::Send(start), body])
            },
            Expect::cut_page(),
        ),
        case(
            "chunk-extension-of-1-mib",
            chunked(format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(1 << 20))),
            MALFORMED,
        ),
        case("chunk-extensions-endless", chunks(ScriptStep::Forever(b"1;name=value\r\nx\r\n".repeat(100))), MALFORMED),
        case("chunk-extension-small", chunked("5;name=value\r\nhello\r\n0\r\n\r\n"), FIVE),
        case("chunks-without-end", chunked("5\r\nhello\r\n"), LOST),
        case("chunks-half-an-end", chunked("5\r\nhello\r\n0\r\n"), LOST),
        case(
            "chunks-then-silence",
            {
                let start = [&head("transfer-encoding: chunked\r\n")[..], b"5\r\nhello\r\n"].concat();
                steps(vec![ScriptStep::Send(start), ScriptStep::Hold])
            },
            TIMED_OUT,
        )
        .stalling(),
        case("chunks-of-a-byte-endless", chunks(ScriptStep::Forever(b"1\r\nx\r\n".repeat(1_000))), Expect::cut_page()),
        case(
            "chunks-of-a-byte-exact",
            {
                let end = ScriptStep::Send(b"0\r\n\r\n".to_vec());
                let body = ScriptStep::Repeat(b"1\r\nx\r\n".repeat(1 << 10), (KEPT_BYTES >> 10) as usize);
                steps(vec![ScriptStep::Send(head("transfer-encoding: chunked\r\n")), body, end])
            },
            Expect::page(KEPT_BYTES),
        ),
        case(
            "trailers-endless",
            {
                let start = [&head("transfer-encoding: chunked\r\n")[..], b"5\r\nhello\r\n0\r\n"].concat();
                steps(vec![ScriptStep::Send(start), ScriptStep::Forever(b"x-more: more\r\n".repeat(64))])
            },
            MALFORMED,
        ),
        case(
            "trailers-that-frame",
            chunked("5\r\nhello\r\n0\r\ncontent-length: 99\r\nlocation: http://127.0.0.1/\r\n\r\n"),
            FIVE,
        ),
    ]
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    lengths().into_iter().chain(transfer_codings()).collect()
}
