//! Web archives.

use super::{EndOfFile, FileEncoder};
use crate::record::{fetch_preferences, unpacked_body};
use crate::source::{TopicFollower, TopicRecord};
use ::warc::{
    CaptureIndex, LogPosition, Originals, RecordId, RecordPlace, WarcRecord, WarcRecordKind, capture, index_of,
    metadata_record,
};
use daemon::{CommandFailure, StopSignal, WebClock};
use messages::{FetchResult, topics};
use page::Timestamp;
use settings::Settings;
use std::io::BufRead;
use stream::Clock;
use topology::LogNames;

/// Most pages whose last record with a body is remembered as the target of revisits. They take up to 150 MB.
const MAX_ORIGINALS: usize = 1_000_000;
/// Longest index of a file, which is held until the file is complete. About 200,000 captures take so much.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// Makes requests, responses and revisits of fetches.
pub struct WarcRecords {
    topic: String,
    /// The crawler's name in `<meta>`.
    product_token: String,
    /// Fields of every file's warcinfo record.
    about: Vec<(&'static str, String)>,
    originals: Originals,
    clock: WebClock,
    results: u64,
    /// Number of results without anything to archive.
    without_records: u64,
    responses: u64,
    revisits: u64,
}

/// Records that are not written yet, in a file that has others.
pub struct WarcFile {
    name: String,
    ready: Vec<u8>,
    info: RecordId,
    bytes: u64,
    records: u64,
    index: CaptureIndex,
}

impl WarcFile {
    /// Length of the index of what was added.
    pub(super) fn index_bytes(&self) -> u64 {
        self.index.bytes()
    }
}

impl WarcRecords {
    /// Learns from the results before the start which records revisits may refer to.
    pub fn new(
        settings: &Settings,
        results: &mut TopicFollower<FetchResult>,
        stop: &StopSignal,
    ) -> Result<Self, CommandFailure> {
        let topic = LogNames::new(settings).topic(topics::FETCH_RESULTS);
        let mut originals = Originals::new(MAX_ORIGINALS);
        results.look_back(stop, |partition, offset, result| {
            originals.note(&result, &LogPosition { topic: &topic, partition, offset });
        })?;
        let (about, clock) = (about(settings, &topic), WebClock::new(&settings.clock));
        let product_token = settings.crawl.product_token().to_owned();
        let (results, without_records, responses, revisits) = (0, 0, 0, 0);
        Ok(Self { topic, product_token, about, originals, clock, results, without_records, responses, revisits })
    }

    /// The time by the crawl's clock.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn count(&mut self, records: &[WarcRecord]) {
        let count =
            |kinds: &[WarcRecordKind]| records.iter().filter(|record| kinds.contains(&record.kind())).count() as u64;
        self.results += 1;
        self.without_records += u64::from(records.is_empty());
        self.responses += count(&[WarcRecordKind::Response, WarcRecordKind::Resource]);
        self.revisits += count(&[WarcRecordKind::Revisit]);
    }
}

/// Fields of the warcinfo record.
fn about(settings: &Settings, topic: &str) -> Vec<(&'static str, String)> {
    let mut about = vec![
        ("software", concat!("recrawl/", env!("CARGO_PKG_VERSION")).to_owned()),
        ("format", "WARC File Format 1.1".to_owned()),
        ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/".to_owned()),
        ("robots", "obey".to_owned()),
        ("isPartOf", topic.to_owned()),
        (
            "description",
            "Bodies are stored without content and transfer codings; the headers that named them begin with X-Crawler-."
                .to_owned(),
        ),
    ];
    about.extend(settings.crawl.contact.clone().map(|contact| ("operator", contact)));
    about
}

impl FileEncoder for WarcRecords {
    type Message = FetchResult;
    /// Records of one fetch, which stay together.
    type Entry = Vec<WarcRecord>;
    type File = WarcFile;

    const ENDING: &'static str = ".warc.gz";
    const COMPANION: Option<&'static str> = Some(".cdxj");

    fn companion_of(name: &str, file: &mut dyn BufRead) -> std::io::Result<Vec<u8>> {
        index_of(name, file).map(CaptureIndex::into_bytes)
    }

    fn encode(&mut self, record: TopicRecord<FetchResult>) -> Option<Vec<WarcRecord>> {
        let TopicRecord { partition, offset, message: result, .. } = record;
        let place = LogPosition { topic: &self.topic, partition, offset };
        let body = unpacked_body(&result);
        let mut records = capture(&result, body.as_deref(), &place, &mut self.originals);
        if !records.is_empty() {
            let preferences = fetch_preferences(&result, body.as_deref(), &self.product_token);
            let preferences = preferences.to_decisions(result.look.fetched_at);
            records.extend(metadata_record(&result, &preferences, &place));
        }
        self.count(&records);
        (!records.is_empty()).then_some(records)
    }

    fn skip(&mut self, record: &TopicRecord<FetchResult>) {
        let place = LogPosition { topic: &self.topic, partition: record.partition, offset: record.offset };
        self.originals.note(&record.message, &place);
    }

    fn begin(&mut self, name: &str, first: &Vec<WarcRecord>) -> Result<WarcFile, CommandFailure> {
        let about: Vec<_> = self.about.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let info = WarcRecord::warcinfo(name, self.now(), first[0].id(), &about);
        let ready = info.pack();
        let (name, bytes, index) = (name.to_owned(), ready.len() as u64, CaptureIndex::default());
        Ok(WarcFile { name, bytes, ready, info: info.id(), records: 1, index })
    }

    fn add(
        &mut self,
        file: &mut WarcFile,
        records: Vec<WarcRecord>,
        max_bytes: u64,
    ) -> Result<Option<Vec<WarcRecord>>, CommandFailure> {
        let pack = |record: &WarcRecord| record.clone().with("WARC-Warcinfo-ID", file.info).pack();
        let packed: Vec<_> = records.iter().map(pack).collect();
        let bytes: u64 = packed.iter().map(|packed| packed.len() as u64).sum();
        // The first record is the warcinfo.
        if file.records > 1 && (file.bytes + bytes > max_bytes || file.index.bytes() > MAX_INDEX_BYTES) {
            return Ok(Some(records));
        }
        for (record, packed) in records.iter().zip(packed) {
            let length = packed.len() as u64;
            file.index.add(record, RecordPlace { file: &file.name, offset: file.bytes, length });
            file.bytes += length;
            file.ready.extend(packed);
        }
        file.records += records.len() as u64;
        Ok(None)
    }

    fn ready<'file>(&self, file: &'file mut WarcFile) -> &'file mut Vec<u8> {
        &mut file.ready
    }

    fn finish(&mut self, file: WarcFile) -> Result<EndOfFile, CommandFailure> {
        let index = file.index.into_bytes();
        Ok(EndOfFile { last: file.ready, records: file.records, companion: Some(index) })
    }

    fn summary(&self, _records: u64, _noun: &str) -> String {
        let Self { results, without_records, responses, revisits, .. } = self;
        format!(
            "{results} results as {responses} responses and {revisits} revisits ({without_records} had nothing to archive)"
        )
    }
}
