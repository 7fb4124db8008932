//! Reads packed records back, as far as an index needs them.

use crate::index::{CaptureIndex, RecordFields, RecordPlace};
use flate2::bufread::GzDecoder;
use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// Makes the index of a file of packed records, each a gzip member of its own. `name` is the file's, without a directory.
///
/// # Errors
/// The file cannot be read to its end, or has something else than WARC records.
pub fn index_of(name: &str, archive: impl BufRead) -> Result<CaptureIndex> {
    let (mut archive, mut index) = (Counted { archive, bytes: 0 }, CaptureIndex::default());
    while !archive.fill_buf()?.is_empty() {
        let (offset, mut record) = (archive.bytes, Vec::new());
        GzDecoder::new(&mut archive).read_to_end(&mut record)?;
        let place = RecordPlace { file: name, offset, length: archive.bytes - offset };
        let wrong = || Error::new(ErrorKind::InvalidData, format!("there is no WARC record at byte {offset}"));
        index.add_fields(&fields(&record).ok_or_else(wrong)?, place);
    }
    Ok(index)
}

/// The parts of an unpacked record.
fn fields(record: &[u8]) -> Option<RecordFields<'_>> {
    let end = record.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&record[..end]).ok().filter(|head| head.starts_with("WARC/"))?;
    let field = |wanted: &str| {
        let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let length: usize = field("Content-Length")?.parse().ok()?;
    Some(RecordFields {
        kind: field("WARC-Type")?,
        url: field("WARC-Target-URI"),
        date: field("WARC-Date")?,
        content_type: field("Content-Type"),
        payload_digest: field("WARC-Payload-Digest"),
        block: record.get(end + 4..)?.get(..length)?,
    })
}

/// Counts the bytes that were read.
struct Counted<R> {
    archive: R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.archive.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.archive.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.archive.consume(amount);
        self.bytes += amount as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordId, WarcRecord, WarcRecordKind};
    use page::Timestamp;
    use proptest::prelude::*;
    use std::io::BufReader;

    fn record(number: usize, kind: WarcRecordKind, has_digest: bool, body: &str) -> WarcRecord {
        let (date, block) = (Timestamp::from_secs(1_763_683_200), format!("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n{body}"));
        let id = RecordId::of(&number.to_string());
        WarcRecord::new(kind, id, date, "application/http;msgtype=response", block.into_bytes())
            .with("WARC-Target-URI", format!("http://a.test/{number}"))
            .with_some("WARC-Payload-Digest", has_digest.then_some("sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"))
    }

    proptest! {
        #[test]
        fn an_index_of_a_file_is_that_of_its_records(
            parts in prop::collection::vec((0_usize..4, any::<bool>(), any::<String>()), 0..6),
            buffer in 1_usize..100,
        ) {
            use WarcRecordKind::{Request, Resource, Response, Revisit};
            let (mut file, mut expected) = (Vec::new(), CaptureIndex::default());
            for (number, (kind, has_digest, body)) in parts.iter().enumerate() {
                let record = record(number, [Request, Resource, Response, Revisit][*kind], *has_digest, body);
                let packed = record.pack();
                let (offset, length) = (file.len() as u64, packed.len() as u64);
                expected.add(&record, RecordPlace { file: "a.warc.gz", offset, length });
                file.extend(packed);
            }
            let index = index_of("a.warc.gz", BufReader::with_capacity(buffer, file.as_slice())).unwrap();
            prop_assert_eq!(index, expected);
            if let Some(cut) = file.len().checked_sub(1) {
                prop_assert!(index_of("a.warc.gz", &file[..cut]).is_err());
            }
        }
    }

    #[test]
    fn other_files_are_refused() {
        use flate2::write::GzEncoder;
        let mut other = GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut other, b"{}\n").unwrap();
        let problem = index_of("a.warc.gz", other.finish().unwrap().as_slice()).unwrap_err().to_string();
        assert_eq!(problem, "there is no WARC record at byte 0");
        assert!(index_of("a.warc.gz", &b"WARC/1.1\r\n\r\n"[..]).is_err(), "it is not packed");
    }
}
