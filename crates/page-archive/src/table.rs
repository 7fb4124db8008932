//! A compressed CSV table.

use crate::archive::ArchiveError;
use csv::ByteRecord;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub(crate) struct Table {
    path: PathBuf,
    reader: csv::Reader<zstd::Decoder<'static, io::BufReader<File>>>,
}

/// A row of a table, and where it stands.
pub(crate) struct Row<'a> {
    path: &'a Path,
    number: u64,
    record: &'a ByteRecord,
}

impl Table {
    pub(crate) fn open(directory: &Path, name: &str) -> Result<Self, ArchiveError> {
        let path = directory.join(name);
        match File::open(&path).and_then(zstd::Decoder::new) {
            Ok(decoder) => Ok(Self { path, reader: csv::Reader::from_reader(decoder) }),
            Err(source) => Err(ArchiveError::Open { path, source }),
        }
    }

    pub(crate) fn for_each(
        mut self,
        mut take: impl FnMut(Row<'_>) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let mut record = ByteRecord::new();
        let mut number = 0;
        loop {
            match self.reader.read_byte_record(&mut record) {
                Ok(true) => {
                    number += 1;
                    take(Row { path: &self.path, number, record: &record })?;
                }
                Ok(false) => return Ok(()),
                Err(source) => return Err(ArchiveError::Csv { path: self.path, source }),
            }
        }
    }
}

impl Row<'_> {
    pub(crate) fn text(&self, column: usize, name: &'static str) -> Result<&str, ArchiveError> {
        let field = self.record.get(column).and_then(|field| std::str::from_utf8(field).ok());
        field.ok_or_else(|| self.problem(name))
    }

    pub(crate) fn number<N: FromStr>(&self, column: usize, name: &'static str) -> Result<N, ArchiveError> {
        self.text(column, name)?.parse().map_err(|_| self.problem(name))
    }

    fn problem(&self, column: &'static str) -> ArchiveError {
        ArchiveError::Field { path: self.path.to_owned(), row: self.number, column }
    }
}
