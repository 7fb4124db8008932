//! `recrawl changes`: what changed, as a stream that scripts can follow and go on with where they left it.

use crate::Failure;
use crate::commands::SettingsArguments;
use crate::output::{Format, word, written};
use crate::topic_reader::TopicReader;
use clap::Args;
use daemon::StopSignal;
use messages::{Message, PageChange, Verdict, topics};
use page::Timestamp;
use serde::Serialize;
use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, UNIX_EPOCH};
use stream::InputRecord;

/// Records read at a time, of each partition.
const BATCH: usize = 500;
/// How often it is looked for more, in real time.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

/// Arguments of `recrawl changes`.
#[derive(Args, Debug)]
pub struct ChangesArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// State directory of a `recrawl run`, which may be running.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only what was seen at this moment or later: 2026-11-21, 2026-11-21T08:00:00Z or Unix seconds.
    #[arg(long, value_name = "T", value_parser = moment)]
    since: Option<Timestamp>,
    /// Goes on after the change with this cursor.
    #[arg(long, value_name = "C", conflicts_with = "since")]
    cursor: Option<Cursor>,
    /// Waits for more, until stopped.
    #[arg(long)]
    follow: bool,
    /// Ends after so many changes.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// How far a reader has come: the next offset of each partition, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cursor(Vec<u64>);

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let offsets: Result<_, _> = text.split('.').map(str::parse).collect();
        offsets.map(Self).map_err(|_| "a cursor is numbers with dots between them, as in the field cursor".to_owned())
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (partition, offset) in self.0.iter().enumerate() {
            write!(formatter, "{}{offset}", if partition == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

/// One line of the answer.
#[derive(Debug, Serialize)]
struct Line {
    /// Go on from here, and this change is not told again.
    cursor: String,
    change_id: String,
    url: String,
    page_id: String,
    verdict: Verdict,
    magnitude: f64,
    seen_at: String,
    previous_seen_at: Option<String>,
    status: Option<u16>,
    content_digest: Option<String>,
    added: Vec<String>,
    removed: Vec<String>,
    content_changed: bool,
    links_changed: bool,
    structure_changed: bool,
    host_event: bool,
    changes_last: bool,
}

impl Line {
    fn new(change: PageChange, cursor: &Cursor) -> Self {
        Self {
            cursor: cursor.to_string(),
            change_id: change.change_id,
            url: change.url.to_string(),
            page_id: change.page_id.to_string(),
            verdict: change.verdict,
            magnitude: change.magnitude,
            seen_at: change.seen_at.to_string(),
            previous_seen_at: change.previous_seen_at.map(|moment| moment.to_string()),
            status: change.status,
            content_digest: change.content_digest.map(|digest| digest.to_string()),
            added: change.added,
            removed: change.removed,
            content_changed: change.content_changed,
            links_changed: change.links_changed,
            structure_changed: change.structure_changed,
            host_event: change.host_event,
            changes_last: change.changes_last,
        }
    }

    fn write(&self, format: Format, out: &mut impl Write) -> std::io::Result<()> {
        if format != Format::Text {
            serde_json::to_writer(&mut *out, self)?;
            return writeln!(out);
        }
        let verdict = word(&self.verdict);
        writeln!(out, "{}  {verdict:<8} {:.3}  {}", self.seen_at, self.magnitude, self.url)?;
        self.removed.iter().try_for_each(|passage| writeln!(out, "    - {passage}"))?;
        self.added.iter().try_for_each(|passage| writeln!(out, "    + {passage}"))
    }
}

/// Prints changes, one a line, whatever form of JSON is asked for: the list may have no end.
pub fn changes(arguments: &ChangesArguments, format: Format) -> Result<(), Failure> {
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    let stop = StopSignal::on_signals()?;
    let mut changes = Changes::open(TopicReader::open(&settings, topics::PAGE_CHANGES, "recrawl-changes")?, arguments)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut told = 0;
    while !stop.is_stopped() && arguments.limit.is_none_or(|limit| told < limit) {
        let done = match changes.next()? {
            Some(line) => {
                told += 1;
                line.write(format, &mut out)
            }
            None if !arguments.follow => break,
            None => {
                let flushed = out.flush();
                std::thread::sleep(FOLLOW_EVERY);
                changes.reader.refresh()?;
                flushed
            }
        };
        if done.is_err() {
            return written(done);
        }
    }
    written(out.flush())
}

/// The changes of all partitions, those of a page in their order, otherwise about in the order in which they were seen.
struct Changes {
    reader: TopicReader,
    since: Option<Timestamp>,
    /// Where each partition is to be read on.
    read_to: Vec<u64>,
    /// What was told of each partition.
    told_to: Cursor,
    waiting: Vec<VecDeque<(u64, PageChange)>>,
}

impl Changes {
    fn open(mut reader: TopicReader, arguments: &ChangesArguments) -> Result<Self, Failure> {
        let partitions = reader.partitions() as usize;
        let mut from = arguments.cursor.clone().unwrap_or_else(|| Cursor(vec![0; partitions])).0;
        if from.len() != partitions {
            let problem = format!("--cursor: it is of {} partitions and this crawl has {partitions}", from.len());
            return Err(Failure::Input(problem));
        }
        for (partition, next) in (0..).zip(&mut from) {
            let bounds = reader.bounds(partition)?;
            if arguments.cursor.is_some() && *next < bounds.start {
                let gone = bounds.start - *next;
                eprintln!("recrawl: up to {gone} changes after this cursor are no longer kept (log.retention_changes)");
            }
            if *next > bounds.end {
                let problem = "--cursor: it is ahead of this crawl; is it of another one?";
                return Err(Failure::Input(problem.to_owned()));
            }
            *next = bounds.start.max(*next);
        }
        let waiting = vec![VecDeque::new(); partitions];
        Ok(Self { reader, since: arguments.since, told_to: Cursor(from.clone()), read_to: from, waiting })
    }

    fn next(&mut self) -> Result<Option<Line>, Failure> {
        for partition in 0..self.waiting.len() {
            self.fill(partition)?;
        }
        let heads = self
            .waiting
            .iter()
            .enumerate()
            .filter_map(|(partition, changes)| changes.front().map(|(_, change)| (change.seen_at, partition)));
        let Some((_, partition)) = heads.min() else { return Ok(None) };
        let Some((offset, change)) = self.waiting[partition].pop_front() else { return Ok(None) };
        self.told_to.0[partition] = offset + 1;
        Ok(Some(Line::new(change, &self.told_to)))
    }

    /// Reads on in a partition of which nothing waits.
    fn fill(&mut self, partition: usize) -> Result<(), Failure> {
        while self.waiting[partition].is_empty() {
            let (records, next) = self.reader.read(partition as u32, self.read_to[partition], BATCH)?;
            if records.is_empty() {
                return Ok(());
            }
            self.read_to[partition] = next;
            let since = self.since;
            let wanted = records.iter().filter_map(decode);
            self.waiting[partition]
                .extend(wanted.filter(|(_, change)| since.is_none_or(|since| change.seen_at >= since)));
        }
        Ok(())
    }
}

/// A record that somebody else wrote here is named and passed over.
fn decode(record: &InputRecord) -> Option<(u64, PageChange)> {
    let change = record.value.as_deref().map(PageChange::decode);
    match change {
        Some(Ok(change)) => Some((record.offset, change)),
        Some(Err(error)) => {
            eprintln!("recrawl: record {}@{} is no page change: {error}", record.partition, record.offset);
            None
        }
        None => None,
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Ok(Timestamp::from_micros((seconds * 1e6) as i64));
    }
    let whole = if text.len() == "2026-11-21".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let moment = humantime::parse_rfc3339_weak(&whole)
        .map_err(|_| "give a day (2026-11-21), a moment (2026-11-21T08:00:00Z) or Unix seconds".to_owned())?;
    let since = moment.duration_since(UNIX_EPOCH).map_err(|_| "give a moment after 1970".to_owned())?;
    Ok(Timestamp::from_micros(since.as_micros() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_what_it_wrote() {
        for offsets in [vec![0], vec![12, 0, 7], vec![u64::MAX, 1]] {
            let cursor = Cursor(offsets);
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for bad in ["", "1.", "a", "1,2", "-1"] {
            assert!(bad.parse::<Cursor>().is_err(), "{bad}");
        }
    }

    #[test]
    fn moments_may_be_days_times_or_seconds() {
        let day = Timestamp::from_secs(1_763_683_200);
        for text in ["2025-11-21", "2025-11-21T00:00:00Z", "2025-11-21 00:00:00", "1763683200"] {
            assert_eq!(moment(text), Ok(day), "{text}");
        }
        assert!(moment("yesterday").unwrap_err().contains("2026-11-21"));
    }
}
