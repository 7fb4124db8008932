//! A fetch result encoded and decoded by `messages` and by serde_avro_fast, in turn.

use messages::{Digest, Encoded, FetchOutcome, FetchRequest, FetchResult, Look, Message, Validators};
use page::{CanonicalUrl, Timestamp};
use serde_avro_fast::ser::SerializerConfig;
use std::hint::black_box;
use std::time::Duration;

/// Size of the body in the record.
const BODY_BYTES: usize = 20 << 10;
const REPETITIONS: u32 = 3_000;
/// Marker and fingerprint in front of a single object, which serde_avro_fast's datum does not have.
const HEADER_BYTES: usize = 10;

/// Measures both and prints nanoseconds, one figure a round.
pub fn measure(rounds: usize) {
    let record = record();
    let schema: serde_avro_fast::Schema = FetchResult::schema_record().json.parse().expect("the schema parses");
    let mut config = SerializerConfig::new(&schema);
    let encoded = record.encode();
    let datum = &encoded[HEADER_BYTES..];
    // A fast wrong answer has no speed: the same bytes, and the same record back.
    let other = serde_avro_fast::to_datum(&record, Vec::new(), &mut config).expect("serde_avro_fast encodes");
    assert!(other == datum, "messages and serde_avro_fast encode differently");
    assert!(FetchResult::decode(&encoded).expect("messages decodes") == record);
    let back: FetchResult = serde_avro_fast::from_datum_slice(datum, &schema).expect("serde_avro_fast decodes");
    assert!(back == record, "serde_avro_fast decodes differently");

    let mut buffer = Vec::with_capacity(encoded.len());
    let mut figures: [Vec<f64>; 4] = Default::default();
    for _ in 0..rounds {
        figures[0].push(ns(&mut || {
            buffer.clear();
            black_box(&record).encode_into(&mut buffer);
        }));
        figures[1].push(ns(&mut || {
            let mut reused = std::mem::take(&mut buffer);
            reused.clear();
            buffer = serde_avro_fast::to_datum(black_box(&record), reused, &mut config).expect("it did before");
        }));
        figures[2].push(ns(&mut || {
            black_box(FetchResult::decode(black_box(&encoded)).expect("it did before"));
        }));
        figures[3].push(ns(&mut || {
            let back: FetchResult =
                serde_avro_fast::from_datum_slice(black_box(datum), &schema).expect("it did before");
            black_box(back);
        }));
    }
    let names = ["messages encode", "serde_avro_fast encode", "messages decode", "serde_avro_fast decode"];
    for (name, figures) in names.iter().zip(figures) {
        let figures: Vec<_> = figures.iter().map(|figure| format!("{figure:.1}")).collect();
        println!("{name} ns: {}", figures.join(" "));
    }
}

fn record() -> FetchResult {
    let url = CanonicalUrl::parse("https://www.example.org/some/path/to/a/page.html?x=12345&y=abc").expect("a URL");
    let at = Timestamp::from_secs(1_763_640_000);
    let look = Look {
        latency_ms: 143,
        status: Some(200),
        validators: Validators {
            url: None,
            etag: Some("\"5f3c-5e2a9b1c2d3e4\"".to_owned()),
            last_modified: Some("Thu, 13 Nov 2025 02:13:20 GMT".to_owned()),
            content_digest: Some(Digest([9; 32])),
            failed_conditions: 0,
        },
        body_length: 65_536,
        wire_bytes: 66_000,
        ..Look::new(FetchRequest::first(url, at), FetchOutcome::Fetched, at)
    };
    FetchResult {
        content_type: Some("text/html; charset=utf-8".to_owned()),
        body: Some((0..BODY_BYTES).map(|index| (index * 31 % 251) as u8).collect()),
        ..FetchResult::new(look)
    }
}

fn ns(work: &mut dyn FnMut()) -> f64 {
    let before = thread_time();
    for _ in 0..REPETITIONS {
        work();
    }
    (thread_time() - before).as_secs_f64() * 1e9 / f64::from(REPETITIONS)
}

/// CPU time of this thread so far.
pub fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours, which the call fills.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0, "the clock of a thread can always be read");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
