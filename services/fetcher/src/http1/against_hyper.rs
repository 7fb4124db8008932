//! Our HTTP/1.1 and hyper's read the same answers: right ones, odd ones, and ones with bytes changed at random.
//!
//! A reader that sees another end of an answer takes part of it for the next one, so every difference must be known.

use crate::fuzzing::{AnswerEnd, Pieces, Reading, read_http1};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::Request;
use hyper::body::Body;
use hyper::client::conn::http1::Builder;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

const MAX_HEAD: usize = 64 << 10;
const CASES: u32 = 10_000;

/// hyper's reading of an answer. It accepts folded lines and lines that are no headers only with `is_lenient`.
fn read_by_hyper(stream: Pieces, pieces: usize, is_lenient: bool) -> Reading {
    let mut reading = Reading { status: None, body: Vec::new(), end: AnswerEnd::Silent, is_reusable: false };
    let mut context = Context::from_waker(Waker::noop());
    let mut builder = Builder::new();
    builder.max_headers(512);
    builder.allow_obsolete_multiline_headers_in_responses(is_lenient).ignore_invalid_headers_in_responses(is_lenient);
    let Poll::Ready(Ok((mut sender, connection))) = pin!(builder.handshake(TokioIo::new(stream))).poll(&mut context)
    else {
        panic!("a handshake waits for nothing")
    };
    let mut connection = Some(Box::pin(connection));
    let mut go_on = move |context: &mut Context<'_>| {
        if connection.as_mut().is_some_and(|connection| connection.as_mut().poll(context).is_ready()) {
            connection = None;
        }
        connection.is_some()
    };
    // No waker is needed: both sides are polled until all pieces must have been seen.
    let rounds = 2 * pieces + 20;
    go_on(&mut context);
    let mut answer = Box::pin(sender.send_request(Request::new(Empty::<Bytes>::new())));
    let answer = (0..rounds).find_map(|_| {
        go_on(&mut context);
        match answer.as_mut().poll(&mut context) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        }
    });
    let Some(Ok(answer)) = answer else {
        reading.end = if answer.is_some() { AnswerEnd::Malformed } else { AnswerEnd::Silent };
        return reading;
    };
    reading.status = Some(answer.status().as_u16());
    let mut body = answer.into_body();
    for _ in 0..rounds {
        go_on(&mut context);
        match Pin::new(&mut body).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => reading.body.extend(frame.into_data().unwrap_or_default()),
            Poll::Ready(Some(Err(_))) => {
                reading.end = AnswerEnd::Malformed;
                return reading;
            }
            Poll::Ready(None) => {
                reading.end = AnswerEnd::Whole;
                break;
            }
            Poll::Pending => {}
        }
    }
    let is_open = (0..rounds).all(|_| go_on(&mut context));
    reading.is_reusable = is_open && matches!(sender.poll_ready(&mut context), Poll::Ready(Ok(())));
    reading
}

/// Parts of right and odd answers in any order.
fn mixed() -> impl Strategy<Value = String> {
    let status_line = prop_oneof![
        8 => Just("HTTP/1.1 200 OK"),
        2 => Just("HTTP/1.0 200 OK"),
        6 => prop::sample::select(vec![
            "HTTP/1.1 200", "HTTP/1.1 204 None", "HTTP/1.1 304 Not Modified", "HTTP/1.1 404 Not Found",
            "HTTP/1.1 101 Switching Protocols", "HTTP/1.0 304 Not Modified", "HTTP/1.1 999 Denied", "HTTP/1.1 099 Low",
            "HTTP/1.2 200 OK", "HTTP/1.1  200 OK", "ICY 200 OK", "\r\nHTTP/1.1 200 OK", "\n\nHTTP/1.1 200 OK",
        ]),
    ];
    let interim = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n",
        "HTTP/1.1 100 Continue\n\n",
        "HTTP/1.1 102 P\r\ncontent-length: 5\r\n\r\n",
    ]);
    let line = prop_oneof![
        4 => prop::sample::select(vec![
            "Content-Length: 5", "content-length: 5", "content-length: 0", "content-length: 3", "content-length: 5, 5",
            "content-length: 5, 3", "content-length: +5", "content-length: -1", "content-length:", "content-length: 05",
            "content-length: 0x5", "content-length: 18446744073709551615", "content-length: 18446744073709551616",
            "content-length: 5 ", "content-length: 5;", "content-length : 5", "content-length: 5,", "content-length: 1 2",
        ]),
        4 => prop::sample::select(vec![
            "Transfer-Encoding: chunked", "transfer-encoding: Chunked", "transfer-encoding: gzip, chunked",
            "transfer-encoding: chunked, gzip", "transfer-encoding: identity", "transfer-encoding: xchunked",
            "transfer-encoding:", "transfer-encoding: chunked,", "transfer-encoding: chunked, chunked",
            "transfer-encoding: chunked;q=1", "transfer-encoding : chunked", "transfer-encoding: \u{b}chunked",
        ]),
        3 => prop::sample::select(vec![
            "connection: close", "connection: keep-alive", "Connection: Close, x", "connection: keep-alive, close",
            "connection: upgrade", "upgrade: x", "keep-alive: timeout=5", "proxy-connection: close",
        ]),
        3 => prop::sample::select(vec![
            "etag: \"1\"", "x: a\r\n b", "x: a\r\n\tb", "no header", "x broken: a", ": a", "x:", "x: \u{e9}", "x: a\rb",
            "x: \0", "x: a\r\n content-length: 3", "content-length: 5\r\n 6", "transfer-encoding:\r\n chunked", " x: a",
        ]),
    ];
    let ends = prop::sample::select(vec!["\r\n", "\r\n", "\r\n", "\r\n", "\n"]);
    let piece_of_body = prop_oneof![
        4 => Just("hello"),
        8 => prop::sample::select(vec![
            "5\r\nhello\r\n", "0\r\n\r\n", "5;a=b\r\nhello\r\n", "5 \r\nhello\r\n", "05\r\nhello\r\n", "0\r\nx: y\r\n\r\n",
            "a\r\n0123456789\r\n", "A\r\n0123456789\r\n", "0\r\ncontent-length: 3\r\n\r\n", "0\r\n\r\n", "0\r\n\r\n",
        ]),
        3 => prop::sample::select(vec![
            "5\nhello\n", "0\n\n", "5\r\nhello", "0\r\n", "5\r\nhello\n", "FFFFFFFFFFFFFFFF\r\n", "11111111111111111\r\nx",
            "0x5\r\nhello\r\n", "-5\r\nhello\r\n", "5;a\nb\r\nhello\r\n", "\r\n", "5\t;a\r\nhello\r\n", "5 5\r\nhello\r\n",
            "00000000000000005\r\nhello\r\n", "0\r\nx\r\n\r\n", "0\r\n x\r\n\r\n", "0;a\r\n\r\n", "5\r\r\nhello\r\n",
        ]),
        2 => Just("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad"),
    ];
    let lines = prop::collection::vec((line, ends.clone()), 0..5);
    let body = prop::collection::vec(piece_of_body, 0..5);
    (interim, (status_line, ends.clone()), lines, ends, body).prop_map(|(interim, first, lines, end, body)| {
        let lines: String = std::iter::once(first).chain(lines).flat_map(|(line, end)| [line, end]).collect();
        [interim, &lines, end, &body.concat()].concat()
    })
}

/// A right head, and chunks that are right or nearly so.
fn chunked() -> impl Strategy<Value = String> {
    let end = || prop_oneof![9 => Just("\r\n"), 1 => prop::sample::select(vec!["\n", "\r", "\r\r\n", ""])];
    let size = prop_oneof![
        3 => Just("5"),
        1 => prop::sample::select(vec!["05", "5 ", "5\t;a", "5;a=b", "0x5", "5 5", "-5", "+5", "4", "6", "",
            "0000000000000005", "00000000000000005"]),
    ];
    let last = prop_oneof![3 => Just("0"), 1 => prop::sample::select(vec!["00", "0;a", "0 ", "-0", ""])];
    let trailer = prop::sample::select(vec!["x: y", "x:", "content-length: 3", "x", " x: y", ": y", "x : y", "x: \0"]);
    let chunks = prop::collection::vec((size, end(), Just("hello"), end()), 0..3);
    let trailers = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec((trailer, end()), 1..3)];
    let further = prop::sample::select(vec!["", "", "", "x", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad"]);
    (chunks, (last, end()), trailers, end(), further).prop_map(|(chunks, last, trailers, end, further)| {
        let chunks: String = chunks.into_iter().flat_map(|(size, end, data, after)| [size, end, data, after]).collect();
        let trailers: String = trailers.into_iter().flat_map(|(line, end)| [line, end]).collect();
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        [head, &chunks, last.0, last.1, &trailers, end, further].concat()
    })
}

/// An answer as it is sent, with some bytes changed.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![prop::sample::select(b"\r\n\t\0 :,;05aA-".to_vec()), any::<u8>()];
    let edit = (any::<prop::sample::Index>(), byte, 0..3_u8);
    let edits = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(edit, 1..3)];
    (prop_oneof![2 => mixed().boxed(), 1 => chunked().boxed()], edits).prop_map(|(answer, edits)| {
        // Each character is a byte.
        let mut answer: Vec<u8> = answer.chars().map(|character| character as u8).collect();
        for (at, byte, how) in edits {
            let at = at.index(answer.len());
            match how {
                0 => answer[at] = byte,
                1 => answer.insert(at, byte),
                _ => drop(answer.remove(at)),
            }
        }
        answer
    })
}

#[test]
fn answers_are_read_as_hyper_reads_them_and_the_same_in_pieces_of_any_size() {
    let config = Config { cases: CASES, rng_seed: RngSeed::Fixed(15), failure_persistence: None, ..Config::default() };
    let checked = TestRunner::new(config).run(&(answers(), any::<bool>()), |(answer, is_closed)| {
        let whole = read_http1(Pieces::new([answer.as_slice()], is_closed), MAX_HEAD);
        for size in [1, 3, 1_000, answer.len().max(1)] {
            let pieces = || Pieces::new(answer.chunks(size), is_closed);
            prop_assert_eq!(&read_http1(pieces(), MAX_HEAD), &whole, "in pieces of {}", size);
            let count = answer.len() / size + 1;
            let [strict, lenient] = [false, true].map(|is_lenient| read_by_hyper(pieces(), count, is_lenient));
            compare(&answer, &whole, &strict, &lenient)?;
        }
        Ok(())
    });
    checked.unwrap_or_else(|problem| panic!("{problem}"));
}

/// An answer as three readers read it.
struct Read<'a> {
    answer: &'a str,
    ours: &'a Reading,
    strict: &'a Reading,
    lenient: &'a Reading,
}

impl Read<'_> {
    /// Whether the answer has this part, in lower or upper case.
    fn has(&self, part: &str) -> bool {
        self.answer.to_ascii_lowercase().contains(part)
    }
}

fn is_whole(reading: &Reading) -> bool {
    reading.end == AnswerEnd::Whole
}

/// A difference that is meant, and how to know it.
type Known = (&'static str, fn(&Read<'_>) -> bool);

/// Answers that we read and hyper refuses, with the reason.
const WE_READ: [Known; 2] = [
    // Browsers and curl read such pages, so their servers stay as they are. hyper reads them with an option.
    ("folded lines and lines that are no headers", |read| is_whole(read.lenient)),
    // The body is whole by then, and its trailers are unused.
    ("trailers that are no headers", |read| {
        read.has("chunked") && read.lenient.status == read.ours.status && read.lenient.body == read.ours.body
    }),
];

/// Answers that we refuse and hyper reads, with the reason.
const WE_REFUSE: [Known; 2] = [
    // So many noughts before a size are written only to be misread.
    ("chunk sizes of more than 16 digits", |read| read.has("00000000000000005")),
    // A proxy on the way may go by it, and then the rest of the answer is not where we look for it.
    ("a malformed length that other parts of the head overrule", |read| {
        let has_no_body = [101, 204, 304].map(Some).contains(&read.strict.status);
        read.ours.status.is_none() && read.has("content-length") && (has_no_body || read.has("transfer-encoding"))
    }),
];

fn compare(answer: &[u8], ours: &Reading, strict: &Reading, lenient: &Reading) -> Result<(), TestCaseError> {
    let answer = &answer.escape_ascii().to_string();
    for theirs in [strict, lenient].into_iter().filter(|theirs| is_whole(ours) && is_whole(theirs)) {
        prop_assert_eq!((ours.status, &ours.body), (theirs.status, &theirs.body), "{}", answer);
    }
    prop_assert!(strict.is_reusable || !ours.is_reusable, "{}: hyper ends the connection: {:?}", answer, strict);
    let read = Read { answer, ours, strict, lenient };
    let is_known = match (is_whole(ours), is_whole(strict)) {
        (true, false) => WE_READ.iter().any(|(_, is_it)| is_it(&read)),
        (false, true) => WE_REFUSE.iter().any(|(_, is_it)| is_it(&read)),
        _ => true,
    };
    prop_assert!(is_known, "{}: hyper reads {:?}, we read {:?}", answer, strict, ours);
    Ok(())
}
