//! Errors of reading a directory of recorded histories.

use std::io;
use std::path::PathBuf;

/// A corpus that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A table is missing or not zstd.
    #[error("cannot read {path}: {source}; is it a corpus directory?")]
    Open { path: PathBuf, source: io::Error },
    /// A table is not CSV.
    #[error("{path} is not readable CSV: {source}")]
    Csv {
        path: PathBuf,
        /// Position and cause.
        source: csv::Error,
    },
    /// A field of a table is missing or malformed.
    #[error("{path}, row {row}: column {column} is missing or malformed")]
    Field {
        path: PathBuf,
        /// Number of the row, from 1, without the header.
        row: u64,
        column: &'static str,
    },
    /// A frame does not exist or is too short.
    #[error("the corpus refers to frame {frame}, which does not exist or is too short")]
    NoSuchFrame { frame: usize },
    /// A frame cannot be unpacked.
    #[error("cannot unpack corpus bytes at {path}: {source}")]
    Unpack { path: PathBuf, source: io::Error },
}
