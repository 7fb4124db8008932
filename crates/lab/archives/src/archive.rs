//! The tables of an archive.

use crate::blobs::Blobs;
use crate::read_error::ReadError;
use crate::table::CsvTable;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// An archive that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A table or a frame could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A change refers to bytes that do not exist.
    #[error("the archive refers to blob {blob}, which does not exist or lies outside its frame")]
    NoSuchBlob { blob: usize },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedPage {
    pub page_id: u32,
    /// Host and path: `host.test/path`.
    pub address: String,
    /// The collection it comes from.
    pub source: String,
    /// The `Content-Type` it is served with.
    pub content_type: String,
    /// The address that its first judged version gives for itself, if any. Pages with the same one are one document.
    pub(crate) document: Option<String>,
    /// Its rows in order of time: UNIX time in seconds, and the number of its bytes (`None` where it is gone).
    pub(crate) rows: Vec<(i64, Option<usize>)>,
}

/// An archive of page versions.
pub struct Archive {
    directory: PathBuf,
    pub(crate) pages: Vec<ArchivedPage>,
    pub(crate) blobs: Blobs,
}

impl ArchivedPage {
    /// Number of its rows: its versions, and the times when it was gone.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Its rows in order of time: UNIX time in seconds, and whether the page was there from then on. The versions that
    /// [`Archive::for_each_version`] passes are those of the rows where it was.
    pub fn history(&self) -> impl Iterator<Item = (i64, bool)> {
        self.rows.iter().map(|(unix_time, blob)| (*unix_time, blob.is_some()))
    }

    /// Whether it was ever there.
    pub fn has_versions(&self) -> bool {
        self.rows.iter().any(|(_, blob)| blob.is_some())
    }
}

impl Archive {
    /// Opens a directory; `source` limits it to one collection.
    pub fn open(directory: &Path, source: Option<&str>) -> Result<Self, ArchiveError> {
        let mut pages = BTreeMap::new();
        CsvTable::open(directory, "pages.csv.zst")?.for_each(|row| {
            let of = row.text(3, "source")?;
            if source.is_none_or(|source| source == of) {
                let page_id = row.number(0, "page_id")?;
                let page = ArchivedPage {
                    page_id,
                    address: format!("https://{}{}", row.text(1, "host")?, row.text(2, "path")?),
                    source: of.to_owned(),
                    content_type: row.text(4, "mime")?.to_owned(),
                    document: None,
                    rows: Vec::new(),
                };
                pages.insert(page_id, page);
            }
            Ok(())
        })?;
        CsvTable::open(directory, "changes.csv.zst")?.for_each(|row| {
            let Some(page) = pages.get_mut(&row.number(0, "page_id")?) else { return Ok(()) };
            let blob = if row.text(2, "kind")? == "D" { None } else { Some(row.number(3, "blob_id")?) };
            page.rows.push((row.number(1, "unix_time")?, blob));
            Ok(())
        })?;
        let blobs = Blobs::open(directory)?;
        Ok(Self { directory: directory.to_owned(), pages: pages.into_values().collect(), blobs })
    }

    /// The pages, in the order of their numbers.
    pub fn pages(&self) -> &[ArchivedPage] {
        &self.pages
    }

    /// Passes the bytes of every version to `take`, page by page and in order of time, until it breaks.
    pub fn for_each_version(
        &mut self,
        mut take: impl FnMut(&ArchivedPage, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), ArchiveError> {
        for page in &self.pages {
            for blob in page.rows.iter().filter_map(|(_, blob)| *blob) {
                if take(page, self.blobs.read(blob)?).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Passes the bytes of the latest version of every page that is not gone to `take`.
    pub fn for_each_latest(&mut self, mut take: impl FnMut(&ArchivedPage, &[u8])) -> Result<(), ArchiveError> {
        for page in &self.pages {
            if let Some(&(_, Some(blob))) = page.rows.last() {
                take(page, self.blobs.read(blob)?);
            }
        }
        Ok(())
    }

    /// The bytes of the newest versions of a page, `most` of them if there are as many, oldest first.
    pub fn newest_versions(&mut self, page: &ArchivedPage, most: usize) -> Result<Vec<Vec<u8>>, ArchiveError> {
        let newest: Vec<usize> = page.rows.iter().rev().filter_map(|(_, blob)| *blob).take(most).collect();
        newest.into_iter().rev().map(|blob| self.blobs.read(blob).map(<[u8]>::to_vec)).collect()
    }

    /// The archive's labels: for each labelled raw change, by page and time, whether it was meaningful.
    pub fn labels(&self) -> Result<HashMap<(u32, i64), bool>, ArchiveError> {
        let mut labels = HashMap::new();
        CsvTable::open(&self.directory, "labels.csv.zst")?.for_each(|row| {
            let key = (row.number(0, "page_id")?, row.number(1, "unix_time")?);
            labels.insert(key, row.text(2, "meaningful")? == "1");
            Ok(())
        })?;
        Ok(labels)
    }
}
