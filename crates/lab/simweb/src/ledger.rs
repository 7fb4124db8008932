//! The ledger: every request that the web served, as the server saw it.

use page::Timestamp;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// A page of the web, there or gone.
    Page,
    /// `/robots.txt` of a host of the web.
    Robots,
    /// The sitemap of a host that has one, or a file that it names.
    Sitemap,
    /// A path that no page of the host ever had.
    UnknownPath,
    /// A host that is not part of the web.
    UnknownHost,
}

/// One request. Times are virtual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Time at which the request's head had been read.
    #[serde(rename = "started_at_us")]
    pub started_at: Timestamp,
    /// Time at which the last byte was handed to the connection, or the connection was given up.
    #[serde(rename = "ended_at_us")]
    pub ended_at: Timestamp,
    /// Virtual host, without port.
    pub host: Arc<str>,
    /// Path and query; for a page reached by redirects the page's own path.
    pub path: Arc<str>,
    /// Whether it was for a page, for robots.txt, or for something unknown.
    pub kind: RequestKind,
    /// Status of the answer; 0 when the client left before it.
    pub status: u16,
    /// The version (index of the page's state) that was sent whole, or confirmed by 304, or by 404 while the page is
    /// gone.
    pub version: Option<u32>,
    /// Body bytes handed to the connection.
    pub bytes: u64,
    /// Requests of this host in progress when this one started, itself included.
    pub in_flight: u32,
    /// Whether the host's robots.txt forbids this path.
    pub disallowed: bool,
    /// Whether it came over TLS.
    pub tls: bool,
}

/// All requests so far, in the order in which they ended.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Mutex<Vec<LedgerEntry>>,
    pages: AtomicU64,
}

impl Ledger {
    /// A copy of the entries.
    pub fn entries(&self) -> Vec<LedgerEntry> {
        self.lock().clone()
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Number of requests for pages, existing or gone, and for sitemaps.
    pub fn pages(&self) -> u64 {
        self.pages.load(Ordering::Relaxed)
    }

    /// Whether nothing was served yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn push(&self, entry: LedgerEntry) {
        if matches!(entry.kind, RequestKind::Page | RequestKind::Sitemap) {
            self.pages.fetch_add(1, Ordering::Relaxed);
        }
        self.lock().push(entry);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<LedgerEntry>> {
        self.entries.lock().expect("nothing panics while it holds the ledger")
    }
}

/// Writes entries as CSV with a header.
pub fn write_ledger(entries: &[LedgerEntry], out: impl Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    for entry in entries {
        writer.serialize(entry)?;
    }
    writer.flush()?;
    Ok(())
}

/// Reads what [`write_ledger`] wrote.
pub fn read_ledger(text: impl Read) -> Result<Vec<LedgerEntry>, csv::Error> {
    csv::Reader::from_reader(text).deserialize().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_reads_back_what_was_written() {
        let entry = LedgerEntry {
            started_at: Timestamp::from_micros(5),
            ended_at: Timestamp::from_micros(9),
            host: "a.test".into(),
            path: "/x,\"y\"".into(),
            kind: RequestKind::UnknownPath,
            status: 404,
            version: None,
            bytes: 12,
            in_flight: 1,
            disallowed: false,
            tls: false,
        };
        let entries = vec![entry.clone(), LedgerEntry { version: Some(3), kind: RequestKind::Page, ..entry }];
        let mut text = Vec::new();
        write_ledger(&entries, &mut text).unwrap();
        assert_eq!(read_ledger(text.as_slice()).unwrap(), entries);
        assert!(
            text.starts_with(
                b"started_at_us,ended_at_us,host,path,kind,status,version,bytes,in_flight,disallowed,tls\n"
            )
        );
    }
}
