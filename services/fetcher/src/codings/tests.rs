use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::HeaderValue;

const LIMITS: BodyLimits = BodyLimits { wire: 1 << 20, kept: 1 << 20, ratio: 200 };
const PACKED: [Coding; 3] = [Coding::Gzip, Coding::Brotli, Coding::Zstd];

fn pack(coding: Coding, body: &[u8]) -> Vec<u8> {
    match coding {
        Coding::Identity => body.to_vec(),
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
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
    for coding in [Coding::Identity, Coding::Gzip, Coding::Brotli, Coding::Zstd] {
        for length in [0, 1, 5_000, 300_000] {
            let body = text(length);
            assert_eq!(unpack(coding, LIMITS, &pack(coding, &body)), Ok((body, false)), "{coding:?} {length}");
        }
    }
}

#[test]
fn a_body_is_cut_at_the_first_limit_it_meets() {
    let body = text(300_000);
    for coding in [Coding::Identity, Coding::Gzip, Coding::Brotli, Coding::Zstd] {
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
        for bytes in [&packed[..packed.len() / 2], &packed[..packed.len() - 1], b"<html>plain</html>"] {
            let problem = unpack(coding, LIMITS, bytes);
            assert!(matches!(problem, Err(BodyProblem::Corrupt(_))), "{coding:?} {}: {problem:?}", bytes.len());
        }
        assert_eq!(unpack(coding, LIMITS, b""), Ok((Vec::new(), false)), "{coding:?}");
    }
}

#[test]
fn half_a_stream_of_a_lost_connection_is_cut() {
    let body = text(30_000);
    for coding in [Coding::Identity, Coding::Gzip, Coding::Brotli, Coding::Zstd] {
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
    for coding in [Coding::Gzip, Coding::Brotli] {
        let packed = [pack(coding, b"page"), b"garbage".to_vec()].concat();
        assert_eq!(unpack(coding, LIMITS, &packed), Ok((b"page".to_vec(), false)), "{coding:?}");
    }
}

#[test]
fn one_known_coding_is_taken_and_nothing_else() {
    let check = |values: &[&str], expected: Result<Coding, &str>| {
        let values = values.iter().map(|value| (header::CONTENT_ENCODING, HeaderValue::from_str(value).unwrap()));
        let headers: HeaderMap = values.fold(HeaderMap::new(), |mut headers, (name, value)| {
            headers.append(name, value);
            headers
        });
        assert_eq!(Coding::of(&headers), expected.map_err(str::to_owned), "{headers:?}");
    };
    check(&[], Ok(Coding::Identity));
    check(&["", "identity"], Ok(Coding::Identity));
    check(&["GZip"], Ok(Coding::Gzip));
    check(&["x-gzip"], Ok(Coding::Gzip));
    check(&["br, identity"], Ok(Coding::Brotli));
    check(&["zstd"], Ok(Coding::Zstd));
    check(&["gzip, gzip"], Err("gzip, gzip"));
    check(&["br", "gzip"], Err("br, gzip"));
    check(&["deflate"], Err("deflate"));
    check(&["gzip;q=1"], Err("gzip;q=1"));
}
