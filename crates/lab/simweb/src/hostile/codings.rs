//! Compressed bodies: bombs, truncated ones, false content codings.

use crate::hostile::script::{ReplyScript, ScriptStep, answer_bytes, head, page, raw, steps};
use crate::hostile::{Expect, Misbehaviour, PACKED_BYTES};
use chance::{Draws, Lcg};
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compression, GzBuilder};
use std::io::Write;

const MALFORMED: Expect = Expect::none("malformed_response");
const REFUSED: Expect = Expect::none("content_refused");
const BOMB: Expect = Expect::none("too_large");
const HELLO: &[u8] = b"<html><p>hello</p></html>";

type Pack = fn(&[u8]) -> Vec<u8>;

/// The tested codings: name and compressor.
const CODINGS: [(&str, Pack); 3] = [("gzip", gzip), ("br", brotli), ("zstd", zstd)];

/// Writing to memory does not fail.
const IN_MEMORY: &str = "memory takes all that is written";

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

fn brotli(body: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    brotli::CompressorWriter::new(&mut packed, 4_096, 5, 22).write_all(body).expect(IN_MEMORY);
    packed
}

/// With a window that only the format's extension allows.
fn brotli_with_large_window(body: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let params = brotli::enc::BrotliEncoderParams { lgwin: 30, large_window: true, ..Default::default() };
    brotli::BrotliCompress(&mut &*body, &mut packed, &params).expect(IN_MEMORY);
    packed
}

fn zstd(body: &[u8]) -> Vec<u8> {
    zstd::encode_all(body, 3).expect(IN_MEMORY)
}

/// Numbers that compress badly.
fn noise(length: usize) -> Vec<u8> {
    let mut random = Lcg(1);
    std::iter::repeat_with(|| (random.bits() >> 56) as u8).take(length).collect()
}

fn packed(coding: &str, bytes: impl AsRef<[u8]>) -> ReplyScript {
    page(&format!("content-encoding: {coding}\r\n"), bytes)
}

/// The same four cases for each coding.
fn of_each_coding() -> impl Iterator<Item = Misbehaviour> {
    CODINGS.into_iter().enumerate().flat_map(|(number, (coding, pack))| {
        let case = |what: &str, bytes: &[u8], expect| {
            Misbehaviour::new(format!("{coding}-{what}"), packed(coding, bytes), expect)
        };
        let whole = pack(HELLO);
        let hollow = pack(&noise(30_000));
        let other = CODINGS[(number + 1) % CODINGS.len()];
        let mut broken = hollow.clone();
        let middle = broken.len() / 2;
        broken[middle..middle + 64].fill(0xff);
        let bomb_after_page = [HELLO.repeat(100), vec![b' '; 10 << 20]].concat();
        vec![
            case("bomb-of-nul-bytes", &pack(&vec![0; 10 << 20]), BOMB),
            case("bomb-of-elements", &pack(&b"<div>".repeat(2 << 20)), BOMB),
            case("bomb-after-a-page", &pack(&bomb_after_page), BOMB),
            case("bomb-in-a-bomb", &pack(&pack(&vec![0; 64 << 20])), Expect::some_page()),
            case("cut-in-half", &hollow[..hollow.len() / 2], MALFORMED),
            case(
                "without-its-last-byte",
                &whole[..whole.len() - 1],
                match coding {
                    // It is of the length behind the data, which browsers do without.
                    "gzip" => Expect::page(HELLO.len() as u64),
                    _ => MALFORMED,
                },
            ),
            case("first-byte-only", &whole[..1], MALFORMED),
            case("not-packed-at-all", HELLO, MALFORMED),
            case("is-another-coding", &(other.1)(HELLO), MALFORMED),
            case(
                "broken-in-the-middle",
                &broken,
                match coding {
                    // Only gzip has a checksum. The others store noise uncompressed, so changed bytes may go unnoticed.
                    "gzip" => MALFORMED,
                    _ => Expect { outcome: "", ..MALFORMED },
                },
            ),
            case("without-a-body", b"", Expect::page(0)),
            case("of-an-empty-page", &pack(b""), Expect::page(0)),
            case("well-made", &whole, Expect::page(HELLO.len() as u64)),
            case("longer-than-received", &pack(&noise(200_000)), Expect { body_length: None, ..Expect::cut_page() }),
        ]
    })
}

fn gzip_headers() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let named = |name: Vec<u8>| {
        let mut encoder = GzBuilder::new().filename(name).write(Vec::new(), Compression::best());
        encoder.write_all(HELLO).expect(IN_MEMORY);
        encoder.finish().expect(IN_MEMORY)
    };
    let with = |at_from_end: usize, byte: u8| {
        let mut bytes = gzip(HELLO);
        let at = bytes.len() - at_from_end;
        bytes[at] ^= byte;
        bytes
    };
    let method = {
        let mut bytes = gzip(HELLO);
        bytes[2] = 7;
        bytes
    };
    let whole = Expect::page(HELLO.len() as u64);
    vec![
        case("gzip-file-name", packed("gzip", named(b"../../etc/passwd".to_vec())), whole.clone()),
        case(
            "gzip-file-name-of-1-mib",
            packed("gzip", named(vec![b'x'; 1 << 20])),
            Expect { truncated: true, ..Expect::page(0) },
        ),
        case("gzip-unknown-method", packed("gzip", method), MALFORMED),
        case("gzip-wrong-checksum", packed("gzip", with(8, 1)), MALFORMED),
        case("gzip-wrong-length", packed("gzip", with(4, 1)), MALFORMED),
        case("gzip-then-garbage", packed("gzip", [&gzip(HELLO)[..], b"garbage"].concat()), whole.clone()),
        case("gzip-then-a-bomb", packed("gzip", [gzip(HELLO), gzip(&vec![0; 10 << 20])].concat()), Expect::cut_page()),
        case("gzip-in-two-members", packed("gzip", [gzip(&HELLO[..9]), gzip(&HELLO[9..])].concat()), whole.clone()),
        case("gzip-then-half-a-member", packed("gzip", [&gzip(HELLO)[..], &gzip(HELLO)[..20]].concat()), MALFORMED),
        case("gzip-without-a-trailer", packed("gzip", &gzip(HELLO)[..gzip(HELLO).len() - 8]), whole),
    ]
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    let case = Misbehaviour::new;
    let whole = Expect::page(HELLO.len() as u64);
    let mut cases: Vec<_> = of_each_coding().filter(|case| !case.expect.outcome.is_empty()).collect();
    cases.extend(gzip_headers());
    cases.extend([
        case("coding-unknown", packed("x-klingon", HELLO), whole.clone()),
        case("coding-that-is-a-charset", packed("UTF-8", HELLO), whole.clone()),
        case("coding-deflate-unasked", packed("deflate", deflate(HELLO)), whole.clone()),
        case("coding-compress-unasked", packed("compress", b"\x1f\x9d\x90"), REFUSED),
        case("br-with-large-window", packed("br", brotli_with_large_window(HELLO)), MALFORMED),
        case("codings-stacked", packed("gzip, gzip", gzip(&gzip(HELLO))), REFUSED),
        case("codings-stacked-unlike", packed("br, zstd", zstd(&brotli(HELLO))), REFUSED),
        case("codings-in-two-headers", packed("gzip\r\ncontent-encoding: gzip", gzip(&gzip(HELLO))), REFUSED),
        case("codings-a-hundred", packed(&["gzip"; 100].join(", "), HELLO), REFUSED),
        case("coding-of-10-kib", packed(&"x".repeat(10_000), HELLO), whole.clone()),
        case("coding-empty", packed("", HELLO), whole.clone()),
        case("coding-identity", packed("identity", HELLO), whole.clone()),
        case("coding-in-capitals", packed("GZIP", gzip(HELLO)), whole.clone()),
        case("coding-old-name", packed("x-gzip", gzip(HELLO)), whole),
        case("zstd-window-of-a-gib", packed("zstd", b"\x28\xb5\x2f\xfd\x00\xa0\x00\x00\x00\x00"), MALFORMED),
        case(
            "zstd-empty-frames-endless",
            {
                let frames = ScriptStep::Forever(b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip".repeat(300));
                steps(vec![ScriptStep::Send(head("content-encoding: zstd\r\n")), frames])
            },
            Expect { truncated: true, ..Expect::page(0) },
        ),
        case(
            "gzip-endless",
            {
                let start = gzip(&noise(30_000));
                let head = head("content-encoding: gzip\r\n");
                steps(vec![ScriptStep::Send([head, start].concat()), ScriptStep::Forever(vec![0xff; 4_096])])
            },
            Expect { truncated: true, body_length: Some(30_000), ..Expect::page(0) },
        ),
        case(
            "bomb-on-an-error-page",
            {
                let bomb = gzip(&vec![0; 10 << 20]);
                let lines = format!(
                    "HTTP/1.1 404 Not Found\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
                    bomb.len()
                );
                raw([lines.into_bytes(), bomb].concat())
            },
            Expect::answer("not_found", 404),
        ),
        case("coding-on-304", raw(answer_bytes("304 Not Modified", "content-encoding: gzip\r\n")), MALFORMED),
    ]);
    debug_assert!(cases.iter().all(|case| case.expect.body_length.is_none_or(|length| length <= 4 * PACKED_BYTES)));
    cases
}
