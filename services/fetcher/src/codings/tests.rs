use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use hyper::header::HeaderValue;

const LIMITS: BodyLimits = BodyLimits { wire: 1 << 20, kept: 1 << 20, ratio: 200 };
const PACKED: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];
const ALL: [Coding; 5] = [Coding::Identity, Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

fn pack(coding: Coding, body: &[u8]) -> Vec<u8> {
    match coding {
        Coding::Identity => body.to_vec(),
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        Coding::Deflate => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        Coding::Brotli => {
            let mut packed = Vec::new();
            brotli::CompressorWriter::new(&mut packed, 4_096, 5, 22).write_all(body).unwrap();
            packed
        }
        Coding::Zstd => zstd::encode_all(body, 3).unwrap(),
    }
}

fn unpack(coding: Coding, limits: BodyLimits, packed: &[u8]) -> Result<(Vec<u8>, bool), BodyProblem> {
    let mut unpacker = Unpacker::new(coding, limits, packed.len() as u64, BodyRoom::alone()).unwrap();
    for piece in packed.chunks(700) {
        if unpacker.take(piece)? == More::Cut {
            break;
        }
    }
    unpacker.finish(false)
}

/// Text that compresses about as well as a page.
fn text(length: usize) -> Vec<u8> {
    (0_u64..).flat_map(|number| (number * number % 8_191).to_string().into_bytes()).take(length).collect()
}

#[test]
fn every_coding_gives_the_body_back() {
    for coding in ALL {
        for length in [0, 1, 5_000, 300_000] {
            let body = text(length);
            assert_eq!(unpack(coding, LIMITS, &pack(coding, &body)), Ok((body, false)), "{coding:?} {length}");
        }
    }
}

#[test]
fn a_body_is_cut_at_the_first_limit_it_meets() {
    let body = text(300_000);
    for coding in ALL {
        let packed = pack(coding, &body);
        let (kept, is_cut) = unpack(coding, BodyLimits { kept: 10_000, ..LIMITS }, &packed).unwrap();
        assert_eq!((kept.as_slice(), is_cut), (&body[..10_000], true), "{coding:?}");
        let wire = packed.len() as u64 / 2;
        let (kept, is_cut) = unpack(coding, BodyLimits { wire, ..LIMITS }, &packed).unwrap();
        assert!(is_cut && kept.len() < body.len() && body.starts_with(&kept), "{coding:?} {}", kept.len());
        let whole = BodyLimits { wire: packed.len() as u64, kept: body.len(), ..LIMITS };
        assert_eq!(unpack(coding, whole, &packed), Ok((body.clone(), false)), "{coding:?}");
    }
}

#[test]
fn a_bomb_is_known_by_its_ratio() {
    for coding in PACKED {
        let packed = pack(coding, &vec![0; 4 << 20]);
        let limits = BodyLimits { kept: 8 << 20, ..LIMITS };
        assert_eq!(unpack(coding, limits, &packed), Err(BodyProblem::Bomb), "{coding:?} {}", packed.len());
    }
    let short = vec![0; RATIO_SLACK as usize];
    for coding in PACKED {
        assert_eq!(unpack(coding, LIMITS, &pack(coding, &short)), Ok((short.clone(), false)), "{coding:?}");
    }
}

#[test]
fn half_a_stream_and_one_that_was_never_packed_are_corrupt() {
    let body = text(30_000);
    for coding in PACKED {
        let packed = pack(coding, &body);
        // The check sum of gzip and deflate may be absent.
        let sum = match coding {
            Coding::Gzip => 8,
            Coding::Deflate => 4,
            _ => 0,
        };
        for bytes in [&packed[..packed.len() / 2], &packed[..packed.len() - sum - 1], b"<html>plain</html>"] {
            let problem = unpack(coding, LIMITS, bytes);
            assert!(matches!(problem, Err(BodyProblem::Corrupt(_))), "{coding:?} {}: {problem:?}", bytes.len());
        }
        assert_eq!(unpack(coding, LIMITS, b""), Ok((Vec::new(), false)), "{coding:?}");
    }
}

#[test]
fn half_a_stream_of_a_lost_connection_is_cut() {
    let body = text(30_000);
    for coding in ALL {
        let packed = pack(coding, &body);
        for length in [packed.len() / 2, packed.len() - 1] {
            let mut unpacker = Unpacker::new(coding, LIMITS, packed.len() as u64, BodyRoom::alone()).unwrap();
            assert_eq!(unpacker.take(&packed[..length]), Ok(More::Wanted));
            let (kept, is_cut) = unpacker.finish(true).unwrap();
            assert!(is_cut && body.starts_with(&kept), "{coding:?} {length}");
            // A block of brotli or zstd comes out whole, or not at all.
            assert!(coding == Coding::Zstd || kept.len() > 5_000, "{coding:?} {length}: {}", kept.len());
        }
    }
}

#[test]
fn what_follows_a_packed_stream_is_left_out() {
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli] {
        for garbage in [b"garbage".as_slice(), b"\0\0\0", b"\x1f", b"\x1f\x8b\x07", b"\0\0\x1f\x8bx"] {
            let packed = [pack(coding, b"page"), garbage.to_vec()].concat();
            assert_eq!(unpack(coding, LIMITS, &packed), Ok((b"page".to_vec(), false)), "{coding:?} {garbage:?}");
        }
    }
}

/// A gzip member with each optional part of the head that these flags name.
fn member(flags: u8, body: &[u8]) -> Vec<u8> {
    let packed = pack(Coding::Gzip, body);
    let mut bytes = packed[..10].to_vec();
    bytes[3] = flags;
    for (flag, part) in [(4, b"\x05\0extra".as_slice()), (8, b"a name\0"), (16, b"a comment\0"), (2, b"hc")] {
        bytes.extend_from_slice(if flags & flag != 0 { part } else { b"" });
    }
    bytes.extend_from_slice(&packed[10..]);
    bytes
}

/// The outcome of a body that comes in pieces of one byte, which is that of any other pieces.
fn in_single_bytes(coding: Coding, packed: &[u8]) -> Result<(Vec<u8>, bool), BodyProblem> {
    let mut unpacker = Unpacker::new(coding, LIMITS, packed.len() as u64, BodyRoom::alone()).unwrap();
    let taken = packed.chunks(1).try_for_each(|piece| unpacker.take(piece).map(drop));
    let outcome = taken.and_then(|()| unpacker.finish(false));
    assert_eq!(outcome.is_ok(), unpack(coding, LIMITS, packed).is_ok());
    outcome
}

#[test]
fn all_members_of_a_gzip_body_are_read() {
    let (first, second) = (text(500), text(3_000));
    for flags in 0..32 {
        for between in [b"".as_slice(), b"\0\0\0\0"] {
            let packed = [&member(flags, &first), between, &member(flags, &second), &member(0, b"")].concat();
            let body = [&first[..], &second].concat();
            assert_eq!(in_single_bytes(Coding::Gzip, &packed), Ok((body, false)), "{flags}");
        }
    }
    let half = [pack(Coding::Gzip, &first), pack(Coding::Gzip, &second)[..500].to_vec()].concat();
    assert!(matches!(in_single_bytes(Coding::Gzip, &half), Err(BodyProblem::Corrupt(_))), "never the first for both");
    let two = [pack(Coding::Zstd, &first), pack(Coding::Zstd, &second)].concat();
    assert_eq!(unpack(Coding::Zstd, LIMITS, &two).unwrap().0.len(), 3_500, "frames of zstd are alike");
}

#[test]
fn data_that_are_whole_need_no_check_sum_and_a_wrong_one_is_a_fault() {
    let body = text(40_000);
    for (coding, sum) in [(Coding::Gzip, 8), (Coding::Deflate, 4)] {
        let packed = pack(coding, &body);
        for missing in 1..=sum {
            let short = &packed[..packed.len() - missing];
            assert_eq!(in_single_bytes(coding, short), Ok((body.clone(), false)), "{coding:?} {missing}");
        }
    }
    let mut wrong = pack(Coding::Gzip, &body);
    let at = wrong.len() - 8;
    wrong[at] ^= 1;
    assert!(matches!(in_single_bytes(Coding::Gzip, &wrong), Err(BodyProblem::Corrupt(_))));
}

#[test]
fn data_that_were_flushed_and_not_ended_are_whole() {
    let body = text(40_000);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&body).unwrap();
    gzip.flush().unwrap();
    assert_eq!(in_single_bytes(Coding::Gzip, gzip.get_ref()), Ok((body.clone(), false)));
    let shorter = &gzip.get_ref()[..gzip.get_ref().len() - 1];
    assert!(matches!(in_single_bytes(Coding::Gzip, shorter), Err(BodyProblem::Corrupt(_))));
}

#[test]
fn deflate_comes_with_the_head_of_zlib_and_without() {
    for length in [0, 1, 5_000, 300_000] {
        let body = text(length);
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(&body).unwrap();
        assert_eq!(in_single_bytes(Coding::Deflate, &raw.finish().unwrap()), Ok((body.clone(), false)));
        assert_eq!(in_single_bytes(Coding::Deflate, &pack(Coding::Deflate, &body)), Ok((body, false)));
    }
}

#[test]
fn one_known_coding_is_read_and_a_word_that_is_none_says_nothing() {
    let check = |values: &[&str], expected: Result<Coding, &str>| {
        let values = values.iter().map(|value| (header::CONTENT_ENCODING, HeaderValue::from_str(value).unwrap()));
        let headers: HeaderMap = values.fold(HeaderMap::new(), |mut headers, (name, value)| {
            headers.append(name, value);
            headers
        });
        assert_eq!(Coding::of(&headers), expected.map_err(str::to_owned), "{headers:?}");
    };
    check(&[], Ok(Coding::Identity));
    for word in ["", "identity", "UTF-8", "none", "8bit", "binary", "text/html", "iso-8859-1", "chunked", "?"] {
        check(&[word], Ok(Coding::Identity));
        check(&[word, "gzip"], Ok(Coding::Gzip));
        check(&[&format!("br,{word}")], Ok(Coding::Brotli));
    }
    check(&["GZip"], Ok(Coding::Gzip));
    check(&["x-gzip"], Ok(Coding::Gzip));
    check(&["gzip;q=1"], Ok(Coding::Gzip));
    check(&["\"gzip\""], Ok(Coding::Gzip));
    check(&["deflate"], Ok(Coding::Deflate));
    check(&["zstd"], Ok(Coding::Zstd));
    check(&["gzip, gzip"], Err("gzip, gzip"));
    check(&["br", "gzip"], Err("br, gzip"));
    check(&["compress"], Err("compress"));
    check(&["gzip", "bzip2"], Err("gzip, bzip2"));
}
