//! Reads records of other schema versions (Avro specification 1.12, "Schema Resolution").
//!
//! apache-avro resolves the records. Before that, the writer's schema is adapted to the reader's, as the specification
//! allows and the Java library does: fields with an alias in the reader are renamed, and longs lose their logical type.

use crate::compatibility::{self, SchemasByName, Severity};
use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::schema::{RecordField, RecordSchema, ResolvedSchema, UnionSchema};
use apache_avro::types::Value;
use std::io::{self, Read};

/// The plan to convert records of one schema to another.
pub(crate) struct ResolutionPlan {
    writer: GenericDatumReader<'static>,
    reader: &'static Schema,
    reader_names: ResolvedSchema<'static>,
}

/// Why a record of another version cannot be read.
pub(crate) enum ResolutionError {
    /// The bytes do not match the writer's schema.
    Corrupt(String),
    /// The value has no counterpart in the reader's schema.
    Unresolvable(String),
}

impl ResolutionPlan {
    /// Makes a plan. Fails with the reason if no record of the writer can be read. The writer's schema stays in memory
    /// for the life of the process, so make one plan per pair of schemas.
    pub(crate) fn new(writer: &Schema, reader: &'static Schema) -> Result<Self, String> {
        let problems = compatibility::problems(writer, reader)?;
        if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::EveryRecord) {
            return Err(problem.to_string());
        }
        let one_line = |error: apache_avro::Error| one_line(&error.to_string());
        let reader_names = ResolvedSchema::try_from(reader).map_err(one_line)?;
        let writer = in_words_of(reader_names.get_names(), writer).map_err(one_line)?;
        let writer: &'static Schema = Box::leak(Box::new(writer));
        let writer = GenericDatumReader::builder(writer).build().map_err(one_line)?;
        Ok(Self { writer, reader, reader_names })
    }

    /// Decodes a complete datum.
    pub(crate) fn read(&self, datum: &[u8]) -> Result<Value, ResolutionError> {
        let mut datum = Datum { rest: datum, is_short: false };
        let value = self.writer.read_value(&mut datum);
        if datum.is_short {
            return Err(ResolutionError::Corrupt("it ends before its last field".to_owned()));
        }
        let value = value.map_err(|error| ResolutionError::Corrupt(one_line(&error.to_string())))?;
        if !datum.rest.is_empty() {
            return Err(ResolutionError::Corrupt(format!("{} bytes after the end", datum.rest.len())));
        }
        let resolved = value.resolve_with_names(self.reader, self.reader_names.get_names());
        resolved.map_err(|error| ResolutionError::Unresolvable(one_line(&error.to_string())))
    }
}

/// Input that records reads beyond its end. apache-avro decodes a missing string or fixed value as null.
struct Datum<'a> {
    rest: &'a [u8],
    is_short: bool,
}

impl Read for Datum<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.rest.read(into)?;
        self.is_short |= count < into.len();
        Ok(count)
    }
}

/// The writer's schema with the reader's field names and without logical types. It describes the same bytes.
fn in_words_of(reader: &SchemasByName<'_>, writer: &Schema) -> Result<Schema, apache_avro::Error> {
    Ok(match writer {
        Schema::TimestampMicros | Schema::TimestampMillis | Schema::TimestampNanos => Schema::Long,
        Schema::Array(array) => Schema::array(in_words_of(reader, &array.items)?).build(),
        Schema::Union(union) => {
            let variants = union.variants().iter().map(|variant| in_words_of(reader, variant));
            Schema::Union(UnionSchema::new(variants.collect::<Result<Vec<_>, _>>()?)?)
        }
        Schema::Record(record) => {
            let known = reader.values().find_map(|schema| match schema {
                Schema::Record(known) if compatibility::is_named(&record.name, &known.name, &known.aliases) => {
                    Some(known)
                }
                _ => None,
            });
            let mut fields = Vec::with_capacity(record.fields.len());
            for field in &record.fields {
                let name = known.and_then(|known| readers_name(known, record, field));
                let name = name.unwrap_or(&field.name).clone();
                fields.push(RecordField { name, schema: in_words_of(reader, &field.schema)?, ..field.clone() });
            }
            Schema::Record(RecordSchema::builder().name(record.name.clone()).fields(fields).build())
        }
        other => other.clone(),
    })
}

/// The reader's name for a writer's field, if it differs.
fn readers_name<'r>(reader: &'r RecordSchema, writer: &RecordSchema, field: &RecordField) -> Option<&'r String> {
    let renamed = reader
        .fields
        .iter()
        .find(|known| compatibility::writers_field(writer, known).is_some_and(|found| found.name == field.name));
    renamed.map(|known| &known.name)
}

/// The beginning of a message, on one line. apache-avro's messages may contain whole values and schemas.
pub(crate) fn one_line(message: &str) -> String {
    const MAX_CHARS: usize = 120;
    let mut line: String = message.chars().map(|it| if it.is_control() { ' ' } else { it }).take(MAX_CHARS).collect();
    if message.chars().nth(MAX_CHARS).is_some() {
        line.push('…');
    }
    line
}
