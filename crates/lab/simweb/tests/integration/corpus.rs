//! Replays of the corpora: a made one always, the real ones where they are.

use page::Timestamp;
use simweb::{CorpusError, ReplayConfig, SimWeb, SimWebConfig, StateContent, WebSource, manual_clock};
use std::path::Path;

const START: Timestamp = Timestamp::from_secs(1_700_000_000);

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
}

/// Two sources with calendars of their own; day 0 of the window is day 10 of the first and day 110 of the second.
fn made_corpus() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let day = |days: u32| u64::from(days) * 86_400;
    write(
        directory.path(),
        "pages.csv.zst",
        "page_id,host,path,source,mime,importance,n_rows,first_time,last_time,gold\n\
         0,one.test,/a,one,text/plain,,3,0,0,0\n1,one.test,/b,one,text/plain,,2,0,0,0\n\
         2,two.test,/c,two,text/plain,,1,0,0,0\n3,two.test,/d,two,text/plain,,1,0,0,0\n",
    );
    let changes = [
        (0, day(1), "I", "0"),
        (0, day(9), "M", "1"),
        (0, day(11), "M", "2"),
        (0, day(11), "M", "3"),
        (0, day(20), "M", "0"),
        (1, day(2), "A", "4"),
        (1, day(3), "D", ""),
        (2, day(100), "I", "5"),
        (3, day(120), "A", "6"),
    ];
    let rows: String =
        changes.iter().map(|(page, time, kind, blob)| format!("{page},{time},{kind},{blob}\n")).collect();
    write(directory.path(), "changes.csv.zst", &format!("page_id,unix_time,kind,blob_id\n{rows}"));
    let texts = ["zero", "first", "second", "third", "fourth", "fifth", "sixth"];
    let frame = texts.concat();
    let packed = zstd::encode_all(frame.as_bytes(), 3).unwrap();
    std::fs::write(directory.path().join("content.bin"), [b"skip".as_slice(), &packed].concat()).unwrap();
    let frames =
        format!("frame_id,file,file_offset,comp_len,raw_len\n0,content.bin,4,{},{}\n", packed.len(), frame.len());
    write(directory.path(), "frames.csv.zst", &frames);
    let mut blobs = String::from("blob_id,frame_id,offset,length,sha256_16\n");
    let mut offset = 0;
    for (number, text) in texts.iter().enumerate() {
        blobs += &format!("{number},0,{offset},{},00000000000000{number:02x}\n", text.len());
        offset += text.len();
    }
    write(directory.path(), "blobs.csv.zst", &blobs);
    directory
}

#[test]
fn each_source_is_cut_at_its_own_end_and_all_begin_together() {
    let corpus = made_corpus();
    let config = ReplayConfig { days: 10.0, start: START, ..ReplayConfig::new(corpus.path()) };
    let (_, clock) = manual_clock(START);
    let web = SimWeb::start(SimWebConfig::new(WebSource::Replay(config)), clock).unwrap().web();
    let trace = web.trace();
    let addresses: Vec<_> = trace.pages.iter().map(|page| page.url()).collect();
    assert_eq!(addresses, ["http://one.test/a", "http://two.test/c", "http://two.test/d"], "/b was gone before");
    let days: Vec<_> = trace.pages[0].states.iter().map(|state| state.since.days_since(START)).collect();
    assert_eq!(days, [-1.0, 1.0, 10.0], "the state before the window stays, one of two rows at one second too");
    assert_eq!(trace.pages[1].states[0].since.days_since(START), -10.0);
    assert_eq!(trace.pages[2].version_at(START), None);
    let texts: Vec<_> = (0..3).map(|version| web.body(0, version).unwrap()).collect();
    assert_eq!(texts, ["first", "third", "zero"]);
    assert_eq!(trace.pages[0].states[1].content, StateContent::Blob(3));
}

#[test]
fn sources_are_chosen_and_sampled_always_alike() {
    let corpus = made_corpus();
    let trace = |sources: &[&str], most| {
        let sources = sources.iter().map(|source| (*source).to_owned()).collect();
        ReplayConfig { days: 150.0, sources, max_pages_per_source: most, ..ReplayConfig::new(corpus.path()) }.trace()
    };
    assert_eq!(trace(&[], 9).unwrap().pages.len(), 4);
    assert_eq!(trace(&["two"], 9).unwrap().pages.len(), 2);
    assert_eq!(trace(&[], 1).unwrap().pages.len(), 2);
    assert_eq!(trace(&[], 1).unwrap(), trace(&["one", "two"], 1).unwrap());
    assert!(matches!(trace(&["three"], 9), Err(CorpusError::Empty { .. })));
}

#[test]
fn a_broken_corpus_says_where() {
    let corpus = made_corpus();
    write(corpus.path(), "changes.csv.zst", "page_id,unix_time,kind,blob_id\n0,86400,I,0\n0,yesterday,M,1\n");
    let message = ReplayConfig::new(corpus.path()).trace().unwrap_err().to_string();
    assert!(message.ends_with("changes.csv.zst, row 2: column unix_time is missing or malformed"), "{message}");
    let message = ReplayConfig::new(corpus.path().join("nowhere")).trace().unwrap_err().to_string();
    assert!(message.contains("is it a corpus directory?"), "{message}");
}

#[test]
fn real_bytes_are_those_that_the_corpus_describes() {
    let Some(content) = corpora::find("content") else { return };
    let config = ReplayConfig { max_pages_per_source: 20, days: 20.0, ..ReplayConfig::new(content) };
    let (_, clock) = manual_clock(START);
    let web = SimWeb::start(SimWebConfig::new(WebSource::Replay(config)), clock).unwrap().web();
    let mut checked = 0;
    for (number, page) in web.trace().pages.iter().enumerate() {
        for (version, state) in page.states.iter().enumerate().filter(|(_, state)| state.content != StateContent::Gone)
        {
            let body = web.body(number, version as u32).unwrap();
            assert_eq!(Some(sha256_16(&body)), web.content_digest(number, version as u32), "{} {state:?}", page.url());
            checked += 1;
        }
    }
    assert!(checked > 500, "{checked} bodies");
}

/// The first 64 bits of the SHA-256 (FIPS 180-4), whose constants are the fractional parts of roots of primes.
fn sha256_16(message: &[u8]) -> u64 {
    let primes: Vec<u32> =
        (2u32..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).take(64).collect();
    // Integer roots of prime << 64 and prime << 96, by bisection.
    let root = |prime: u32, power: u32| {
        let target = u128::from(prime) << (32 * power);
        let (mut low, mut high) = (0u128, 1 << 36);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(power) <= target { low = middle } else { high = middle }
        }
        low as u32
    };
    let k: Vec<u32> = primes.iter().map(|prime| root(*prime, 3)).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|prime| root(*prime, 2)).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len();
    padded[end - 8..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        for t in 16..64 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
            w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
        }
        let mut v = h.clone();
        for t in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[t]).wrapping_add(w[t]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0.wrapping_add(majority));
        }
        h.iter_mut().zip(&v).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
    }
    u64::from(h[0]) << 32 | u64::from(h[1])
}

#[test]
fn the_digest_of_this_file_is_sha_256() {
    assert_eq!(sha256_16(b"abc"), 0xba78_16bf_8f01_cfea);
    assert_eq!(sha256_16(&[b'a'; 1_000_000]), 0xcdc7_6e5c_9914_fb92);
}
