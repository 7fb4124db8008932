//! HTTP/2 frames that break the rules or end early (RFC 9113). This crate has no TLS: a test with a certificate plays
//! them.

use crate::hostile::script::{Asked, ReplyScript, ScriptStep, by_request};
use crate::hostile::{Expect, KEPT_BYTES, Misbehaviour, http2_connections, http2_heads};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

pub(super) const REFUSED_STREAM: u8 = 7;
const ENHANCE_YOUR_CALM: u8 = 11;

/// `:status: 200` and `:status: 404` in the static table of HPACK (RFC 7541, appendix A).
pub(super) const STATUS_200: &[u8] = b"\x88";
const STATUS_404: &[u8] = b"\x8d";
/// `:status: 103`, its name alone from the table.
pub(super) const EARLY_HINTS: &[u8] = b"\x08\x03103";

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("frames are short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A literal header that is not in any table.
pub(super) fn literal(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| [u8::try_from(text.len()).expect("names and values are short")];
    [&[0][..], &length(name), name.as_bytes(), &length(value), value.as_bytes()].concat()
}

/// A header of 3,000 bytes, added to the table and referred to a hundred times (RFC 7541 §6.1 and §6.2.1).
pub(super) fn indexed_bomb() -> Vec<u8> {
    [&b"\x40\x03x-a\x7f\xb9\x16"[..], &[b'b'; 3_000], &[0xbe; 100]].concat()
}

/// The SETTINGS frame with which a server begins.
pub fn http2_greeting() -> Vec<u8> {
    frame(SETTINGS, 0, 0, b"")
}

pub(super) fn not_found(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_404)
}

pub(super) fn page(stream: u32, headers: &[u8], body: &[u8]) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, &[STATUS_200, headers].concat());
    [head, frame(DATA, END_STREAM, stream, body)].concat()
}

/// A page's head, followed by these bytes.
pub(super) fn after_head(further: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> ReplyScript {
    send(move |stream| [frame(HEADERS, END_HEADERS, stream, STATUS_200), further(stream)].concat())
}

pub(super) fn send(bytes: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> ReplyScript {
    by_request(move |asked| vec![ScriptStep::Send(bytes(asked.stream)), ScriptStep::Stay])
}

pub(super) fn script(steps: impl Fn(&Asked) -> Vec<ScriptStep> + Send + Sync + 'static) -> ReplyScript {
    by_request(steps)
}

pub(super) fn reset(error: u8) -> ReplyScript {
    send(move |stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, error]))
}

/// A body that ends with a reset without an error, behind a head with the length of five bytes or with none.
fn ended_by_reset(body: &'static [u8], has_length: bool) -> ReplyScript {
    send(move |stream| {
        let length = if has_length { literal("content-length", "5") } else { Vec::new() };
        let head = frame(HEADERS, END_HEADERS, stream, &[STATUS_200, &length].concat());
        [head, frame(DATA, 0, stream, body), frame(RST_STREAM, 0, stream, &[0; 4])].concat()
    })
}

fn goaway(error: u8) -> ReplyScript {
    script(move |_| vec![ScriptStep::Send(goaway_frame(0, error))])
}

pub(super) fn headers(block: impl AsRef<[u8]>) -> ReplyScript {
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
    let mut cases = refusals(&case);
    cases.extend(floods(&case));
    cases.extend(http2_heads::cases(&case));
    cases.extend(http2_connections::cases(&case));
    cases.extend([
        case("well-made", send(|stream| page(stream, b"", b"hello")), &five),
        case(
            "error-with-body",
            send(|stream| {
                let head = frame(HEADERS, END_HEADERS, stream, STATUS_404);
                [head, frame(DATA, END_STREAM, stream, b"it is gone")].concat()
            }),
            &Expect::none("not_found"),
        ),
        case(
            "unknown-frames",
            send(|stream| [frame(0xbe, 0xff, 0, b"what"), page(stream, b"", b"hello")].concat()),
            &five,
        ),
        case(
            "early-hints",
            send(|stream| [frame(HEADERS, END_HEADERS, stream, EARLY_HINTS), page(stream, b"", b"hello")].concat()),
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
    ]);
    cases
}

/// A case by its name, its reply and its outcome.
pub(super) type Case<'a> = &'a dyn Fn(&str, ReplyScript, &Expect) -> Misbehaviour;

/// One answer to the first request, and another to those after it.
pub(super) fn first_and_then(first: ReplyScript, then: ReplyScript) -> ReplyScript {
    let is_first = AtomicBool::new(true);
    by_request(move |asked| if is_first.swap(false, Ordering::Relaxed) { &first } else { &then }.steps(asked))
}

/// GOAWAY with the number of the last stream that the server looked at.
pub(super) fn goaway_frame(last: u32, error: u8) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[&last.to_be_bytes()[..], &[0, 0, 0, error]].concat())
}

/// Requests that are not answered. Only those that the server did not look at are sent again.
fn refusals(case: Case<'_>) -> Vec<Misbehaviour> {
    let lost = Expect::none("connection_lost");
    let five = Expect::page(5);
    let well_made = || send(|stream| page(stream, b"", b"hello"));
    let of_this_stream = |error, further: fn(u32) -> Vec<ScriptStep>| {
        by_request(move |asked| {
            let goaway = ScriptStep::Send(goaway_frame(asked.stream, error));
            std::iter::once(goaway).chain(further(asked.stream)).collect()
        })
    };
    vec![
        case("reset-no-error", reset(0), &lost),
        case("reset-protocol-error", reset(1), &lost),
        case("reset-internal-error", reset(2), &lost),
        case("reset-refused", reset(REFUSED_STREAM), &lost).asked(2),
        case("reset-refused-once", first_and_then(reset(REFUSED_STREAM), well_made()), &five).asked(2),
        case("robots-refused-once", well_made(), &five)
            .robots(first_and_then(reset(REFUSED_STREAM), send(not_found)))
            .asked_for_robots(2),
        case("robots-refused", well_made(), &Expect::none("robots_unavailable"))
            .robots(reset(REFUSED_STREAM))
            .asked_for_robots(2)
            .asked(0),
        case("reset-cancelled", reset(8), &lost),
        case("reset-calm-down", reset(ENHANCE_YOUR_CALM), &lost),
        // The server has HTTP/2 only.
        case("reset-wants-http1", reset(13), &Expect::none("tls_failed")),
        case("reset-unknown-reason", reset(0xee), &lost),
        case(
            "reset-in-mid-body",
            after_head(|stream| [frame(DATA, 0, stream, b"hel"), frame(RST_STREAM, 0, stream, &[0, 0, 0, 2])].concat()),
            &lost,
        ),
        case("reset-no-error-in-mid-body", ended_by_reset(b"hel", true), &lost),
        case(
            "reset-no-error-in-mid-body-of-no-length",
            ended_by_reset(b"hel", false),
            &Expect { truncated: true, ..Expect::page(3) },
        ),
        case("reset-no-error-behind-the-body", ended_by_reset(b"hello", true), &five),
        case(
            "reset-refused-in-mid-body",
            after_head(|stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, REFUSED_STREAM])),
            &lost,
        ),
        case("goaway", goaway(0), &lost).asked(2),
        case("goaway-once", first_and_then(goaway(0), well_made()), &five).asked(2),
        case("goaway-with-error", goaway(1), &lost),
        case("goaway-calm-down", goaway(ENHANCE_YOUR_CALM), &lost),
        case(
            "goaway-after-this-page",
            of_this_stream(0, |stream| vec![ScriptStep::Send(page(stream, b"", b"hello"))]),
            &five,
        ),
        case("goaway-of-this-page", of_this_stream(0, |_| Vec::new()), &lost),
        case("closed-at-once", script(|_| Vec::new()), &lost).asked(2),
        case(
            "closed-after-early-hints",
            script(|asked| vec![ScriptStep::Send(frame(HEADERS, END_HEADERS, asked.stream, EARLY_HINTS))]),
            &lost,
        ),
        case("goaway-then-silence", of_this_stream(0, |_| vec![ScriptStep::Hold]), &Expect::none("timed_out"))
            .stalling(),
        case(
            "goaway-in-mid-body",
            script(|asked| {
                let head = frame(HEADERS, END_HEADERS, asked.stream, STATUS_200);
                vec![ScriptStep::Send([head, frame(DATA, 0, asked.stream, b"hel"), goaway_frame(0, 2)].concat())]
            }),
            &lost,
        ),
    ]
}

/// Frames without end.
fn floods(case: Case<'_>) -> Vec<Misbehaviour> {
    let malformed = Expect::none("malformed_response");
    let timed_out = Expect::none("timed_out");
    let lost = Expect::none("connection_lost");
    let endless =
        |flood: fn(u32) -> Vec<u8>| script(move |asked| vec![ScriptStep::Forever(flood(asked.stream).repeat(64))]);
    // The start of an answer, and a flood behind it.
    let after = |start: fn(u32) -> Vec<u8>, flood: fn(u32) -> Vec<u8>| {
        script(move |asked| {
            vec![ScriptStep::Send(start(asked.stream)), ScriptStep::Forever(flood(asked.stream).repeat(64))]
        })
    };
    let open_head = |stream| frame(HEADERS, 0, stream, STATUS_200);
    let whole_head = |stream| frame(HEADERS, END_HEADERS, stream, STATUS_200);
    vec![
        case(
            "headers-of-a-mebibyte",
            send(|stream| {
                let lines = literal("x-a", &"b".repeat(100)).repeat(128);
                let further = frame(CONTINUATION, 0, stream, &lines).repeat(80);
                let end = [frame(CONTINUATION, END_HEADERS, stream, b""), frame(DATA, END_STREAM, stream, b"hello")];
                [frame(HEADERS, 0, stream, STATUS_200), further, end.concat()].concat()
            }),
            &malformed,
        ),
        case(
            "continuation-endless",
            after(open_head, |stream| frame(CONTINUATION, 0, stream, &literal("x-a", "b"))),
            &malformed,
        ),
        case("continuation-empty-endless", after(open_head, |stream| frame(CONTINUATION, 0, stream, b"")), &malformed),
        case("early-hints-endless", endless(|stream| frame(HEADERS, END_HEADERS, stream, EARLY_HINTS)), &malformed),
        case("data-empty-endless", after(whole_head, |stream| frame(DATA, 0, stream, b"")), &malformed),
        case(
            "data-padded-endless",
            after(whole_head, |stream| frame(DATA, PADDED, stream, &[&[255][..], &[0; 255]].concat())),
            &malformed,
        ),
        case("resets-endless", endless(|stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])), &lost),
        case("resets-of-idle-streams", endless(|_| frame(RST_STREAM, 0, 99, &[0, 0, 0, 8])), &malformed),
        case("pings-endless", endless(|_| frame(PING, 0, 0, &[0; 8])), &timed_out).stalling(),
        case("pings-behind-a-head", after(whole_head, |_| frame(PING, 0, 0, &[0; 8])), &timed_out).stalling(),
        case("settings-endless", endless(|_| http2_greeting()), &timed_out).stalling(),
        case("windows-endless", endless(|_| frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])), &malformed),
        case("unknown-endless", endless(|_| frame(0xbe, 0, 0, &[0; 1_000])), &malformed),
    ]
}
