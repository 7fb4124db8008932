//! Checks whether records of one schema can be read with another (Avro specification 1.12, "Schema Resolution").
//!
//! apache-avro's [`SchemaCompatibility`] decides which types are readable. It does not name the field that prevents it
//! if an enum or a union is only partly readable, so this module walks records, lists and optional values itself.

use crate::resolution::one_line;
use apache_avro::Schema;
use apache_avro::schema::{EnumSchema, Name, RecordField, RecordSchema, ResolvedSchema, SchemaKind};
use apache_avro::schema_compatibility::{Compatibility, SchemaCompatibility};
use std::collections::HashMap;
use std::fmt;

/// An incompatibility of a reader with a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatibility {
    /// Path of the field, from the record's name, such as `FetchResult.hops.status`.
    pub field: String,
    /// The difference of the two schemas, in words for the error message.
    pub reason: String,
    /// Advice to the author of the schema, printed after the reason.
    pub remedy: &'static str,
    /// Which records cannot be read.
    pub severity: Severity,
}

/// Which records of a writer cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Records with certain values.
    SomeRecords,
    /// All records.
    EveryRecord,
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {}: {}; {}", self.field, self.reason, self.remedy)
    }
}

const GIVE_DEFAULT: &str = "give it a default, or keep writing it";
const KEEP_TYPE: &str = "keep its type, and add a field of another name with a default";
const GIVE_ENUM_DEFAULT: &str = "an enum may grow only if the readers' version of it has a default symbol";
const KEEP_NAME: &str = "keep the name, or give the new type the old one as an alias";

/// The incompatibilities of reading records of `writer` with `reader`. Fails for a schema that cannot be walked.
pub fn problems(writer: &Schema, reader: &Schema) -> Result<Vec<Incompatibility>, String> {
    let names = |schema| ResolvedSchema::new(schema).map_err(|error| one_line(&error.to_string()));
    let (writers, readers) = (names(writer)?, names(reader)?);
    let (writers, readers) = (writers.get_names(), readers.get_names());
    for names in [writers, readers] {
        if let Some(name) = names.keys().find(|name| contains(names[*name], name, names, &mut Vec::new())) {
            return Err(format!("{} contains itself; recursive types are not supported", name.name()));
        }
    }
    let mut walk = Walk { writers, readers, problems: Vec::new() };
    walk.types(writer, reader, reader.name().map_or("", |name| name.name()));
    Ok(walk.problems)
}

/// Whether a schema refers to a name. A record that refers to itself may have no end.
fn contains<'s>(schema: &'s Schema, name: &Name, names: &SchemasByName<'s>, seen: &mut Vec<&'s Name>) -> bool {
    match schema {
        Schema::Record(record) => record.fields.iter().any(|field| contains(&field.schema, name, names, seen)),
        Schema::Array(array) => contains(&array.items, name, names, seen),
        Schema::Map(map) => contains(&map.types, name, names, seen),
        Schema::Union(union) => union.variants().iter().any(|variant| contains(variant, name, names, seen)),
        Schema::Ref { name: found } if found == name => true,
        Schema::Ref { name: found } if !seen.contains(&found) => {
            seen.push(found);
            names.get(found).is_some_and(|schema| contains(schema, name, names, seen))
        }
        _ => false,
    }
}

/// Whether the reader's type matches the writer's by name or alias.
pub(crate) fn is_named(writer: &Name, reader: &Name, aliases: &Option<Vec<apache_avro::schema::Alias>>) -> bool {
    let mut aliases = aliases.iter().flatten();
    writer.name() == reader.name() || aliases.any(|alias| alias.name() == writer.name())
}

/// The writer's field from which a reader's field is read.
pub(crate) fn writers_field<'w>(writer: &'w RecordSchema, reader: &RecordField) -> Option<&'w RecordField> {
    let mut names = std::iter::once(&reader.name).chain(&reader.aliases);
    names.find_map(|name| writer.fields.iter().find(|field| field.name == *name))
}

/// Schemas by the names used in another schema.
pub(crate) type SchemasByName<'s> = HashMap<Name, &'s Schema>;

struct Walk<'s> {
    writers: &'s SchemasByName<'s>,
    readers: &'s SchemasByName<'s>,
    problems: Vec<Incompatibility>,
}

fn follow<'s>(schema: &'s Schema, names: &SchemasByName<'s>) -> &'s Schema {
    match schema {
        Schema::Ref { name } => names.get(name).copied().unwrap_or(schema),
        other => other,
    }
}

/// The type of an optional value when it is present.
fn optional(schema: &Schema) -> Option<&Schema> {
    match schema {
        Schema::Union(union) => match union.variants() {
            [Schema::Null, some] => Some(some),
            _ => None,
        },
        _ => None,
    }
}

impl<'s> Walk<'s> {
    fn types(&mut self, writer: &'s Schema, reader: &'s Schema, field: &str) {
        let (writer, reader) = (follow(writer, self.writers), follow(reader, self.readers));
        if let (Some(written), Some(read)) = (optional(writer), optional(reader)) {
            return self.types(written, read, field);
        }
        if let (None, Some(read)) = (optional(writer), optional(reader))
            && *writer != Schema::Null
        {
            return self.types(writer, read, field);
        }
        match (writer, reader) {
            (Schema::Array(writer), Schema::Array(reader)) => self.types(&writer.items, &reader.items, field),
            (Schema::Record(writer), Schema::Record(reader)) => self.records(writer, reader, field),
            (Schema::Enum(writer), Schema::Enum(reader)) => self.enums(writer, reader, field),
            (Schema::Fixed(writer), Schema::Fixed(reader)) => {
                self.names(&writer.name, &reader.name, &reader.aliases, field);
                if writer.size != reader.size {
                    let reason = format!("the writer has {} bytes, the reader {}", writer.size, reader.size);
                    self.found(field, reason, KEEP_TYPE, Severity::EveryRecord);
                }
            }
            _ => self.others(writer, reader, field),
        }
    }

    fn records(&mut self, writer: &'s RecordSchema, reader: &'s RecordSchema, path: &str) {
        self.names(&writer.name, &reader.name, &reader.aliases, path);
        for field in &reader.fields {
            let path = format!("{path}.{}", field.name);
            match writers_field(writer, field) {
                Some(written) => self.types(&written.schema, &field.schema, &path),
                None if field.default.is_some() => {}
                None => {
                    let reason = "the reader needs it and has no default, but the writer does not write it".to_owned();
                    self.found(&path, reason, GIVE_DEFAULT, Severity::EveryRecord);
                }
            }
        }
    }

    fn enums(&mut self, writer: &EnumSchema, reader: &EnumSchema, field: &str) {
        self.names(&writer.name, &reader.name, &reader.aliases, field);
        let unknown = writer.symbols.iter().find(|symbol| !reader.symbols.contains(symbol));
        if let (Some(symbol), None) = (unknown, &reader.default) {
            let reason = format!("the writer has the symbol {symbol}, which the reader's {} lacks", reader.name.name());
            self.found(field, reason, GIVE_ENUM_DEFAULT, Severity::SomeRecords);
        }
    }

    fn names(&mut self, writer: &Name, reader: &Name, aliases: &Option<Vec<apache_avro::schema::Alias>>, field: &str) {
        if !is_named(writer, reader, aliases) {
            let reason = format!("the writer has a {}, the reader a {}", writer.name(), reader.name());
            self.found(field, reason, KEEP_NAME, Severity::EveryRecord);
        }
    }

    fn others(&mut self, writer: &Schema, reader: &Schema, field: &str) {
        let severity = match SchemaCompatibility::can_read(writer, reader) {
            // The library accepts milliseconds as microseconds.
            Ok(_) if is_moment(writer) && is_moment(reader) && writer != reader => Severity::EveryRecord,
            Ok(Compatibility::Full) => return,
            Ok(Compatibility::Partial) => Severity::SomeRecords,
            Err(_) => Severity::EveryRecord,
        };
        let reason = format!("the writer has {}, the reader {}", type_name(writer), type_name(reader));
        self.found(field, reason, KEEP_TYPE, severity);
    }

    fn found(&mut self, field: &str, reason: String, remedy: &'static str, severity: Severity) {
        self.problems.push(Incompatibility { field: field.to_owned(), reason, remedy, severity });
    }
}

fn is_moment(schema: &Schema) -> bool {
    matches!(schema, Schema::TimestampMillis | Schema::TimestampMicros | Schema::TimestampNanos)
}

fn type_name(schema: &Schema) -> String {
    match optional(schema) {
        Some(some) => format!("null or {}", type_name(some)),
        None => format!("{:?}", SchemaKind::from(schema)),
    }
}
