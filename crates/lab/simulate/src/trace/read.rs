//! The two tables of the corpus format: `pages.csv` and `changes.csv`, sorted by page, then time.

use super::recording::{RecordedPage, RecordedState, Recording, RecordingEvent};
use csv::ByteRecord;
use std::collections::HashMap;
use std::io::Read;
use std::str::FromStr;

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A table is not CSV, or could not be read.
    #[error("{table} is not readable CSV: {source}")]
    Csv {
        table: String,
        /// Position and cause.
        source: csv::Error,
    },
    /// A table lacks a column.
    #[error("{table}, line 1: column {column} is missing; the header has {found}")]
    MissingColumn {
        table: String,
        column: &'static str,
        /// The existing columns.
        found: String,
    },
    /// An invalid row.
    #[error("{table}, row {row} (line {line}), column {column}: {problem}")]
    Row {
        table: String,
        /// Number of the row, from 1, without the header.
        row: u64,
        line: u64,
        column: &'static str,
        /// Fault of the cell, and the value to write instead.
        problem: String,
    },
    /// A table without rows after its header.
    #[error("{table} has no rows")]
    Empty { table: String },
    /// A requested source does not exist.
    #[error("unknown source {name:?}; give one of: {known}")]
    UnknownSource { name: String, known: String },
    /// No page lives through two years.
    #[error("no page can be judged: {reasons}")]
    NothingJudged {
        /// The reason for each source.
        reasons: String,
    },
}

/// A table to read, uncompressed, with its name for messages.
#[derive(Debug)]
pub struct TraceTable<R> {
    /// File name for messages.
    pub name: String,
    /// Reader of its content.
    pub bytes: R,
}

impl Recording {
    /// Reads both tables. Columns are found by name; others are ignored.
    ///
    /// # Errors
    /// On the first violation of the format, with its position.
    pub fn read<P: Read, C: Read>(pages: TraceTable<P>, changes: TraceTable<C>) -> Result<Recording, RecordingError> {
        let mut recording = Recording::default();
        let ids = recording.read_pages(pages)?;
        recording.read_changes(changes, &ids)?;
        Ok(recording)
    }

    /// Reads the table of pages. Returns the index of each page by its number.
    fn read_pages<R: Read>(&mut self, table: TraceTable<R>) -> Result<HashMap<u64, usize>, RecordingError> {
        let mut rows = Rows::open(table)?;
        let [id, host, path, source] = rows.columns(["page_id", "host", "path", "source"])?;
        let (mut ids, mut hosts, mut sources) = (HashMap::new(), HashMap::new(), HashMap::new());
        while rows.advance()? {
            let page_id = rows.number(id)?;
            if ids.insert(page_id, self.pages.len()).is_some() {
                return Err(rows.problem(id, format!("page {page_id} has two rows; give each page one row")));
            }
            let named = |column: HeaderColumn| match rows.text(column)? {
                "" => Err(rows.problem(column, format!("is empty; write the page's {}", column.name))),
                text => Ok(text),
            };
            let page = RecordedPage {
                host: number_of(named(host)?, &mut hosts, &mut self.hosts),
                source: number_of(named(source)?, &mut sources, &mut self.sources),
                path: named(path)?.into(),
                states: 0..0,
            };
            self.pages.push(page);
        }
        match self.pages.is_empty() {
            true => Err(RecordingError::Empty { table: rows.table }),
            false => Ok(ids),
        }
    }

    fn read_changes<R: Read>(&mut self, table: TraceTable<R>, ids: &HashMap<u64, usize>) -> Result<(), RecordingError> {
        let mut rows = Rows::open(table)?;
        let [id, time, kind] = rows.columns(["page_id", "unix_time", "kind"])?;
        let extent = rows.column_if_any("extent")?;
        let mut before: Option<(u64, usize, i64)> = None;
        while rows.advance()? {
            let page_id: u64 = rows.number(id)?;
            let unix_time: i64 = rows.number(time)?;
            let position = match before {
                Some((same, position, earlier)) if same == page_id => {
                    if unix_time < earlier {
                        let problem = format!(
                            "{unix_time} comes after {earlier} of the same page {page_id}; sort the rows by page_id, then unix_time"
                        );
                        return Err(rows.problem(time, problem));
                    }
                    position
                }
                Some((other, ..)) if page_id < other => {
                    let problem =
                        format!("page {page_id} comes after page {other}; sort the rows by page_id, then unix_time");
                    return Err(rows.problem(id, problem));
                }
                _ => match ids.get(&page_id) {
                    Some(position) => {
                        self.pages[*position].states = self.states.len()..self.states.len();
                        *position
                    }
                    None => return Err(rows.problem(id, format!("page {page_id} is not in the table of pages"))),
                },
            };
            let character = rows.text(kind)?;
            let Some(kind) = RecordingEvent::parse(character) else {
                let problem = format!(
                    "kind {character:?} is unknown; write I (existed), A (appeared), M (changed) or D (deleted)"
                );
                return Err(rows.problem(kind, problem));
            };
            let extent = extent.map(|extent| rows.extent(extent)).transpose()?.flatten();
            self.states.push(RecordedState { unix_time, kind, extent });
            self.pages[position].states.end = self.states.len();
            before = Some((page_id, position, unix_time));
        }
        match self.states.is_empty() {
            true => Err(RecordingError::Empty { table: rows.table }),
            false => Ok(()),
        }
    }
}

fn number_of(name: &str, numbers: &mut HashMap<String, u32>, names: &mut Vec<String>) -> u32 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let number = names.len() as u32;
    numbers.insert(name.to_owned(), number);
    names.push(name.to_owned());
    number
}

/// A column found in the header.
#[derive(Clone, Copy)]
struct HeaderColumn {
    name: &'static str,
    position: usize,
}

/// The rows of a table, one at a time.
struct Rows<R> {
    table: String,
    reader: csv::Reader<R>,
    record: ByteRecord,
    row: u64,
}

impl<R: Read> Rows<R> {
    fn open(table: TraceTable<R>) -> Result<Self, RecordingError> {
        Ok(Self { table: table.name, reader: csv::Reader::from_reader(table.bytes), record: ByteRecord::new(), row: 0 })
    }

    fn columns<const N: usize>(&mut self, names: [&'static str; N]) -> Result<[HeaderColumn; N], RecordingError> {
        let header = match self.reader.byte_headers() {
            Ok(header) => header.clone(),
            Err(source) => return Err(RecordingError::Csv { table: self.table.clone(), source }),
        };
        let mut columns = [HeaderColumn { name: "", position: 0 }; N];
        for (column, name) in columns.iter_mut().zip(names) {
            let Some(position) = header.iter().position(|found| found == name.as_bytes()) else {
                let found: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
                let found = if header.is_empty() { "nothing".to_owned() } else { found.join(",") };
                return Err(RecordingError::MissingColumn { table: self.table.clone(), column: name, found });
            };
            *column = HeaderColumn { name, position };
        }
        Ok(columns)
    }

    /// A column that not every table has.
    fn column_if_any(&mut self, name: &'static str) -> Result<Option<HeaderColumn>, RecordingError> {
        match self.columns([name]) {
            Ok([column]) => Ok(Some(column)),
            Err(RecordingError::MissingColumn { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The extent of a change; `None` for an empty cell.
    fn extent(&self, column: HeaderColumn) -> Result<Option<f32>, RecordingError> {
        match self.text(column)? {
            "" => Ok(None),
            text => match text.parse() {
                Ok(extent) if (0.0..=1.0).contains(&extent) => Ok(Some(extent)),
                _ => Err(self.problem(column, format!("{text:?} is no share; write a number from 0 to 1, or nothing"))),
            },
        }
    }

    fn advance(&mut self) -> Result<bool, RecordingError> {
        self.row += 1;
        let read = self.reader.read_byte_record(&mut self.record);
        read.map_err(|source| RecordingError::Csv { table: self.table.clone(), source })
    }

    fn text(&self, column: HeaderColumn) -> Result<&str, RecordingError> {
        let field = self.record.get(column.position).unwrap_or_default();
        std::str::from_utf8(field).map_err(|_| self.problem(column, "is not UTF-8".to_owned()))
    }

    fn number<N: FromStr>(&self, column: HeaderColumn) -> Result<N, RecordingError> {
        let text = self.text(column)?;
        text.parse().map_err(|_| self.problem(column, format!("{text:?} is not a whole number")))
    }

    fn problem(&self, column: HeaderColumn, problem: String) -> RecordingError {
        let line = self.record.position().map_or(0, csv::Position::line);
        RecordingError::Row { table: self.table.clone(), row: self.row, line, column: column.name, problem }
    }
}
