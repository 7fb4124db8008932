//! A compressed CSV table.

use crate::read_error::ReadError;
use csv::ByteRecord;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A table that is read row by row.
pub struct CsvTable {
    path: PathBuf,
    reader: csv::Reader<zstd::Decoder<'static, io::BufReader<File>>>,
}

/// A row of a table, with its position.
pub struct CsvRow<'a> {
    path: &'a Path,
    number: u64,
    record: &'a ByteRecord,
}

impl CsvTable {
    /// Opens a table of a directory.
    pub fn open(directory: &Path, name: &str) -> Result<Self, ReadError> {
        let path = directory.join(name);
        match File::open(&path).and_then(zstd::Decoder::new) {
            Ok(decoder) => Ok(Self { path, reader: csv::Reader::from_reader(decoder) }),
            Err(source) => Err(ReadError::Open { path, source }),
        }
    }

    /// Passes every row, in order, to `take`, until that fails.
    pub fn for_each(mut self, mut take: impl FnMut(CsvRow<'_>) -> Result<(), ReadError>) -> Result<(), ReadError> {
        let mut record = ByteRecord::new();
        let mut number = 0;
        loop {
            match self.reader.read_byte_record(&mut record) {
                Ok(true) => {
                    number += 1;
                    take(CsvRow { path: &self.path, number, record: &record })?;
                }
                Ok(false) => return Ok(()),
                Err(source) => return Err(ReadError::Csv { path: self.path, source }),
            }
        }
    }
}

impl CsvRow<'_> {
    /// A column as text. `name` is its name in errors.
    pub fn text(&self, column: usize, name: &'static str) -> Result<&str, ReadError> {
        let field = self.record.get(column).and_then(|field| std::str::from_utf8(field).ok());
        field.ok_or_else(|| self.problem(name))
    }

    /// A column as a number.
    pub fn number<N: FromStr>(&self, column: usize, name: &'static str) -> Result<N, ReadError> {
        self.text(column, name)?.parse().map_err(|_| self.problem(name))
    }

    /// The error for a column that has an invalid value.
    pub fn problem(&self, column: &'static str) -> ReadError {
        ReadError::Field { path: self.path.to_owned(), row: self.number, column }
    }
}
