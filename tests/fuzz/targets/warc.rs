//! Archives of any answer: each record ends where it says, and a response is true about the body behind it.
//!
//! Input: a byte that says what came of the fetch, then all that the server sends.
#![no_main]

use fetcher::fuzzing::{KeptHeads, keep_heads};
use libfuzzer_sys::fuzz_target;
use messages::{Exchange, FetchOutcome, FetchRequest, FetchResult, Look};
use page::{CanonicalUrl, Timestamp};
use warc::{LogPosition, Originals, WarcRecordKind, capture};

const MAX_HEAD: usize = 64 << 10;
const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

fuzz_target!(|input: &[u8]| {
    let Some((choice, answer)) = input.split_first() else { return };
    let Some(KeptHeads { request, response, is_cut, is_head }) = keep_heads("", answer, MAX_HEAD) else { return };
    if !is_head {
        return;
    }
    // Any bytes do for a body.
    let body = &answer[answer.len() / 2..];
    let outcome =
        [FetchOutcome::Fetched, FetchOutcome::SameContent, FetchOutcome::NotModified, FetchOutcome::ClientError];
    let outcome = outcome[usize::from(choice % 4)];
    let body = (outcome == FetchOutcome::Fetched).then_some(body);
    let url = CanonicalUrl::parse("http://page.test/?a=%0d%0a").unwrap();
    let look = Look { status: Some(200), ..Look::new(FetchRequest::first(url.clone(), NOW), outcome, NOW) };
    let exchange = Exchange {
        url: url.as_str().to_owned(),
        requested_at: NOW,
        address: None,
        protocol: "http/1.1".to_owned(),
        request_head: request,
        response_head: response,
        is_cut,
        received_bytes: answer.len() as i64,
        body: None,
        body_is_cut: false,
    };
    let result = FetchResult { exchanges: vec![exchange], truncated: choice & 4 > 0, ..FetchResult::new(look) };
    let position = LogPosition { topic: "results", partition: 0, offset: 0 };
    for record in capture(&result, body, &position, &mut Originals::new(1)) {
        let block = block_of(&record.encode());
        assert_eq!(block, record.block());
        if record.kind() != WarcRecordKind::Response {
            continue;
        }
        let body = body.unwrap_or_default();
        let head = block.strip_suffix(body).expect("the body stands last");
        assert!(head.ends_with(b"\n\r\n") || head.ends_with(b"\n\n"), "an empty line ends the head");
        let lines = warc::header_lines(head);
        let is_reported = |name: &str| lines.iter().any(|(reported, _)| reported.trim().eq_ignore_ascii_case(name));
        assert!(!is_reported("content-encoding") && !is_reported("transfer-encoding"), "it is stored unpacked");
        for (name, value) in &lines {
            let is_length = name.trim().eq_ignore_ascii_case("content-length");
            assert!(!is_length || value.parse() == Ok(body.len()), "{value} bytes of {}", body.len());
        }
    }
});

/// The block of a record, read as WARC says and no other way.
fn block_of(record: &[u8]) -> Vec<u8> {
    let end = record.windows(4).position(|four| four == b"\r\n\r\n").expect("an empty line ends the header");
    let header = str::from_utf8(&record[..end]).expect("it is text");
    let mut lines = header.split("\r\n");
    assert_eq!(lines.next(), Some("WARC/1.1"));
    let mut length = None;
    for line in lines {
        let (name, value) = line.split_once(": ").expect("a name and a value");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') && !value.contains(char::is_control)
        );
        if name == "Content-Length" {
            assert!(length.replace(value.parse::<usize>().expect("a number")).is_none());
        }
    }
    let length = length.expect("it tells its length");
    let block = &record[end + 4..];
    assert_eq!(block.len(), length + 4);
    assert!(block.ends_with(b"\r\n\r\n"));
    block[..length].to_vec()
}
