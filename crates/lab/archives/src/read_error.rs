//! What is wrong with a directory of recorded histories.

use std::io;
use std::path::PathBuf;

/// A corpus that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A table is missing or not zstd.
    #[error("cannot read {path}: {source}; is it a corpus directory?")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A table is not CSV.
    #[error("{path} is not readable CSV: {source}")]
    Csv {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: csv::Error,
    },
    /// A field of a table is missing or not what it should be.
    #[error("{path}, row {row}: column {column} is missing or malformed")]
    Field {
        /// The file.
        path: PathBuf,
        /// Number of the row, from 1, without the header.
        row: u64,
        /// The column.
        column: &'static str,
    },
    /// Bytes lie outside the frames.
    #[error("the corpus names frame {frame}, which does not exist or is too short")]
    NoSuchFrame {
        /// Its number.
        frame: usize,
    },
    /// A frame cannot be unpacked.
    #[error("cannot unpack corpus bytes at {path}: {source}")]
    Unpack {
        /// The file of frames.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
