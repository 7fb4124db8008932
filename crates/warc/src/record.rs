//! One record of a WARC file, and its bytes.

use data_encoding::BASE32;
use flate2::Compression;
use flate2::write::GzEncoder;
use messages::Sha1;
use page::Timestamp;
use std::fmt;
use std::io::Write;
use uuid::{Builder, Uuid};

/// Names of records are made below this name (RFC 9562 §5.5); any would do that is nobody else's.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f0c_1c5a_8a1e_4a57_9d52_0a3b_7d1f_52e4);

/// What a record is (WARC §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// About the records of the file.
    Warcinfo,
    /// A request as sent.
    Request,
    /// A response.
    Response,
    /// A response whose body is that of an earlier record.
    Revisit,
    /// A body without what is known of how it came.
    Resource,
}

impl Kind {
    /// The word of the field `WARC-Type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warcinfo => "warcinfo",
            Self::Request => "request",
            Self::Response => "response",
            Self::Revisit => "revisit",
            Self::Resource => "resource",
        }
    }
}

/// The name of a record: a UUID made of another name, the same whenever it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(Uuid);

impl RecordId {
    /// The id of what has this name (UUID version 5).
    pub fn of(name: &str) -> Self {
        let hash = Sha1::of(&[NAMESPACE.as_bytes(), name.as_bytes()].concat());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.0[..16]);
        Self(Builder::from_sha1_bytes(bytes).into_uuid())
    }
}

/// As it stands in a field: `<urn:uuid:…>`.
impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0.urn())
    }
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    kind: Kind,
    id: RecordId,
    date: Timestamp,
    fields: Vec<(&'static str, String)>,
    content_type: String,
    block: Vec<u8>,
}

impl Record {
    /// A record of this kind. `date` is when what it holds was captured, `block` of the type `content_type`.
    pub fn new(kind: Kind, id: RecordId, date: Timestamp, content_type: &str, block: Vec<u8>) -> Self {
        Self { kind, id, date, fields: Vec::new(), content_type: content_type.to_owned(), block }
    }

    /// The record that a file begins with (WARC §6.2): about this file, by these lines. `first` is the record after it.
    pub fn warcinfo(file: &str, written_at: Timestamp, first: RecordId, lines: &[(&str, &str)]) -> Self {
        let id = RecordId::of(&format!("warcinfo {file} {first}"));
        let lines = lines.iter().map(|(name, value)| format!("{name}: {}\r\n", value.replace(char::is_control, " ")));
        let block = lines.collect::<String>().into_bytes();
        Self::new(Kind::Warcinfo, id, written_at, "application/warc-fields", block).with("WARC-Filename", file)
    }

    /// The same with a named field more (WARC §5). What would end the line early becomes a space.
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.fields.push((name, value.to_string()));
        self
    }

    /// The same with a named field more, if there is a value.
    pub fn with_some(self, name: &'static str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its name.
    pub fn id(&self) -> RecordId {
        self.id
    }

    /// When what it holds was captured.
    pub fn date(&self) -> Timestamp {
        self.date
    }

    /// A field that was added to it.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// What it holds.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// Its bytes (WARC §4).
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

    /// Its bytes as a gzip member of its own (WARC, annex D), so that a reader can begin with it. Bytes that are the same
    /// pack the same: no time and no name are in it.
    pub fn pack(&self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(&self.encode()).and_then(|()| encoder.finish());
        packed.expect("a Vec takes all that is written to it")
    }
}

/// A digest as it stands in a field (WARC §5.8, §5.9), in the form that the indexes of archives have it.
pub(crate) fn labelled(digest: Sha1) -> String {
    format!("sha1:{}", BASE32.encode(&digest.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::MultiGzDecoder;
    use proptest::prelude::*;
    use std::io::Read;

    fn record(value: &str, block: &[u8]) -> Record {
        let date = Timestamp::from_millis(1_763_683_200_123);
        let record = Record::new(Kind::Response, RecordId::of("a"), date, "text/plain", block.to_vec());
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
            let packed = records.iter().flat_map(Record::pack).collect::<Vec<_>>();
            let mut unpacked = Vec::new();
            MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).unwrap();
            prop_assert_eq!(unpacked, records.iter().flat_map(Record::encode).collect::<Vec<_>>());
        }
    }
}
