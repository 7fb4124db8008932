//! Parquet files. Rows are held until they make a row group, so that memory is bounded.

use super::{EndOfFile, FileEncoder};
use crate::source::TopicRecord;
use daemon::CommandFailure;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use serde::Serialize;
use std::marker::PhantomData;
use std::sync::Arc;

/// Level of zstd: smaller than gzip's default, and several times as fast.
const ZSTD_LEVEL: i32 = 3;
/// Bytes of the rows that make a row group. Several times as much is in memory while one is written.
const GROUP_BYTES: u64 = 32 << 20;

/// A row of a table.
pub trait TableRow {
    /// The columns, in the language of Parquet's schemas.
    const SCHEMA: &'static str;
    /// A column that is written without a dictionary and without statistics.
    const PLAIN_COLUMN: Option<&'static str> = None;

    /// A value for each column.
    fn cells(self) -> Vec<Cell>;
}

/// A value in a column. A required column has one for each row.
pub enum Cell {
    /// A text, JSON, or bytes.
    Bytes(Option<ByteArray>),
    /// An int64.
    Long(Option<i64>),
    /// An int32.
    Int(Option<i32>),
    /// A double.
    Double(f64),
    /// A boolean.
    Flag(bool),
}

/// A list as JSON.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("lists of texts and numbers are JSON")
}

/// A text that is always there.
pub fn required(value: String) -> Cell {
    text(Some(value))
}

/// A text.
pub fn text(value: Option<String>) -> Cell {
    Cell::Bytes(value.map(|text| ByteArray::from(text.into_bytes())))
}

/// Makes a row of each record.
pub struct ParquetRows<M, R, F> {
    row: F,
    message: PhantomData<(M, R)>,
}

impl<M, R: TableRow, F: FnMut(TopicRecord<M>) -> R> ParquetRows<M, R, F> {
    /// `row` makes the row of a record.
    pub fn new(row: F) -> Self {
        Self { row, message: PhantomData }
    }
}

/// A row, and the bytes that it takes in memory.
pub struct HeldRow {
    cells: Vec<Cell>,
    bytes: u64,
}

impl HeldRow {
    fn new(cells: Vec<Cell>) -> Self {
        let size = |cell: &Cell| match cell {
            Cell::Bytes(Some(bytes)) => bytes.len(),
            Cell::Bytes(None) | Cell::Long(_) | Cell::Int(_) | Cell::Double(_) | Cell::Flag(_) => 0,
        };
        let bytes = cells.iter().map(|cell| size(cell) + size_of::<Cell>()).sum::<usize>() as u64;
        Self { cells, bytes }
    }
}

impl<M, R: TableRow, F: FnMut(TopicRecord<M>) -> R> FileEncoder for ParquetRows<M, R, F> {
    type Message = M;
    type Entry = HeldRow;
    type File = ParquetFile;

    const ENDING: &'static str = ".parquet";

    fn encode(&mut self, record: TopicRecord<M>) -> Option<HeldRow> {
        Some(HeldRow::new((self.row)(record).cells()))
    }

    fn begin(&mut self, _name: &str, _first: &HeldRow) -> std::result::Result<ParquetFile, CommandFailure> {
        ParquetFile::begin(R::SCHEMA, R::PLAIN_COLUMN).map_err(failed)
    }

    fn add(
        &mut self,
        file: &mut ParquetFile,
        row: HeldRow,
        max_bytes: u64,
    ) -> std::result::Result<Option<HeldRow>, CommandFailure> {
        if file.rows() > 0 && file.bytes() + row.bytes > max_bytes {
            return Ok(Some(row));
        }
        file.add(row, GROUP_BYTES.min(max_bytes)).map_err(failed)?;
        Ok(None)
    }

    fn ready<'file>(&self, file: &'file mut ParquetFile) -> &'file mut Vec<u8> {
        file.writer.inner_mut()
    }

    fn finish(&mut self, file: ParquetFile) -> std::result::Result<EndOfFile, CommandFailure> {
        let (last, records) = file.finish().map_err(failed)?;
        Ok(EndOfFile { last, records, companion: None })
    }
}

fn failed(error: ParquetError) -> CommandFailure {
    CommandFailure::World(format!("the Parquet file: {error}"))
}

/// A file that is being written.
pub struct ParquetFile {
    writer: SerializedFileWriter<Vec<u8>>,
    rows: Vec<HeldRow>,
    /// Bytes of the rows that are held.
    held: u64,
    written_rows: u64,
}

impl ParquetFile {
    fn begin(schema: &str, plain_column: Option<&str>) -> Result<Self> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_created_by(concat!("recrawl ", env!("CARGO_PKG_VERSION")).to_owned());
        if let Some(column) = plain_column.map(ColumnPath::from) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_statistics_enabled(column, EnabledStatistics::None);
        }
        let schema = Arc::new(parse_message_type(schema)?);
        let writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
        Ok(Self { writer, rows: Vec::new(), held: 0, written_rows: 0 })
    }

    /// Bytes of the file, with the rows that are not written yet as they are.
    fn bytes(&self) -> u64 {
        self.writer.bytes_written() as u64 + self.held
    }

    fn rows(&self) -> u64 {
        self.written_rows + self.rows.len() as u64
    }

    /// Adds a row. Writes the held rows as a row group once they have `group_bytes`.
    fn add(&mut self, row: HeldRow, group_bytes: u64) -> Result<()> {
        self.held += row.bytes;
        self.rows.push(row);
        if self.held >= group_bytes { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        let mut place = 0;
        while let Some(mut column) = group.next_column()? {
            let cells = self.rows.iter().map(|row| &row.cells[place]);
            match column.untyped() {
                ColumnWriter::ByteArrayColumnWriter(writer) => write(writer, cells.map(bytes))?,
                ColumnWriter::Int64ColumnWriter(writer) => write(writer, cells.map(long))?,
                ColumnWriter::Int32ColumnWriter(writer) => write(writer, cells.map(int))?,
                ColumnWriter::DoubleColumnWriter(writer) => write(writer, cells.map(double))?,
                ColumnWriter::BoolColumnWriter(writer) => write(writer, cells.map(flag))?,
                _ => unreachable!("the schemas have no other types"),
            }
            column.close()?;
            place += 1;
        }
        group.close()?;
        self.written_rows += self.rows.len() as u64;
        self.rows.clear();
        self.held = 0;
        Ok(())
    }

    /// Writes the rest and the footer. Returns the bytes that were not written yet, and the number of rows.
    fn finish(mut self) -> Result<(Vec<u8>, u64)> {
        self.write_group()?;
        let rows = self.written_rows;
        Ok((self.writer.into_inner()?, rows))
    }
}

fn bytes(cell: &Cell) -> Option<ByteArray> {
    if let Cell::Bytes(value) = cell { value.clone() } else { None }
}

fn long(cell: &Cell) -> Option<i64> {
    if let Cell::Long(value) = cell { *value } else { None }
}

fn int(cell: &Cell) -> Option<i32> {
    if let Cell::Int(value) = cell { *value } else { None }
}

fn double(cell: &Cell) -> Option<f64> {
    if let Cell::Double(value) = cell { Some(*value) } else { None }
}

fn flag(cell: &Cell) -> Option<bool> {
    if let Cell::Flag(value) = cell { Some(*value) } else { None }
}

/// Writes a column. A required one without a value for each row is refused by the library.
fn write<T: DataType>(writer: &mut ColumnWriterImpl<'_, T>, cells: impl Iterator<Item = Option<T::T>>) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    let is_optional = writer.get_descriptor().max_def_level() > 0;
    writer.write_batch(&values, is_optional.then_some(&levels[..]), None).map(|_| ())
}
