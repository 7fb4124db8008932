//! Web archives that can be replayed as they are: WACZ 1.1.1.
//!
//! A package is a ZIP archive with a WARC file, its index, a list of pages, and a list of all these with their digests
//! (<https://specs.webrecorder.net/wacz/1.1.1/>).

mod zip;

use self::zip::{StoredFile, StoredZip};
use super::warc::{WarcFile, WarcRecords};
use super::{EndOfFile, FileEncoder};
use crate::record::unpacked_body;
use crate::source::TopicRecord;
use ::warc::{WarcRecord, WarcRecordKind};
use daemon::CommandFailure;
use document::Body;
use flate2::Compression;
use flate2::write::GzEncoder;
use messages::{FetchOutcome, FetchResult};
use page::Timestamp;
use serde_json::json;
use std::io::Write;
use std::num::TryFromIntError;

/// Version of the format.
const WACZ_VERSION: &str = "1.1.1";
/// Longest package: below the 4 GiB of ZIP, with room for the records of one fetch.
const MAX_PACKAGE_BYTES: u64 = 3 << 30;
/// Room for the headers of the ZIP archive, the list of files, and the index of one fetch.
const FRAME_BYTES: u64 = 12 << 10;
/// Lines of a block of the index. A reader fetches a block to look an address up.
const BLOCK_LINES: usize = 300;

/// Packs requests, responses and revisits of fetches, with all that replay tools need.
pub struct WaczPackages {
    records: WarcRecords,
}

impl WaczPackages {
    /// Packs what these make.
    pub fn new(records: WarcRecords) -> Self {
        Self { records }
    }
}

/// The records of one fetch, and the line of the page if it has a new version.
pub struct PackedFetch {
    records: Vec<WarcRecord>,
    page: Option<String>,
}

/// A package that is being written.
pub struct WaczFile {
    zip: StoredZip,
    warc: WarcFile,
    pages: String,
}

impl FileEncoder for WaczPackages {
    type Message = FetchResult;
    type Entry = PackedFetch;
    type File = WaczFile;

    const ENDING: &'static str = ".wacz";

    fn encode(&mut self, record: TopicRecord<FetchResult>) -> Option<PackedFetch> {
        let title = title(&record.message);
        let records = self.records.encode(record)?;
        let page = title.and_then(|title| page_line(&records, &title));
        Some(PackedFetch { records, page })
    }

    fn skip(&mut self, record: &TopicRecord<FetchResult>) {
        self.records.skip(record);
    }

    fn begin(&mut self, name: &str, first: &PackedFetch) -> Result<WaczFile, CommandFailure> {
        let name = format!("{}{}", name.strip_suffix(Self::ENDING).unwrap_or(name), WarcRecords::ENDING);
        let warc = self.records.begin(&name, &first.records)?;
        let header = json!({"format": "json-pages-1.0", "id": "pages", "title": "All pages"});
        Ok(WaczFile { zip: StoredZip::begin(&format!("archive/{name}")), warc, pages: format!("{header}\n") })
    }

    fn add(
        &mut self,
        file: &mut WaczFile,
        fetch: PackedFetch,
        max_bytes: u64,
    ) -> Result<Option<PackedFetch>, CommandFailure> {
        let PackedFetch { records, page } = fetch;
        let pages = file.pages.len() + page.as_ref().map_or(0, String::len);
        let others = pages as u64 + file.warc.index_bytes() + FRAME_BYTES;
        let room = max_bytes.min(MAX_PACKAGE_BYTES).saturating_sub(others);
        if let Some(records) = self.records.add(&mut file.warc, records, room)? {
            return Ok(Some(PackedFetch { records, page }));
        }
        let ready = self.records.ready(&mut file.warc);
        file.zip.write(ready);
        ready.clear();
        file.pages.extend(page);
        Ok(None)
    }

    fn ready<'file>(&self, file: &'file mut WaczFile) -> &'file mut Vec<u8> {
        &mut file.zip.ready
    }

    fn finish(&mut self, file: WaczFile) -> Result<EndOfFile, CommandFailure> {
        let WaczFile { mut zip, warc, pages } = file;
        let created = self.records.now();
        let EndOfFile { last, records, companion } = self.records.finish(warc)?;
        zip.write(&last);
        let index = String::from_utf8_lossy(companion.as_deref().unwrap_or_default());
        let last = completed(zip, &index, &pages, created);
        let last = last.map_err(|_| CommandFailure::World("the WACZ file: it is longer than 4 GiB".to_owned()))?;
        Ok(EndOfFile { last, records, companion: None })
    }

    fn summary(&self, records: u64, noun: &str) -> String {
        self.records.summary(records, noun)
    }
}

/// The title of an HTML page of which a fetch brought a new version.
fn title(result: &FetchResult) -> Option<String> {
    if result.look.outcome != FetchOutcome::Fetched {
        return None;
    }
    let body = unpacked_body(result)?;
    let body = Body::new(&body, result.content_type.as_deref(), None);
    body.html()?;
    Some(body.text().title)
}

/// The line of a page in the list of pages, about the record with its body.
fn page_line(records: &[WarcRecord], title: &str) -> Option<String> {
    let is_body = |record: &&WarcRecord| matches!(record.kind(), WarcRecordKind::Response | WarcRecordKind::Resource);
    let record = records.iter().rev().find(is_body)?;
    let url = record.field("WARC-Target-URI")?;
    let title = if title.is_empty() { url } else { title };
    let id = record.id().to_string();
    let id = id.trim_start_matches("<urn:uuid:").trim_end_matches('>');
    Some(format!("{}\n", json!({"id": id, "url": url, "ts": seconds(record.date()), "title": title})))
}

/// A time without fractions of a second: `2026-11-21T00:00:00Z`.
fn seconds(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{}Z", text.split('.').next().unwrap_or_default())
}

/// Adds to the archive what describes it. Returns the bytes that were not written yet.
fn completed(mut zip: StoredZip, index: &str, pages: &str, created: Timestamp) -> Result<Vec<u8>, TryFromIntError> {
    let (blocks, places) = packed_index(index);
    zip.add("indexes/index.cdx.gz", &blocks)?;
    zip.add("indexes/index.idx", places.as_bytes())?;
    zip.add("pages/pages.jsonl", pages.as_bytes())?;
    let resources = zip.files().iter().map(|file| {
        let name = file.name.rsplit('/').next().unwrap_or_default();
        json!({"name": name.to_lowercase(), "path": file.name, "hash": file.digest(), "bytes": file.bytes})
    });
    let package = json!({
        "profile": "data-package",
        "wacz_version": WACZ_VERSION,
        "created": seconds(created),
        "software": concat!("recrawl/", env!("CARGO_PKG_VERSION")),
        "resources": resources.collect::<Vec<_>>(),
    });
    zip.add("datapackage.json", format!("{package:#}\n").as_bytes())?;
    let hash = zip.files().last().map(StoredFile::digest);
    let digest = json!({"path": "datapackage.json", "hash": hash});
    zip.add("datapackage-digest.json", format!("{digest:#}\n").as_bytes())?;
    zip.finish()
}

/// An index in blocks, each a gzip member, and the list of the blocks by their first keys (ZipNum).
fn packed_index(index: &str) -> (Vec<u8>, String) {
    let lines: Vec<_> = index.split_inclusive('\n').collect();
    let mut blocks = Vec::new();
    let mut places = format!("!meta 0 {}\n", json!({"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}));
    for block in lines.chunks(BLOCK_LINES) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(block.concat().as_bytes()).and_then(|()| encoder.finish());
        let packed = packed.expect("a Vec takes all that is written to it");
        let key = block[0].split(" {").next().unwrap_or_default();
        let place = json!({"offset": blocks.len(), "length": packed.len()});
        places.push_str(&format!("{key} {place}\n"));
        blocks.extend(packed);
    }
    (blocks, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::warc::RecordId;
    use flate2::read::GzDecoder;
    use serde_json::Value;
    use std::io::Read;

    #[test]
    fn a_block_of_the_index_is_found_by_its_first_key() {
        let line =
            |number: usize| format!("test,a)/{{x}}{number:04} 20251121000000 {{\"url\": \"http://a.test/ {{\"}}\n");
        let index: String = (0..2 * BLOCK_LINES + 1).map(line).collect();
        let (blocks, places) = packed_index(&index);
        let (meta, places) = places.split_once('\n').expect("a line about the file");
        assert_eq!(meta, "!meta 0 {\"filename\":\"index.cdx.gz\",\"format\":\"cdxj-gzip-1.0\"}");
        let mut unpacked = String::new();
        for (number, place) in places.lines().enumerate() {
            let (key, place) = place.split_once(" {").expect("a key and a place");
            assert_eq!(key, format!("test,a)/{{x}}{:04} 20251121000000", number * BLOCK_LINES));
            let place: Value = serde_json::from_str(&format!("{{{place}")).expect("it is JSON");
            let [offset, length] = ["offset", "length"].map(|name| place[name].as_u64().expect("a number") as usize);
            let read = GzDecoder::new(&blocks[offset..offset + length]).read_to_string(&mut unpacked);
            read.expect("it is a gzip member");
        }
        assert_eq!((places.lines().count(), unpacked), (3, index));
    }

    #[test]
    fn a_page_is_listed_at_the_time_of_the_record_with_its_body() {
        let record = |kind, second: i64, url: &str| {
            let (id, date) = (RecordId::of(url), Timestamp::from_millis(1_763_683_200_123 + 1_000 * second));
            WarcRecord::new(kind, id, date, "application/http", Vec::new()).with("WARC-Target-URI", url)
        };
        let records = [
            record(WarcRecordKind::Response, 0, "http://a.test/moved"),
            record(WarcRecordKind::Request, 1, "http://a.test/"),
            record(WarcRecordKind::Response, 2, "http://a.test/"),
            record(WarcRecordKind::Metadata, 3, "http://a.test/"),
        ];
        let line = |title| serde_json::from_str::<Value>(&page_line(&records, title).expect("a page")).expect("JSON");
        let listed = line("A \"title\"");
        assert_eq!(
            [&listed["url"], &listed["ts"], &listed["title"]],
            ["http://a.test/", "2025-11-21T00:00:02Z", "A \"title\""]
        );
        assert_eq!(format!("<urn:uuid:{}>", listed["id"].as_str().expect("a text")), records[2].id().to_string());
        assert_eq!(line("")["title"], "http://a.test/", "a list without titles could not be read");
        assert_eq!(page_line(&records[1..2], "A"), None);
    }
}
