//! Reads a corpus directory into a trace: cuts windows per source, samples pages, and unpacks bytes if there are any.
//!
//! The format: `pages.csv.zst`, `changes.csv.zst`, and, with bytes, `blobs.csv.zst`, `frames.csv.zst` and the frame
//! files. Changes are sorted by page, then time. Kinds are I (existed when the source begins), A (appeared), M
//! (changed), D (gone); of two rows at one second the later wins.

use crate::blobs::{BlobLocation, BlobStore};
use crate::seeds::hash;
use crate::trace::{ChangeTrace, HistoryState, PageHistory, StateContent, TimeWindow, canonical};
use archives::{CsvTable, Frames, ReadError};
use page::Timestamp;
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct ReplayConfig {
    /// Directory with `pages.csv.zst` and `changes.csv.zst`.
    pub directory: PathBuf,
    /// Sources to take; empty takes all.
    pub sources: Vec<String>,
    /// Number of days replayed, the last ones of each source. Sources cover different periods, so each is cut at its
    /// own last row and shifted to begin at `start`.
    pub days: f64,
    /// Maximum of pages per source: those with the smallest hash of source and address.
    pub max_pages_per_source: usize,
    /// Virtual time at which all windows begin.
    pub start: Timestamp,
    /// Whether to serve the real bytes, if the directory has them; otherwise text is generated.
    pub with_bytes: bool,
}

impl ReplayConfig {
    /// Everything in a directory, its last 150 days, with bytes.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            sources: Vec::new(),
            days: 150.0,
            max_pages_per_source: usize::MAX,
            start: Timestamp::from_secs(1_700_000_000),
            with_bytes: true,
        }
    }
}

/// A web that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A table or a frame could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The unpacked bytes could not be written.
    #[error("cannot unpack corpus bytes at {path}: {source}")]
    Unpack { path: PathBuf, source: io::Error },
    /// The server cannot listen.
    #[error("cannot listen on {addr}: {source}; choose another address or port 0")]
    Listen { addr: SocketAddr, source: io::Error },
    /// No page matches the requested sources and days.
    #[error("the corpus in {directory} has no page of the requested sources in the last {days} days")]
    Empty {
        directory: PathBuf,
        /// Length of the window, in days.
        days: f64,
    },
}

struct PageRow {
    host: String,
    path: String,
    source: usize,
    media_type: String,
}

impl ReplayConfig {
    /// The change times alone.
    pub fn trace(&self) -> Result<ChangeTrace, CorpusError> {
        Ok(Self { with_bytes: false, ..self.clone() }.open()?.0)
    }

    /// Cuts, samples and unpacks.
    pub(crate) fn open(&self) -> Result<(ChangeTrace, BlobStore), CorpusError> {
        let (sources, rows) = self.page_rows()?;
        let has_bytes = self.with_bytes && self.directory.join("blobs.csv.zst").exists();
        let mut changes = self.changes(has_bytes)?;

        // A source's window ends with its last row; sources that were not requested are dropped here.
        let mut last = vec![i64::MIN; sources.len()];
        for (id, states) in &changes {
            if let (Some(row), Some((time, _))) = (rows.get(id), states.last()) {
                last[row.source] = last[row.source].max(*time);
            }
        }
        let seconds = (self.days * 86_400.0) as i64;
        let mut candidates: Vec<Vec<(u64, u32)>> = vec![Vec::new(); sources.len()];
        for (id, states) in &mut changes {
            let Some(row) = rows.get(id) else { continue };
            let cut = last[row.source] - seconds;
            let before = states.partition_point(|(time, _)| *time <= cut);
            states.drain(..before.saturating_sub(1));
            // Gone before the window and never back: not part of it.
            if states.iter().any(|(_, content)| *content != StateContent::Gone) {
                candidates[row.source].push((hash(&[&sources[row.source], &row.host, &row.path]), *id));
            }
        }
        let mut chosen = Vec::new();
        for candidates in &mut candidates {
            candidates.sort_unstable();
            candidates.truncate(self.max_pages_per_source);
            chosen.extend(candidates.iter().map(|(_, id)| *id));
        }
        chosen.sort_by(|one, other| (&rows[one].host, one).cmp(&(&rows[other].host, other)));

        let mut strings: HashMap<String, Arc<str>> = HashMap::new();
        let mut share = |text: &str| Arc::clone(strings.entry(text.to_owned()).or_insert_with(|| text.into()));
        let mut addresses = HashSet::new();
        let mut pages = Vec::with_capacity(chosen.len());
        for id in chosen {
            let row = &rows[&id];
            // Two spellings of one address are one page; the first stays.
            let Some((host, path)) = canonical(&row.host, &row.path) else { continue };
            if !addresses.insert((Arc::clone(&host), Arc::clone(&path))) {
                continue;
            }
            let offset = self.start.as_secs() - (last[row.source] - seconds);
            let shift = |(time, content): &(i64, StateContent)| HistoryState {
                since: Timestamp::from_secs(time + offset),
                content: *content,
            };
            pages.push(PageHistory {
                host: share(&host),
                path,
                media_type: share(&row.media_type),
                states: changes[&id].iter().map(shift).collect(),
                change_rate_per_day: None,
            });
        }
        if pages.is_empty() {
            return Err(CorpusError::Empty { directory: self.directory.clone(), days: self.days });
        }
        let trace = ChangeTrace { window: TimeWindow::days_from(self.start, self.days), pages };
        let blobs = match has_bytes {
            true => self.blobs(&trace)?,
            false => BlobStore::default(),
        };
        Ok((trace, blobs))
    }

    fn page_rows(&self) -> Result<(Vec<String>, HashMap<u32, PageRow>), CorpusError> {
        let mut sources: Vec<String> = Vec::new();
        let mut rows = HashMap::new();
        CsvTable::open(&self.directory, "pages.csv.zst")?.for_each(|row| {
            let source = row.text(3, "source")?;
            if self.sources.is_empty() || self.sources.iter().any(|wanted| wanted == source) {
                let number = sources.iter().rposition(|known| known == source).unwrap_or_else(|| {
                    sources.push(source.to_owned());
                    sources.len() - 1
                });
                rows.insert(
                    row.number(0, "page_id")?,
                    PageRow {
                        host: row.text(1, "host")?.to_owned(),
                        path: row.text(2, "path")?.to_owned(),
                        source: number,
                        media_type: row.text(4, "mime")?.to_owned(),
                    },
                );
            }
            Ok(())
        })?;
        Ok((sources, rows))
    }

    /// Every page's states, by page number, with times in seconds.
    fn changes(&self, has_bytes: bool) -> Result<HashMap<u32, Vec<(i64, StateContent)>>, CorpusError> {
        let mut changes: HashMap<u32, Vec<(i64, StateContent)>> = HashMap::new();
        CsvTable::open(&self.directory, "changes.csv.zst")?.for_each(|row| {
            let time = row.number(1, "unix_time")?;
            let content = match row.text(2, "kind")? {
                "D" => StateContent::Gone,
                _ if has_bytes => StateContent::Blob(row.number(3, "blob_id")?),
                _ => StateContent::Generated,
            };
            let states = changes.entry(row.number(0, "page_id")?).or_default();
            match states.last_mut() {
                Some(last) if last.0 == time => last.1 = content,
                _ => states.push((time, content)),
            }
            Ok(())
        })?;
        Ok(changes)
    }

    fn blobs(&self, trace: &ChangeTrace) -> Result<BlobStore, CorpusError> {
        let contents = trace.pages.iter().flat_map(|page| &page.states).map(|state| state.content);
        let needed: HashSet<u32> = contents
            .filter_map(|content| match content {
                StateContent::Blob(blob) => Some(blob),
                _ => None,
            })
            .collect();
        let mut wanted = Vec::with_capacity(needed.len());
        CsvTable::open(&self.directory, "blobs.csv.zst")?.for_each(|row| {
            let blob = row.number(0, "blob_id")?;
            if needed.contains(&blob) {
                let digest = u64::from_str_radix(row.text(4, "sha256_16")?, 16);
                wanted.push(BlobLocation {
                    blob,
                    frame: row.number(1, "frame_id")?,
                    offset: row.number(2, "offset")?,
                    length: row.number(3, "length")?,
                    digest: digest.map_err(|_| row.problem("sha256_16"))?,
                });
            }
            Ok(())
        })?;
        BlobStore::unpack(Frames::open(&self.directory)?, wanted)
    }
}
