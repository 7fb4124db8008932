//! Connections over HTTP/2 that their servers end, starve or flood.

use crate::hostile::http2::{
    ACK, Case, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PUSH_PROMISE, REFUSED_STREAM, RST_STREAM, SETTINGS,
    STATUS_200, WINDOW_UPDATE, first_and_then, frame, goaway_frame, not_found, page, reset, script, send,
};
use crate::hostile::script::{ReplyScript, ScriptStep};
use crate::hostile::{Expect, Misbehaviour};

const PRIORITY: u8 = 2;

/// Settings of a server: the number of a setting, and its value.
fn setting(number: u8, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&[0, number][..], &value.to_be_bytes()].concat())
}

/// Changes a setting, and then sends a page.
fn page_after(number: u8, value: u32) -> ReplyScript {
    send(move |stream| [setting(number, value), page(stream, b"", b"hello")].concat())
}

/// An answer to the request for robots.txt, followed by these frames and this step.
fn no_robots(further: impl Fn() -> Vec<u8> + Send + Sync + 'static, then: ScriptStep) -> ReplyScript {
    script(move |asked| {
        let answer = [frame(SETTINGS, ACK, 0, b""), not_found(asked.stream), further()].concat();
        vec![ScriptStep::Send(answer), then.clone()]
    })
}

pub(super) fn cases(case: Case<'_>) -> Vec<Misbehaviour> {
    let malformed = Expect::none("malformed_response");
    let lost = Expect::none("connection_lost");
    let timed_out = Expect::none("timed_out");
    let five = Expect::page(5);
    let well_made = || send(|stream| page(stream, b"", b"hello"));
    let endless =
        |flood: fn(u32) -> Vec<u8>| script(move |asked| vec![ScriptStep::Forever(flood(asked.stream).repeat(64))]);
    vec![
        case("goaway-between-pages", well_made(), &five).robots(no_robots(|| goaway_frame(1, 0), ScriptStep::Stay)),
        case("goaway-between-pages-left-open", well_made(), &five)
            .robots(no_robots(|| goaway_frame(1, 0), ScriptStep::Hold)),
        // The page is asked for over a new connection.
        case("refused-on-a-new-connection", reset(REFUSED_STREAM), &lost)
            .robots(no_robots(|| goaway_frame(1, 0), ScriptStep::Stay))
            .asked(2),
        case("refused-once-on-a-new-connection", first_and_then(reset(REFUSED_STREAM), well_made()), &five)
            .robots(no_robots(|| goaway_frame(1, 0), ScriptStep::Stay))
            .asked(2),
        case(
            "goaway-announced",
            send(|stream| {
                [goaway_frame(u32::MAX >> 1, 0), page(stream, b"", b"hello"), goaway_frame(stream, 0)].concat()
            }),
            &five,
        ),
        case("goaway-endless", endless(|_| goaway_frame(u32::MAX >> 1, 0)), &malformed),
        case("goaway-of-more-and-more", send(|_| [goaway_frame(1, 0), goaway_frame(99, 0)].concat()), &malformed)
            .asked(2),
        case(
            "goaway-at-length-endless",
            endless(|_| frame(7, 0, 0, &[&[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0][..], &[b'x'; 1_000]].concat())),
            &malformed,
        ),
        case("settings-no-streams", well_made(), &timed_out)
            .robots(no_robots(|| setting(3, 0), ScriptStep::Stay))
            .asked(0)
            .stalling(),
        case("settings-no-window", page_after(4, 0), &five),
        case("settings-window-beyond", page_after(4, 1 << 31), &malformed),
        case("settings-frames-of-100-bytes", page_after(5, 100), &malformed),
        case("settings-table-of-4-gib", page_after(1, u32::MAX), &five),
        case("settings-no-head", page_after(6, 0), &five),
        case("settings-ack-unasked-endless", endless(|_| frame(SETTINGS, ACK, 0, b"")), &malformed),
        case("window-of-nought", send(|stream| frame(WINDOW_UPDATE, 0, stream, &[0; 4])), &malformed),
        case("window-of-nought-for-all", send(|_| frame(WINDOW_UPDATE, 0, 0, &[0; 4])), &malformed),
        case("priorities-endless", endless(|stream| frame(PRIORITY, 0, stream + 2, &[0, 0, 0, 0, 1])), &malformed),
        case("pongs-endless", endless(|_| frame(PING, ACK, 0, &[7; 8])), &malformed),
        // Rapid reset, from the server's side: streams that the client did not ask for.
        case(
            "streams-opened-and-reset",
            endless(|_| {
                let head = frame(HEADERS, END_HEADERS, 2, STATUS_200);
                [head, frame(RST_STREAM, 0, 2, &[0, 0, 0, 8])].concat()
            }),
            &malformed,
        ),
        case(
            "pushes-reset",
            endless(|stream| {
                let promise = frame(PUSH_PROMISE, END_HEADERS, stream, &[&[0, 0, 0, 2][..], b"\x82\x87\x84"].concat());
                [promise, frame(RST_STREAM, 0, 2, &[0, 0, 0, 8])].concat()
            }),
            &malformed,
        ),
        case(
            "head-and-reset-endless",
            endless(|stream| {
                let head = frame(HEADERS, END_HEADERS, stream, STATUS_200);
                [head, frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat()
            }),
            &lost,
        ),
        case(
            "data-behind-the-end",
            send(|stream| {
                [page(stream, b"", b"hello"), frame(DATA, END_STREAM, stream, b"world").repeat(100)].concat()
            }),
            &five,
        ),
    ]
}
