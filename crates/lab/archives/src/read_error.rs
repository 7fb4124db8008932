//! Errors of reading a directory of recorded histories.

use std::io;
use std::path::PathBuf;

/// A corpus that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A table is missing or not zstd.
    #[error("cannot read {path}: {source}; is it a corpus directory?")]
    Open {
        /// Path of the table.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A table is not CSV.
    #[error("{path} is not readable CSV: {source}")]
    Csv {
        /// Path of the table.
        path: PathBuf,
        /// Position and cause.
        source: csv::Error,
    },
    /// A field of a table is missing or malformed.
    #[error("{path}, row {row}: column {column} is missing or malformed")]
    Field {
        /// Path of the table.
        path: PathBuf,
        /// Number of the row, from 1, without the header.
        row: u64,
        /// Name of the column.
        column: &'static str,
    },
    /// A frame does not exist or is too short.
    #[error("the corpus refers to frame {frame}, which does not exist or is too short")]
    NoSuchFrame {
        /// Number of the frame.
        frame: usize,
    },
    /// A frame cannot be unpacked.
    #[error("cannot unpack corpus bytes at {path}: {source}")]
    Unpack {
        /// The file of frames.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
