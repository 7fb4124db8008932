//! The codec of a message type: its struct and its parsed schema.
//!
//! The encoding is Avro single-object encoding (Avro specification 1.12, "Single-object encoding"): two marker bytes,
//! the little-endian CRC-64-AVRO fingerprint of the writer's schema in parsing canonical form, and the datum. Nearly
//! all records were written with this program's schema, and are decoded directly into the struct. Records of other
//! versions are resolved with their schema from the [registry](crate::schemas).

use crate::fingerprint::{HEADER_BYTES, MARKER};
use crate::resolution::{ResolutionError, ResolutionPlan, one_line};
use crate::schema_record::SchemaRecord;
use crate::schemas;
use crate::shape::Shape;
use crate::writer::DatumWriter;
use crate::{DecodeError, Encoded, Fingerprint};
use apache_avro::Schema;
use apache_avro::error::Details;
use apache_avro::reader::datum::GenericDatumReader;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError, RwLock};

/// Limits the allocation for a corrupt length. apache-avro allows 512 MiB by default, but no topic carries records of
/// more than a few MiB.
const MAX_ALLOCATION_BYTES: usize = 64 << 20;

/// A record type with a schema. Implemented with [`impl_message!`](crate::impl_message).
pub trait Message: Encoded + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The record's name in the schema, without namespace.
    const NAME: &'static str;

    /// The codec of this type.
    fn codec() -> &'static Codec<Self>;

    /// The schema as published to readers.
    fn schema_record() -> SchemaRecord {
        Self::codec().schema_record()
    }
}

/// Implements [`Message`](crate::Message) for a struct and its codec.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// use wire::Encoded;
///
/// #[derive(Serialize, Deserialize)]
/// struct Visit {
///     count: i64,
/// }
/// const SCHEMA: &str = r#"{"type": "record", "name": "Visit", "fields": [{"name": "count", "type": "long"}]}"#;
/// wire::impl_message!(Visit, "Visit", wire::Codec::new("Visit", SCHEMA));
///
/// assert_eq!(Visit::decode(&Visit { count: 3 }.encode()).unwrap().count, 3);
/// ```
///
/// `messages::impl_message!` takes the schema alone, which may then refer to the parts of `schemas/parts`.
#[macro_export]
macro_rules! impl_message {
    ($type:ty, $name:literal, $codec:expr $(,)?) => {
        impl $crate::Message for $type {
            const NAME: &'static str = $name;

            fn codec() -> &'static $crate::Codec<Self> {
                static CODEC: ::std::sync::LazyLock<$crate::Codec<$type>> = ::std::sync::LazyLock::new(|| $codec);
                &CODEC
            }
        }

        impl $crate::Encoded for $type {
            fn encode_into(&self, bytes: &mut ::std::vec::Vec<u8>) {
                <Self as $crate::Message>::codec().encode_into(self, bytes);
            }

            fn decode(bytes: &[u8]) -> ::std::result::Result<Self, $crate::DecodeError> {
                <Self as $crate::Message>::codec().decode(bytes)
            }

            fn schemas() -> ::std::vec::Vec<$crate::schemas::SchemaRecord> {
                ::std::vec![<Self as $crate::Message>::schema_record()]
            }
        }
    };
}

/// The plan to read another version's records, or the error if none of its records can be read.
type Resolved = Result<Arc<ResolutionPlan>, DecodeError>;

/// Encodes a record type with its schema, and decodes it from any known version.
pub struct Codec<T> {
    name: &'static str,
    text: &'static str,
    fingerprint: Fingerprint,
    header: [u8; HEADER_BYTES],
    shape: Shape,
    schema: &'static Schema,
    reader: GenericDatumReader<'static>,
    /// Other versions seen so far.
    others: RwLock<HashMap<Fingerprint, Resolved>>,
    of: PhantomData<fn(T) -> T>,
}

impl<T: Serialize + DeserializeOwned> Codec<T> {
    /// Parses a schema. It stays in memory for the life of the process, so make one codec per type.
    ///
    /// # Panics
    /// If the schema does not parse, uses features that no message needs (maps, unions other than null and one
    /// type), or describes another record. Schemas are part of the program.
    pub fn new(name: &'static str, text: &str) -> Self {
        apache_avro::util::max_allocation_bytes(MAX_ALLOCATION_BYTES);
        let text: &'static str = Box::leak(text.into());
        let schema = Schema::parse_str(text).unwrap_or_else(|error| panic!("schema of {name}: {error}"));
        assert_eq!(schemas::record_name(&schema), Some(name), "this is the schema of another record");
        let schema: &'static Schema = Box::leak(Box::new(schema));
        let reader = GenericDatumReader::builder(schema).build();
        let reader = reader.expect("every schema defines the names it refers to, otherwise parsing would have failed");
        let fingerprint = Fingerprint::of_schema(schema);
        let mut header = [0; HEADER_BYTES];
        header[..2].copy_from_slice(&MARKER);
        header[2..].copy_from_slice(&fingerprint.to_bytes());
        let (shape, others) = (Shape::of(schema), RwLock::default());
        Self { name, text, fingerprint, header, shape, schema, reader, others, of: PhantomData }
    }

    /// Appends the encoded value.
    ///
    /// # Panics
    /// If the struct does not match its schema field by field. A test per type rules this out.
    pub fn encode_into(&self, value: &T, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.header);
        self.encode_datum_into(value, bytes);
    }

    /// Appends the datum alone, without marker and fingerprint.
    ///
    /// # Panics
    /// Like [`encode_into`](Self::encode_into).
    pub fn encode_datum_into(&self, value: &T, bytes: &mut Vec<u8>) {
        if let Err(error) = value.serialize(DatumWriter { shape: &self.shape, bytes }) {
            panic!("struct and schema of {} disagree: {error}", self.name);
        }
    }

    /// Decodes a value that was written with this schema or with a known version of it.
    pub fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let (fingerprint, datum) = Fingerprint::split(bytes)?;
        self.decode_datum(fingerprint, datum)
    }

    /// Decodes a datum that was written with the schema of this fingerprint.
    pub fn decode_datum(&self, fingerprint: Fingerprint, mut datum: &[u8]) -> Result<T, DecodeError> {
        if fingerprint != self.fingerprint {
            return self.decode_other(fingerprint, datum);
        }
        let value = self.reader.read_deser(&mut datum).map_err(|error| self.corrupt(problem(&error)))?;
        match datum.len() {
            0 => Ok(value),
            rest => Err(self.corrupt(format!("{rest} bytes after the end"))),
        }
    }

    fn decode_other(&self, fingerprint: Fingerprint, datum: &[u8]) -> Result<T, DecodeError> {
        let unresolvable = |problem| DecodeError::Unresolvable { name: self.name, fingerprint, problem };
        let value = self.plan(fingerprint)?.read(datum).map_err(|unreadable| match unreadable {
            ResolutionError::Corrupt(problem) => self.corrupt(problem),
            ResolutionError::Unresolvable(problem) => unresolvable(problem),
        })?;
        schemas::count_of_other_version(self.name);
        apache_avro::from_value(&value).map_err(|error| self.corrupt(problem(&error)))
    }

    fn plan(&self, fingerprint: Fingerprint) -> Resolved {
        let known = self.others.read().unwrap_or_else(PoisonError::into_inner).get(&fingerprint).cloned();
        if let Some(known) = known {
            return known;
        }
        // Not cached, because the schema may be learned at any time.
        let Some(writer) = schemas::find(fingerprint) else {
            return Err(DecodeError::UnknownSchema { fingerprint, readable: self.readable() });
        };
        let plan = self.make_plan(fingerprint, writer);
        self.others.write().unwrap_or_else(PoisonError::into_inner).insert(fingerprint, plan.clone());
        plan
    }

    fn make_plan(&self, fingerprint: Fingerprint, writer: &Schema) -> Resolved {
        let found = schemas::record_name(writer).unwrap_or_default();
        if found != self.name {
            let (found, readable) = (found.to_owned(), self.readable());
            return Err(DecodeError::OtherRecord { fingerprint, found, readable });
        }
        let unresolvable = |problem| DecodeError::Unresolvable { name: self.name, fingerprint, problem };
        ResolutionPlan::new(writer, self.schema).map(Arc::new).map_err(unresolvable)
    }

    fn corrupt(&self, problem: String) -> DecodeError {
        DecodeError::Corrupt { name: self.name, problem }
    }

    /// Fingerprint of this program's schema.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// This program's schema.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// This program's schema as published to readers.
    pub fn schema_record(&self) -> SchemaRecord {
        SchemaRecord { name: self.name, fingerprint: self.fingerprint, json: self.text }
    }

    /// Name and fingerprint, for error messages: `FetchResult (1f…)`.
    pub fn readable(&self) -> String {
        format!("{} ({})", self.name, self.fingerprint)
    }
}

/// A one-line message. Some of apache-avro's messages print the whole schema, which is too long for the reason
/// of a record set aside.
fn problem(error: &apache_avro::Error) -> String {
    match error.details() {
        Details::DeserializeSchemaAware { value_type, value, .. } => format!("{value_type}: {value}"),
        other => one_line(&other.to_string()),
    }
}
