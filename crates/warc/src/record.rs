//! WARC records and their encoding.

use data_encoding::BASE32;
use flate2::Compression;
use flate2::write::GzEncoder;
use messages::Sha1;
use page::Timestamp;
use std::fmt;
use std::io::Write;
use uuid::{Builder, Uuid};

/// Namespace of the record ids (RFC 9562 §5.5). Any unique value would do.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f0c_1c5a_8a1e_4a57_9d52_0a3b_7d1f_52e4);

/// Type of a record (WARC §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarcRecordKind {
    /// Description of a file and its records.
    Warcinfo,
    /// A request as sent.
    Request,
    Response,
    /// A response with the same body as an earlier record.
    Revisit,
    /// A body without its HTTP exchange.
    Resource,
    /// Facts about another record.
    Metadata,
    /// Another form of the content of another record.
    Conversion,
}

impl WarcRecordKind {
    /// The value of the field `WARC-Type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warcinfo => "warcinfo",
            Self::Request => "request",
            Self::Response => "response",
            Self::Revisit => "revisit",
            Self::Resource => "resource",
            Self::Metadata => "metadata",
            Self::Conversion => "conversion",
        }
    }
}

/// Id of a record: a UUID derived from a name, so that it is reproducible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(Uuid);

impl RecordId {
    /// The id for a name (UUID version 5).
    pub fn of(name: &str) -> Self {
        let hash = Sha1::of(&[NAMESPACE.as_bytes(), name.as_bytes()].concat());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.0[..16]);
        Self(Builder::from_sha1_bytes(bytes).into_uuid())
    }
}

/// The notation in fields: `<urn:uuid:…>`.
impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0.urn())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarcRecord {
    kind: WarcRecordKind,
    id: RecordId,
    date: Timestamp,
    fields: Vec<(&'static str, String)>,
    content_type: String,
    block: Vec<u8>,
}

impl WarcRecord {
    /// A record without additional fields. `date` is the time of the capture, and `content_type` the type of `block`.
    pub fn new(kind: WarcRecordKind, id: RecordId, date: Timestamp, content_type: &str, block: Vec<u8>) -> Self {
        Self { kind, id, date, fields: Vec::new(), content_type: content_type.to_owned(), block }
    }

    /// The warcinfo record at the start of a file (WARC §6.2), with these lines as content. `first` is the record after
    /// it.
    pub fn warcinfo(file: &str, written_at: Timestamp, first: RecordId, lines: &[(&str, &str)]) -> Self {
        let id = RecordId::of(&format!("warcinfo {file} {first}"));
        let lines = lines.iter().map(|(name, value)| format!("{name}: {}\r\n", value.replace(char::is_control, " ")));
        let block = lines.collect::<String>().into_bytes();
        Self::new(WarcRecordKind::Warcinfo, id, written_at, "application/warc-fields", block)
            .with("WARC-Filename", file)
    }

    /// Adds a named field (WARC §5). Control characters in the value are encoded as spaces.
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.fields.push((name, value.to_string()));
        self
    }

    /// Adds a named field if there is a value.
    pub fn with_some(self, name: &'static str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub fn kind(&self) -> WarcRecordKind {
        self.kind
    }

    pub fn id(&self) -> RecordId {
        self.id
    }

    /// Time of the capture.
    pub fn date(&self) -> Timestamp {
        self.date
    }

    /// The value of an added field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The type of the content.
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// The content.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// Encodes the record (WARC §4).
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = b"WARC/1.1\r\n".to_vec();
        let mut line = |name: &str, value: &str| {
            let value = value.replace(char::is_control, " ");
            bytes.extend([name.as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        };
        line("WARC-Type", self.kind.name());
        line("WARC-Record-ID", &self.id.to_string());
        line("WARC-Date", &self.date.to_string());
        for (name, value) in &self.fields {
            line(name, value);
        }
        line("WARC-Block-Digest", &labelled(Sha1::of(&self.block)));
        line("Content-Type", &self.content_type);
        line("Content-Length", &self.block.len().to_string());
        bytes.extend(b"\r\n");
        bytes.extend(&self.block);
        bytes.extend(b"\r\n\r\n");
        bytes
    }

    /// Encodes the record as a gzip member of its own (WARC, annex D), so that readers can start at it. Reproducible:
    /// the member contains no time and no name.
    pub fn pack(&self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(&self.encode()).and_then(|()| encoder.finish());
        packed.expect("a Vec takes all that is written to it")
    }
}

/// A digest in the notation of fields (WARC §5.8, §5.9), as in the indexes of archives.
pub(crate) fn labelled(digest: Sha1) -> String {
    format!("sha1:{}", BASE32.encode(&digest.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::MultiGzDecoder;
    use proptest::prelude::*;
    use std::io::Read;

    fn record(value: &str, block: &[u8]) -> WarcRecord {
        let date = Timestamp::from_millis(1_763_683_200_123);
        let record = WarcRecord::new(WarcRecordKind::Response, RecordId::of("a"), date, "text/plain", block.to_vec());
        record.with("WARC-Target-URI", value)
    }

    #[test]
    fn a_record_has_these_bytes() {
        let expected = "WARC/1.1\r\n\
            WARC-Type: response\r\n\
            WARC-Record-ID: <urn:uuid:3c36633a-406a-53b8-979c-a24bb59c41dc>\r\n\
            WARC-Date: 2025-11-21T00:00:00.123Z\r\n\
            WARC-Target-URI: https://a.test/\r\n\
            WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n\
            Content-Type: text/plain\r\n\
            Content-Length: 3\r\n\
            \r\n\
            abc\r\n\r\n";
        assert_eq!(String::from_utf8(record("https://a.test/", b"abc").encode()).unwrap(), expected);
    }

    #[test]
    fn an_id_is_that_of_its_name() {
        assert_eq!(RecordId::of("a"), RecordId::of("a"));
        assert_ne!(RecordId::of("a"), RecordId::of("b"));
    }

    proptest! {
        #[test]
        fn a_record_says_where_it_ends_whatever_is_in_it(
            value in any::<String>(),
            block in prop::collection::vec(any::<u8>(), 0..500),
        ) {
            let bytes = record(&value, &block).encode();
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
            let head = std::str::from_utf8(&bytes[..end]).unwrap();
            prop_assert_eq!(head.split("\r\n").count(), 8, "{}", head);
            let length = head.rsplit_once("Content-Length: ").unwrap().1.parse::<usize>().unwrap();
            prop_assert_eq!(&bytes[end + 4..end + 4 + length], &block);
            prop_assert_eq!(&bytes[end + 4 + length..], b"\r\n\r\n");
        }

        #[test]
        fn packed_records_one_after_the_other_unpack_to_their_bytes(
            blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..500), 1..5),
        ) {
            let records: Vec<_> = blocks.iter().map(|block| record("https://a.test/", block)).collect();
            let packed = records.iter().flat_map(WarcRecord::pack).collect::<Vec<_>>();
            let mut unpacked = Vec::new();
            MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).unwrap();
            prop_assert_eq!(unpacked, records.iter().flat_map(WarcRecord::encode).collect::<Vec<_>>());
        }
    }
}
