//! HTTP/2 frames that break the rules or end early (RFC 9113). This crate has no TLS: a test with a certificate plays
//! them.

use crate::hostile::script::{Asked, ReplyScript, ScriptStep, by_request};
use crate::hostile::{Expect, KEPT_BYTES, Misbehaviour};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

/// `:status: 200` and `:status: 404` in the static table of HPACK (RFC 7541, appendix A).
const STATUS_200: &[u8] = b"\x88";
const STATUS_404: &[u8] = b"\x8d";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("frames are short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A literal header that is not in any table.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| [u8::try_from(text.len()).expect("names and values are short")];
    [&[0][..], &length(name), name.as_bytes(), &length(value), value.as_bytes()].concat()
}

/// A header of 3,000 bytes, added to the table and referred to a hundred times (RFC 7541 §6.1 and §6.2.1).
fn indexed_bomb() -> Vec<u8> {
    [&b"\x40\x03x-a\x7f\xb9\x16"[..], &[b'b'; 3_000], &[0xbe; 100]].concat()
}

/// The SETTINGS frame with which a server begins.
pub fn http2_greeting() -> Vec<u8> {
    frame(SETTINGS, 0, 0, b"")
}

fn not_found(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_404)
}

fn page(stream: u32, headers: &[u8], body: &[u8]) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, &[STATUS_200, headers].concat());
    [head, frame(DATA, END_STREAM, stream, body)].concat()
}

/// A page's head, followed by these bytes.
fn after_head(further: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> ReplyScript {
    send(move |stream| [frame(HEADERS, END_HEADERS, stream, STATUS_200), further(stream)].concat())
}

fn send(bytes: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> ReplyScript {
    by_request(move |asked| vec![ScriptStep::Send(bytes(asked.stream)), ScriptStep::Stay])
}

fn script(steps: impl Fn(&Asked) -> Vec<ScriptStep> + Send + Sync + 'static) -> ReplyScript {
    by_request(steps)
}

fn reset(error: u8) -> ReplyScript {
    send(move |stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, error]))
}

fn goaway(error: u8) -> ReplyScript {
    script(move |_| vec![ScriptStep::Send(frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, error]))])
}

fn headers(block: impl AsRef<[u8]>) -> ReplyScript {
    let block = block.as_ref().to_vec();
    send(move |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &block))
}

/// Every misbehaviour over HTTP/2. A request's stream is in [`Asked::stream`]; robots.txt is requested first.
pub fn http2_misbehaviours() -> Vec<Misbehaviour> {
    let malformed = Expect::none("malformed_response");
    let lost = Expect::none("connection_lost");
    let five = Expect::page(5);
    let with = |block: &[u8]| headers([STATUS_200, block].concat());
    let case = |name: &str, reply: ReplyScript, expect: &Expect| {
        // Our limits apply once the server has acknowledged them.
        let robots = send(|stream| [frame(SETTINGS, ACK, 0, b""), not_found(stream)].concat());
        let case = Misbehaviour::new(format!("http2-{name}"), reply, expect.clone()).robots(robots);
        let url = format!("https://{}.test/", case.name);
        case.url(url)
    };
    vec![
        case("well-made", send(|stream| page(stream, b"", b"hello")), &five),
        case(
            "unknown-frames",
            send(|stream| [frame(0xbe, 0xff, 0, b"what"), page(stream, b"", b"hello")].concat()),
            &five,
        ),
        case(
            "early-hints",
            {
                let hints = [&b"\x08\x03"[..], b"103"].concat();
                send(move |stream| [frame(HEADERS, END_HEADERS, stream, &hints), page(stream, b"", b"hello")].concat())
            },
            &five,
        ),
        case(
            "trailers",
            {
                after_head(|stream| {
                    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, stream, &literal("x-end", "x"));
                    [frame(DATA, 0, stream, b"hello"), trailers].concat()
                })
            },
            &five,
        ),
        case(
            "longer-than-kept",
            {
                let pieces = KEPT_BYTES as usize / 8_192 + 4;
                after_head(move |stream| frame(DATA, 0, stream, &[b'x'; 8_192]).repeat(pieces))
            },
            &Expect::cut_page(),
        ),
        case("reset-internal-error", reset(2), &lost),
        case("reset-refused", reset(7), &lost),
        case("reset-cancelled", reset(8), &lost),
        case("reset-calm-down", reset(11), &lost),
        case("reset-wants-http1", reset(13), &lost),
        case(
            "reset-in-mid-body",
            after_head(|stream| [frame(DATA, 0, stream, b"hel"), frame(RST_STREAM, 0, stream, &[0, 0, 0, 2])].concat()),
            &lost,
        ),
        case("goaway", goaway(0), &lost),
        case("goaway-with-error", goaway(1), &lost),
        case(
            "goaway-in-mid-body",
            script(|asked| {
                let head = frame(HEADERS, END_HEADERS, asked.stream, STATUS_200);
                let goaway = frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 2]);
                vec![ScriptStep::Send([head, frame(DATA, 0, asked.stream, b"hel"), goaway].concat())]
            }),
            &lost,
        ),
        case(
            "closed-in-mid-body",
            script(|asked| vec![ScriptStep::Send(frame(HEADERS, END_HEADERS, asked.stream, STATUS_200))]),
            &lost,
        ),
        case("silence", script(|_| vec![ScriptStep::Hold]), &Expect::none("timed_out")).stalling(),
        case(
            "silence-in-mid-body",
            script(|asked| {
                vec![ScriptStep::Send(frame(HEADERS, END_HEADERS, asked.stream, STATUS_200)), ScriptStep::Hold]
            }),
            &Expect::none("timed_out"),
        )
        .stalling(),
        case(
            "speaks-http1",
            script(|_| vec![ScriptStep::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec())]),
            &malformed,
        ),
        case("data-on-stream-0", send(|_| frame(DATA, 0, 0, b"hello")), &malformed),
        case("data-before-headers", send(|stream| frame(DATA, END_STREAM, stream, b"hello")), &malformed),
        case("headers-on-an-idle-stream", send(|stream| page(stream + 2, b"", b"hello")), &malformed),
        case("status-absent", headers(literal("x-a", "b")), &malformed),
        case("status-twice", with(STATUS_404), &malformed),
        case("status-of-letters", headers(b"\x08\x03abc"), &malformed),
        case("header-in-capitals", with(&literal("X-A", "b")), &malformed),
        case("header-of-connections", with(&literal("connection", "close")), &malformed),
        case("header-index-nought", headers(b"\x80"), &malformed),
        case("header-index-beyond", headers(b"\xff\xff\xff\xff\x0f"), &malformed),
        case("headers-of-300-kib-in-3", with(&indexed_bomb()), &malformed),
        case("length-lies", send(|stream| page(stream, &literal("content-length", "9"), b"hello")), &malformed),
        case("frame-too-long", send(|stream| frame(DATA, 0, stream, &[0; 20_000])), &malformed),
        case("padding-too-long", after_head(|stream| frame(DATA, PADDED, stream, b"\xffhello")), &malformed),
        case("settings-nonsense", send(|_| frame(SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 7])), &malformed),
        case(
            "push-unasked",
            send(|stream| frame(PUSH_PROMISE, END_HEADERS, stream, &[&[0, 0, 0, 2][..], b"\x82\x87\x84"].concat())),
            &malformed,
        ),
        case(
            "continuation-endless",
            script(|asked| {
                let start = frame(HEADERS, 0, asked.stream, STATUS_200);
                vec![
                    ScriptStep::Send(start),
                    ScriptStep::Forever(frame(CONTINUATION, 0, asked.stream, &literal("x-a", "b"))),
                ]
            }),
            &malformed,
        ),
        case(
            "pings-endless",
            script(|_| vec![ScriptStep::Forever(frame(PING, 0, 0, &[0; 8]))]),
            &Expect::none("timed_out"),
        )
        .stalling(),
        case("settings-endless", script(|_| vec![ScriptStep::Forever(http2_greeting())]), &Expect::none("timed_out"))
            .stalling(),
    ]
}
