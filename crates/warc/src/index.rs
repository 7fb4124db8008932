//! Indexes of archives (CDXJ): where in a file the captures of an address are.

use crate::head::header_lines;
use crate::record::{WarcRecord, labelled};
use crate::surt::surt;
use messages::Sha1;
use serde_json::Value;

/// Where a packed record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace<'a> {
    /// Name of the file, without a directory.
    pub file: &'a str,
    /// Bytes before the record.
    pub offset: u64,
    /// Bytes of the record as it is stored.
    pub length: u64,
}

/// The captures of a file, a line each: `KEY TIMESTAMP {…}`, by which pywb, ReplayWeb.page and others find and replay them.
///
/// The key is that of [`surt`], the timestamp has 14 digits, and the JSON has `url`, `mime`, `status`, `digest`, `length`,
/// `offset` and `filename`, as texts. Captures are responses, resources and revisits; a revisit has the type
/// `warc/revisit`. The lines are those that `cdxj-indexer --sort` (version 1.5, PyPI) writes of the same file, to the byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureIndex {
    lines: Vec<String>,
    bytes: u64,
}

impl CaptureIndex {
    /// Adds a record, if it is a capture.
    pub fn add(&mut self, record: &WarcRecord, place: RecordPlace<'_>) {
        let date = record.date().to_string();
        self.add_fields(
            &RecordFields {
                kind: record.kind().name(),
                url: record.field("WARC-Target-URI"),
                date: &date,
                content_type: Some(record.content_type()),
                payload_digest: record.field("WARC-Payload-Digest"),
                block: record.block(),
            },
            place,
        );
    }

    pub(crate) fn add_fields(&mut self, record: &RecordFields<'_>, place: RecordPlace<'_>) {
        let line = record.line(place);
        self.bytes += line.as_ref().map_or(0, |line| line.len() as u64);
        self.lines.extend(line);
    }

    /// Length of the index in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The index: its lines in the order of their bytes.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.lines.sort_unstable();
        self.lines.concat().into_bytes()
    }
}

/// The parts of a record that an index names.
pub(crate) struct RecordFields<'a> {
    pub(crate) kind: &'a str,
    pub(crate) url: Option<&'a str>,
    pub(crate) date: &'a str,
    pub(crate) content_type: Option<&'a str>,
    pub(crate) payload_digest: Option<&'a str>,
    pub(crate) block: &'a [u8],
}

impl RecordFields<'_> {
    /// The line of a capture, with its end.
    fn line(&self, place: RecordPlace<'_>) -> Option<String> {
        let is_revisit = self.kind == "revisit";
        let has_head = self.kind == "response" || is_revisit;
        if !has_head && (self.kind != "resource" || self.content_type == Some("application/warc-fields")) {
            return None;
        }
        let url = self.url?.replace(char::is_control, " ");
        let (head, body) = if has_head { split(self.block) } else { (&[][..], self.block) };
        let mime = match is_revisit {
            true => Some("warc/revisit".to_owned()),
            false if has_head => content_type(head).as_deref().map(without_parameters),
            false => self.content_type.map(without_parameters),
        };
        // The digest of a revisit is that of the original, which is elsewhere.
        let digest = self.payload_digest.map(str::to_owned);
        let digest = digest.or_else(|| (!is_revisit).then(|| labelled(Sha1::of(body))));
        let fields = [
            ("url", Some(url.clone())),
            ("mime", mime),
            ("status", status(head)),
            ("digest", digest),
            ("length", Some(place.length.to_string())),
            ("offset", Some(place.offset.to_string())),
            ("filename", Some(place.file.to_owned())),
        ];
        let fields =
            fields.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\": {}", Value::from(value?))));
        let timestamp: String = self.date.chars().filter(char::is_ascii_digit).take(14).collect();
        Some(format!("{} {timestamp} {{{}}}\n", surt(&url), fields.collect::<Vec<_>>().join(", ")))
    }
}

/// The head of a response with its empty line, and the body behind it.
fn split(block: &[u8]) -> (&[u8], &[u8]) {
    let is_end = |at: &usize| block[*at] == b'\n' && matches!(block[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]);
    let Some(end) = (0..block.len()).find(is_end) else { return (block, &[]) };
    block.split_at(end + if block[end + 1] == b'\n' { 2 } else { 3 })
}

fn status(head: &[u8]) -> Option<String> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.nth(1).map(|word| String::from_utf8_lossy(word).into_owned())
}

fn content_type(head: &[u8]) -> Option<String> {
    let mut headers = header_lines(head).into_iter();
    headers.find(|(name, _)| name.eq_ignore_ascii_case("content-type")).map(|(_, value)| value)
}

/// A media type without its parameters.
fn without_parameters(content_type: &str) -> String {
    content_type.split([';', ' ', '\t']).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordId, WarcRecordKind};
    use page::Timestamp;

    const FILE: &str = "recrawl-20251121000000123-00007.warc.gz";
    const HTTP: &str = "application/http;msgtype=response";

    fn record(kind: WarcRecordKind, second: i64, url: &str, content_type: &str, block: &str) -> WarcRecord {
        let id = RecordId::of(&format!("{kind:?} {second}"));
        let date = Timestamp::from_millis(1_763_683_200_123 + second * 1_000);
        WarcRecord::new(kind, id, date, content_type, block.as_bytes().to_vec()).with("WARC-Target-URI", url)
    }

    /// Captures of each kind, and records of other kinds.
    fn records() -> Vec<WarcRecord> {
        use WarcRecordKind::{Metadata, Request, Resource, Response, Revisit};
        let page = "https://www.a.test/Page?b=1&a=2";
        let digest = labelled(Sha1::of(b"abc"));
        let first =
            record(Response, 1, page, HTTP, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=UTF-8\r\n\r\nabc");
        let info = WarcRecord::warcinfo(FILE, first.date(), first.id(), &[("software", "recrawl")]);
        vec![
            info,
            record(Request, 1, page, "application/http;msgtype=request", "GET /Page?b=1&a=2 HTTP/1.1\r\n\r\n"),
            first.with("WARC-Payload-Digest", &digest),
            record(Metadata, 1, page, "application/warc-fields", "preference: search=n\r\n"),
            record(Revisit, 3, page, HTTP, "HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\n\r\n")
                .with("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified")
                .with("WARC-Payload-Digest", &digest),
            record(Revisit, 2, page, HTTP, "HTTP/1.1 200 OK\r\n\r\n")
                .with("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"),
            record(
                Response,
                4,
                "http://a.test/page",
                HTTP,
                "HTTP/1.1 301 Moved\r\nLocation: /Page\r\nContent-Length: 9\r\n\r\n",
            )
            .with("WARC-Truncated", "unspecified"),
            record(Response, 5, "http://a.test/\"quoted\\", HTTP, "HTTP/2 500 \r\ncontent-type:\r\n\r\nno\r\n\r\nhead"),
            record(Resource, 6, "http://b.test/", "text/plain;charset=x", "abc"),
        ]
    }

    /// The index that cdxj-indexer 1.5.0 made of a file with these records (`--sort`), and so their places in it.
    const INDEX: &str = include_str!("index/other.cdxj");
    /// Where the records begin and end. Those of the first two do not matter.
    const PLACES: [(u64, u64); 9] =
        [(0, 0), (0, 0), (543, 879), (879, 1153), (1153, 1525), (1525, 1849), (1849, 2146), (2146, 2425), (2425, 2671)];

    #[test]
    fn lines_are_those_of_another_indexer() {
        let mut index = CaptureIndex::default();
        for (record, (offset, end)) in records().iter().zip(PLACES) {
            index.add(record, RecordPlace { file: FILE, offset, length: end - offset });
        }
        assert_eq!(index.bytes(), INDEX.len() as u64);
        assert_eq!(String::from_utf8(index.into_bytes()).unwrap(), INDEX);
    }
}
