//! Change times: the pages, and the time of each of their states.

use page::{CanonicalUrl, Timestamp};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::Arc;

/// A period of virtual time, from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// First time inside.
    pub start: Timestamp,
    /// First time after it.
    pub end: Timestamp,
}

impl TimeWindow {
    /// The window of this many days from `start`.
    pub fn days_from(start: Timestamp, days: f64) -> Self {
        Self { start, end: start.plus_days(days) }
    }

    pub fn days(&self) -> f64 {
        self.end.days_since(self.start)
    }
}

/// The content of a page in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateContent {
    /// The page does not exist: 404.
    Gone,
    /// Text generated from host, path and state number.
    Generated,
    /// Bytes of the corpus, by blob number.
    Blob(u32),
}

/// A page is `content` from `since` on, until the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryState {
    /// Start of the state, in whole seconds: the resolution of Last-Modified.
    pub since: Timestamp,
    /// The content served from then on.
    pub content: StateContent,
}

/// One page and all its states, which are its *versions*: version `n` is `states[n]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PageHistory {
    /// Virtual host, without a port.
    pub host: Arc<str>,
    /// Path and query, spelled as in a canonical address.
    pub path: Arc<str>,
    /// Media type of corpus bytes; generated text is HTML.
    pub media_type: Arc<str>,
    /// Sorted by `since`, strictly rising. Before the first one the page does not exist.
    pub states: Vec<HistoryState>,
    /// The rate from which the change times were drawn, in changes a day; `None` when they were not drawn from one.
    pub change_rate_per_day: Option<f64>,
}

impl PageHistory {
    /// The index of the state at this time; `None` before the page first appeared.
    pub fn version_at(&self, moment: Timestamp) -> Option<u32> {
        self.states.partition_point(|state| state.since <= moment).checked_sub(1).map(|version| version as u32)
    }

    /// Whether the page exists at this time.
    pub fn exists_at(&self, moment: Timestamp) -> bool {
        self.version_at(moment).is_some_and(|version| self.states[version as usize].content != StateContent::Gone)
    }

    /// Its address, for hosts with a name.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }
}

/// Pages with all their change times in a window of virtual time.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeTrace {
    /// The period that the change times cover; before it, at most one state of each page is known.
    pub window: TimeWindow,
    /// By host, then in order of appearance in the source.
    pub pages: Vec<PageHistory>,
}

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The text is not CSV.
    #[error("the trace is not readable CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A malformed row.
    #[error("page {row} of the trace: {problem}; rows are `host,path,states` with states like `A-86400 M120 D7`")]
    Row {
        /// Number of the page, from 1.
        row: usize,
        problem: String,
    },
}

const BUILT_IN: &[u8] = include_bytes!("../data/built-in.csv.zst");

impl ChangeTrace {
    /// The trace in this crate (see the crate's page), with its window shifted to begin at `start`.
    pub fn built_in(start: Timestamp) -> Self {
        let text = zstd::decode_all(BUILT_IN).expect("the file was compressed when it was committed");
        Self::read_csv(text.as_slice(), start).expect("the file was written by write_csv")
    }

    /// Reads the output of [`ChangeTrace::write_csv`], with its window shifted to begin at `start`.
    pub fn read_csv(text: impl Read, start: Timestamp) -> Result<Self, TraceError> {
        let html: Arc<str> = "text/html".into();
        let mut reader = csv::Reader::from_reader(text);
        let days = reader.headers()?.get(3).and_then(|days| days.strip_prefix("days=")?.parse::<f64>().ok());
        let days = days.ok_or_else(|| TraceError::Row { row: 0, problem: "the header has no `days=N`".into() })?;
        let mut pages: Vec<PageHistory> = Vec::new();
        for (index, record) in reader.records().enumerate() {
            let record = record?;
            let row = index + 1;
            let problem = |problem: &str| TraceError::Row { row, problem: problem.into() };
            let [Some(host), Some(path), Some(states)] = [record.get(0), record.get(1), record.get(2)] else {
                return Err(problem("a column is missing"));
            };
            let host = match pages.last() {
                Some(previous) if *previous.host == *host => Arc::clone(&previous.host),
                _ => canonical(host, path).ok_or_else(|| problem("not an address"))?.0,
            };
            let path = canonical(&host, path).ok_or_else(|| problem("not an address"))?.1;
            let mut at = start;
            let mut history = Vec::new();
            for word in states.split_ascii_whitespace() {
                let (kind, seconds) = word.split_at_checked(1).ok_or_else(|| problem("a state is not ASCII"))?;
                let seconds: i64 = seconds.parse().map_err(|_| problem("a time is not a whole number of seconds"))?;
                at = Timestamp::from_micros(at.as_micros() + seconds * 1_000_000);
                let content = match kind {
                    "A" | "M" => StateContent::Generated,
                    "D" => StateContent::Gone,
                    _ => return Err(problem("a state is neither A, M nor D")),
                };
                if history.last().is_some_and(|last: &HistoryState| last.since >= at) {
                    return Err(problem("times do not increase"));
                }
                history.push(HistoryState { since: at, content });
            }
            let media_type = Arc::clone(&html);
            pages.push(PageHistory { host, path, media_type, states: history, change_rate_per_day: None });
        }
        Ok(Self { window: TimeWindow::days_from(start, days), pages })
    }

    /// Writes the change times as CSV: `host,path,states`, with the days of the window in the header. A state is a
    /// character (A appeared, M changed, D gone) and the seconds since the previous state, or for the first, since the
    /// window's start.
    pub fn write_csv(&self, out: impl Write) -> Result<(), TraceError> {
        let mut writer = csv::Writer::from_writer(out);
        let days = format!("days={}", self.window.days());
        writer.write_record(["host", "path", "states", days.as_str()])?;
        for page in &self.pages {
            let mut states = String::new();
            let mut before = self.window.start;
            let mut existed = false;
            for state in &page.states {
                let kind = match (state.content, existed) {
                    (StateContent::Gone, _) => 'D',
                    (_, false) => 'A',
                    (_, true) => 'M',
                };
                existed = kind != 'D';
                let seconds = (state.since.as_micros() - before.as_micros()).div_euclid(1_000_000);
                write!(states, "{}{kind}{seconds}", if states.is_empty() { "" } else { " " })
                    .expect("a String takes every write");
                before = state.since;
            }
            writer.write_record([&*page.host, &*page.path, states.as_str(), ""])?;
        }
        writer.flush().map_err(csv::Error::from)?;
        Ok(())
    }

    /// Distinct hosts, in the order of the pages.
    pub fn hosts(&self) -> Vec<Arc<str>> {
        let mut seen = HashSet::new();
        self.pages.iter().filter(|page| seen.insert(&page.host)).map(|page| Arc::clone(&page.host)).collect()
    }
}

/// Host and path as a crawler requests them; `None` when they do not form an address.
pub(crate) fn canonical(host: &str, path: &str) -> Option<(Arc<str>, Arc<str>)> {
    let url = CanonicalUrl::parse(&format!("http://{host}{path}")).ok()?;
    let host = url.host();
    Some((without_port(host.as_str()).into(), url.path_and_query().into()))
}

/// An authority without its port: `127.0.0.2:8080` is `127.0.0.2`, `[::1]:80` is `[::1]`.
pub(crate) fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.is_empty() => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_reads_back_what_was_written() {
        let text = "host,path,states,days=2\na.test,/x,A-100 M200 M5 D7,\nb.test,/y,A50,\n";
        let start = Timestamp::from_secs(1_000);
        let trace = ChangeTrace::read_csv(text.as_bytes(), start).unwrap();
        assert_eq!(trace.pages[0].states[1].since, Timestamp::from_secs(1_100));
        assert_eq!(trace.window.days(), 2.0);
        let mut written = Vec::new();
        trace.write_csv(&mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    #[test]
    fn a_bad_trace_says_where() {
        let check = |text: &str, part: &str| {
            let message = ChangeTrace::read_csv(text.as_bytes(), Timestamp::default()).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        };
        check("host,path,states,days=2\na.test,/x,A1 M0,\n", "page 1 of the trace: times do not increase");
        check("host,path,states,days=2\na.test,/x,A1,\na.test,/y,Q1,\n", "page 2");
        check("host,path,states\n", "no `days=N`");
    }

    #[test]
    fn a_page_is_404_before_it_appears_and_after_it_is_gone() {
        let text = "host,path,states,days=2\na.test,/x,A10 M10 D10 A10,\n";
        let trace = ChangeTrace::read_csv(text.as_bytes(), Timestamp::default()).unwrap();
        let check = |second, version, exists| {
            let moment = Timestamp::from_secs(second);
            assert_eq!((trace.pages[0].version_at(moment), trace.pages[0].exists_at(moment)), (version, exists));
        };
        check(9, None, false);
        check(10, Some(0), true);
        check(20, Some(1), true);
        check(39, Some(2), false);
        check(40, Some(3), true);
    }

    #[test]
    fn the_port_is_not_part_of_a_virtual_host() {
        let check = |authority, host| assert_eq!(without_port(authority), host);
        check("a.test", "a.test");
        check("127.0.0.2:8080", "127.0.0.2");
        check("[::1]:80", "[::1]");
        check("[::1]", "[::1]");
    }

    #[test]
    fn the_built_in_trace_is_real_and_mixed() {
        let trace = ChangeTrace::built_in(Timestamp::default());
        assert!((600..=1_000).contains(&trace.pages.len()), "{} pages", trace.pages.len());
        assert_eq!(trace.window.days(), 150.0);
        let still = trace.pages.iter().filter(|page| page.states.len() == 1).count();
        assert!(still * 4 > trace.pages.len(), "{still} pages never change");
        assert!(trace.pages.iter().map(|page| page.states.len() - 1).sum::<usize>() > 2_000);
    }
}
