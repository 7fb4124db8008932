//! `recrawl export warc`: writes web archives.

use super::destination::Finished;
use super::warc_files::{ENDING, WarcFiles};
use super::{FileLine, FilesArguments, follower, topic, unpacked};
use crate::CommandFailure;
use crate::cursor::Cursor;
use crate::follow::{FollowArguments, Followed, Take};
use crate::output::Format;
use ::messages::FetchResult;
use ::warc::{LogPosition, Originals, WarcRecord, WarcRecordKind, capture};
use clap::Args;
use daemon::{StopSignal, WebClock};
use settings::Settings;
use stream::Clock;

/// Most pages whose last record with a body is remembered as the target of revisits. They take up to 150 MB.
const MAX_ORIGINALS: usize = 1_000_000;

/// Arguments of `recrawl export warc`.
#[derive(Args, Debug)]
pub(super) struct WarcArguments {
    #[command(flatten)]
    follow: FollowArguments,
    #[command(flatten)]
    files: FilesArguments,
}

/// Writes the fetch results to archives.
pub(super) fn warc(arguments: &WarcArguments, format: Format) -> Result<(), CommandFailure> {
    let settings = arguments.follow.settings()?;
    let stop = StopSignal::on_signals()?;
    let files = arguments.files.open(ENDING, &settings)?;
    let mut results = follower(&settings, &files.start(&arguments.follow)?)?;
    let topic = topic(&settings);
    let files = WarcFiles::new(files, &arguments.files.limits, about(&settings, &topic));
    let mut originals = Originals::new(MAX_ORIGINALS);
    // Revisits may refer to records that were exported before this cursor.
    results.look_back(&stop, |partition, offset, result| {
        originals.note(&result, &LogPosition { topic: &topic, partition, offset });
    })?;
    let (cursor, clock) = (results.cursor().clone(), WebClock::new(&settings.clock));
    let mut archivist = Archivist {
        follow: &arguments.follow,
        topic,
        files,
        originals,
        clock,
        format,
        stop: &stop,
        complete_to: cursor.clone(),
        cursor,
        counts: WarcCounts::default(),
    };
    let done = arguments.follow.each(&mut results, &stop, &mut archivist);
    let done = done.and_then(|()| archivist.complete());
    archivist.sum_up();
    done
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

struct Archivist<'a> {
    follow: &'a FollowArguments,
    topic: String,
    files: WarcFiles<'a>,
    originals: Originals,
    clock: WebClock,
    format: Format,
    stop: &'a StopSignal,
    /// Position after the last result that was written or skipped.
    cursor: Cursor,
    /// Position up to which files are complete. A failed export resumes here.
    complete_to: Cursor,
    counts: WarcCounts,
}

#[derive(Default)]
struct WarcCounts {
    results: u64,
    /// Number of results without anything to archive.
    without_records: u64,
    responses: u64,
    revisits: u64,
    files: u64,
    bytes: u64,
}

impl Take<FetchResult> for Archivist<'_> {
    fn take(&mut self, record: Followed<FetchResult>) -> Result<bool, CommandFailure> {
        let Followed { partition, offset, message: result, cursor } = record;
        if self.files.is_over() {
            self.complete()?;
        }
        let place = LogPosition { topic: &self.topic, partition, offset };
        if !self.follow.wants(result.look.fetched_at) {
            self.originals.note(&result, &place);
            self.cursor = cursor;
            return Ok(false);
        }
        let records = capture(&result, unpacked(&result).as_deref(), &place, &mut self.originals);
        self.count(&records);
        if !self.files.write(&records, self.clock.now())? {
            self.complete()?;
            self.files.write(&records, self.clock.now())?;
        }
        self.cursor = cursor;
        Ok(true)
    }

    fn rest(&mut self) -> Result<(), CommandFailure> {
        if self.files.is_over() { self.complete() } else { self.files.flush() }
    }
}

impl Archivist<'_> {
    fn count(&mut self, records: &[WarcRecord]) {
        let count =
            |kinds: &[WarcRecordKind]| records.iter().filter(|record| kinds.contains(&record.kind())).count() as u64;
        self.counts.results += 1;
        self.counts.without_records += u64::from(records.is_empty());
        self.counts.responses += count(&[WarcRecordKind::Response, WarcRecordKind::Resource]);
        self.counts.revisits += count(&[WarcRecordKind::Revisit]);
    }

    fn complete(&mut self) -> Result<(), CommandFailure> {
        let complete = self.files.finish(&self.cursor)?;
        self.complete_to = self.cursor.clone();
        complete.map_or(Ok(()), |complete| self.tell(&complete))
    }

    fn tell(&mut self, complete: &Finished) -> Result<(), CommandFailure> {
        self.counts.files += 1;
        self.counts.bytes += complete.bytes;
        FileLine::new(complete, &self.cursor).tell(self.format, self.stop)
    }

    fn sum_up(&self) {
        let WarcCounts { results, without_records, responses, revisits, files, bytes } = self.counts;
        let cursor = &self.complete_to;
        eprintln!(
            "recrawl: {results} results as {responses} responses and {revisits} revisits in {files} files of {bytes} bytes; \
             {without_records} of them had nothing to archive; cursor {cursor}"
        );
    }
}
