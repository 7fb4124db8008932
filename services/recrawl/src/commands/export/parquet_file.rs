//! A Parquet file of fetches. Rows are held until they make a row group, so that memory is bounded.

use super::jsonl::ExportLine;
use page::Timestamp;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

/// The fields of a line of `recrawl export jsonl`. Lists are JSON.
const SCHEMA: &str = "message fetch {
    required binary cursor (STRING);
    required binary url (STRING);
    required binary page_id (STRING);
    required int64 attempt;
    required int64 fetched_at (TIMESTAMP(MICROS,true));
    required binary outcome (STRING);
    optional int32 status;
    optional binary final_url (STRING);
    required binary hops (JSON);
    optional binary headers (JSON);
    optional binary protocol (STRING);
    optional binary address (STRING);
    optional binary content_type (STRING);
    optional binary content_digest (STRING);
    optional binary body;
    optional binary charset (STRING);
    required int64 body_length;
    required boolean truncated;
    required int64 wire_bytes;
    required int32 latency_ms;
    optional int64 retry_after_s;
    optional binary detail (STRING);
}";
const COLUMNS: usize = 22;
/// Level of zstd: smaller than gzip's default, and several times as fast.
const ZSTD_LEVEL: i32 = 3;

/// A value in a column.
enum Cell {
    Bytes(Option<ByteArray>),
    Long(Option<i64>),
    Int(Option<i32>),
    Flag(bool),
}

/// A fetch as a row.
pub(super) struct Row {
    cells: [Cell; COLUMNS],
    pub(super) bytes: u64,
}

impl Row {
    /// A row of the line without its body, and of the body as it was received.
    pub(super) fn new(line: ExportLine, fetched_at: Timestamp, body: Option<Vec<u8>>) -> Self {
        let cells = [
            required(line.cursor),
            required(line.url),
            required(line.page_id),
            Cell::Long(Some(line.attempt)),
            Cell::Long(Some(fetched_at.as_micros())),
            required(messages::word(&line.outcome)),
            Cell::Int(line.status.map(i32::from)),
            text(line.final_url),
            required(json(&line.hops)),
            text(line.headers.as_ref().map(json)),
            text(line.protocol),
            text(line.address),
            text(line.content_type),
            text(line.content_digest),
            Cell::Bytes(body.map(ByteArray::from)),
            text(line.charset.map(str::to_owned)),
            Cell::Long(Some(line.body_length)),
            Cell::Flag(line.truncated),
            Cell::Long(Some(line.wire_bytes)),
            Cell::Int(Some(line.latency_ms)),
            Cell::Long(line.retry_after_s),
            text(line.detail),
        ];
        let size = |cell: &Cell| match cell {
            Cell::Bytes(Some(bytes)) => bytes.len() as u64,
            Cell::Bytes(None) | Cell::Long(_) | Cell::Int(_) | Cell::Flag(_) => 0,
        };
        // What cells take beside their bytes.
        let bytes = cells.iter().map(size).sum::<u64>() + size_of::<Self>() as u64;
        Self { cells, bytes }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("lists of texts and numbers are JSON")
}

fn required(value: String) -> Cell {
    text(Some(value))
}

fn text(value: Option<String>) -> Cell {
    Cell::Bytes(value.map(|text| ByteArray::from(text.into_bytes())))
}

/// A file that is being written.
pub(super) struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: Vec<Row>,
    /// Bytes of the rows that are held.
    held: u64,
    written_rows: u64,
}

impl<W: Write + Send> ParquetFile<W> {
    pub(super) fn begin(out: W) -> Result<Self> {
        let body = ColumnPath::from("body");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_created_by(concat!("recrawl ", env!("CARGO_PKG_VERSION")).to_owned())
            // Bodies hardly repeat, and no query searches them by their order.
            .set_column_dictionary_enabled(body.clone(), false)
            .set_column_statistics_enabled(body, EnabledStatistics::None)
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        Ok(Self { writer, rows: Vec::new(), held: 0, written_rows: 0 })
    }

    /// Bytes of the file, with the rows that are not written yet as they are.
    pub(super) fn bytes(&self) -> u64 {
        self.writer.bytes_written() as u64 + self.held
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.written_rows + self.rows.len() as u64
    }

    /// Adds a row. Writes the held rows as a row group once they have `group_bytes`.
    pub(super) fn add(&mut self, row: Row, group_bytes: u64) -> Result<()> {
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
                ColumnWriter::BoolColumnWriter(writer) => write(writer, cells.map(flag))?,
                _ => unreachable!("the schema has no other types"),
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

    /// The output of the writer. Bytes may be taken from it, not added.
    pub(super) fn out(&mut self) -> &mut W {
        self.writer.inner_mut()
    }

    /// Writes the rest and the footer. Returns what it was written to, and the number of rows.
    pub(super) fn finish(mut self) -> Result<(W, u64)> {
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
