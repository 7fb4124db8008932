//! A struct, its schema and all earlier versions of that schema, prepared once.
//!
//! Avro single-object encoding (Avro specification 1.12, "Single-object encoding"): two marker bytes, the CRC-64-AVRO
//! fingerprint of the writer's schema in parsing canonical form (little-endian), the datum. A reader that knows the
//! fingerprint knows the writer's schema, so it decodes with that straight into the struct; fields that the writer
//! did not have yet come from `#[serde(default)]`.

use crate::DecodeError;
use crate::shape::Shape;
use crate::writer::DatumWriter;
use apache_avro::Schema;
use apache_avro::error::Details;
use apache_avro::reader::datum::GenericDatumReader;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::marker::PhantomData;

/// First bytes of every single object: marker and version.
const MARKER: [u8; 2] = [0xC3, 0x01];
/// Marker and fingerprint.
const HEADER_BYTES: usize = 10;
/// A corrupt length must not make us allocate the 512 MiB that apache-avro allows by default. No topic carries records
/// of more than a few MiB.
const MAX_ALLOCATION_BYTES: usize = 64 << 20;

/// A record type with its schema. Implemented with [`impl_message!`](crate::impl_message).
pub trait Message: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The record's name in the schema, without namespace.
    const NAME: &'static str;

    /// The prepared schemas of this type.
    fn codec() -> &'static Codec<Self>;

    /// The bytes of a record value.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        self.encode_into(&mut bytes);
        bytes
    }

    /// Appends the bytes of a record value.
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        Self::codec().encode_into(self, bytes);
    }

    /// Reads a record value that was written with any version of the schema known here.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::codec().decode(bytes)
    }
}

/// Puts a struct and its schema together.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// use messages::Message;
///
/// #[derive(Serialize, Deserialize)]
/// struct Visit {
///     count: i64,
/// }
/// messages::impl_message!(Visit, "Visit", r#"{"type": "record", "name": "Visit", "fields": [{"name": "count", "type": "long"}]}"#);
///
/// assert_eq!(Visit::decode(&Visit { count: 3 }.encode()).unwrap().count, 3);
/// ```
///
/// The third argument is usually `include_str!("…/Visit.avsc")`; earlier versions follow, oldest first:
/// `older: [include_str!("…/history/Visit/v1.avsc")]`.
#[macro_export]
macro_rules! impl_message {
    ($type:ty, $name:literal, $schema:expr $(, older: [$($older:expr),+ $(,)?])? $(,)?) => {
        impl $crate::Message for $type {
            const NAME: &'static str = $name;

            fn codec() -> &'static $crate::Codec<Self> {
                static CODEC: ::std::sync::LazyLock<$crate::Codec<$type>> =
                    ::std::sync::LazyLock::new(|| $crate::Codec::new($name, $schema, &[$($($older),+)?]));
                &CODEC
            }
        }
    };
}

/// CRC-64-AVRO of a schema's canonical form, in the byte order of the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 8]);

impl Fingerprint {
    /// The fingerprint that a single object starts with.
    pub fn of_single_object(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::split(bytes).map(|(fingerprint, _)| fingerprint)
    }

    fn split(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        match bytes.split_first_chunk::<HEADER_BYTES>() {
            Some(([first, second, fingerprint @ ..], datum)) if [*first, *second] == MARKER => {
                Ok((Self(*fingerprint), datum))
            }
            _ => Err(DecodeError::NotSingleObject { length: bytes.len() }),
        }
    }

    fn of_schema(schema: &Schema) -> Self {
        Self(crc_64_avro(canonical_form(schema).as_bytes()).to_le_bytes())
    }
}

/// Parsing canonical form. The specification's rules can be read so that a long with a logical type becomes
/// `{"type":"long"}`, as in apache-avro 0.22 (avro-rs issue 61), or `"long"`, as in Java and fastavro. Fingerprints are
/// for other readers, so ours follow the majority.
fn canonical_form(schema: &Schema) -> String {
    ["int", "long", "bytes", "string"].iter().fold(schema.canonical_form(), |form, primitive| {
        form.replace(&format!(r#"{{"type":"{primitive}"}}"#), &format!(r#""{primitive}""#))
    })
}

/// The Rabin fingerprint of the Avro specification, "Schema fingerprints", bit by bit: it runs once per schema.
fn crc_64_avro(bytes: &[u8]) -> u64 {
    const EMPTY: u64 = 0xC15D_213A_A4D7_A795;
    bytes.iter().fold(EMPTY, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { EMPTY } else { 0 })
    })
}

/// Hexadecimal, in the order of the wire.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// One version of a schema, ready to read with.
struct Version {
    fingerprint: Fingerprint,
    schema: &'static Schema,
    reader: GenericDatumReader<'static>,
}

/// Writes a record type with its newest schema and reads it with any known one.
pub struct Codec<T> {
    name: &'static str,
    header: [u8; HEADER_BYTES],
    shape: Shape,
    /// Newest first, because that is what nearly every record was written with.
    versions: Vec<Version>,
    of: PhantomData<fn(T) -> T>,
}

impl<T: Serialize + DeserializeOwned> Codec<T> {
    /// Prepares the newest schema and its earlier versions (oldest first).
    ///
    /// The schemas are kept for the life of the process, so make one codec per type.
    ///
    /// # Panics
    /// If a schema does not parse, has what no message needs (maps, unions of more than null and another), stands for
    /// another record, or is given twice: they are part of the program.
    pub fn new(name: &'static str, schema: &str, older: &[&str]) -> Self {
        apache_avro::util::max_allocation_bytes(MAX_ALLOCATION_BYTES);
        let mut versions: Vec<Version> = Vec::with_capacity(older.len() + 1);
        for text in std::iter::once(&schema).chain(older.iter().rev()) {
            let version = Version::new(name, text);
            assert!(
                versions.iter().all(|other| other.fingerprint != version.fingerprint),
                "two versions of the schema of {name} are the same to a reader"
            );
            versions.push(version);
        }
        let mut header = [0; HEADER_BYTES];
        header[..2].copy_from_slice(&MARKER);
        header[2..].copy_from_slice(&versions[0].fingerprint.0);
        let shape = Shape::of(versions[0].schema);
        Self { name, header, shape, versions, of: PhantomData }
    }

    /// Appends the bytes of a record value.
    ///
    /// # Panics
    /// If the struct does not follow its schema field by field, which one test per type rules out.
    pub fn encode_into(&self, value: &T, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.header);
        if let Err(error) = value.serialize(DatumWriter { shape: &self.shape, bytes }) {
            panic!("struct and schema of {} disagree: {error}", self.name);
        }
    }

    /// Reads a record value that was written with any known version.
    pub fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let (fingerprint, mut datum) = Fingerprint::split(bytes)?;
        let Some(version) = self.versions.iter().find(|version| version.fingerprint == fingerprint) else {
            return Err(DecodeError::UnknownFingerprint { fingerprint, known: self.known() });
        };
        let corrupt = |problem| DecodeError::Corrupt { name: self.name, problem };
        let value = version.reader.read_deser(&mut datum).map_err(|error| corrupt(problem(&error)))?;
        match datum.len() {
            0 => Ok(value),
            rest => Err(corrupt(format!("{rest} bytes left over"))),
        }
    }

    /// Whether a record with this fingerprint is one of this type.
    pub fn reads(&self, fingerprint: Fingerprint) -> bool {
        self.versions.iter().any(|version| version.fingerprint == fingerprint)
    }

    /// The fingerprint that records are written with.
    pub fn fingerprint(&self) -> Fingerprint {
        self.versions[0].fingerprint
    }

    /// All known versions, newest first.
    pub fn schemas(&self) -> impl Iterator<Item = &'static Schema> {
        self.versions.iter().map(|version| version.schema)
    }

    /// Name and fingerprints, for error messages: `FetchResult (1f…, 20…)`.
    pub fn known(&self) -> String {
        let fingerprints: Vec<_> = self.versions.iter().map(|version| version.fingerprint.to_string()).collect();
        format!("{} ({})", self.name, fingerprints.join(", "))
    }
}

impl Version {
    fn new(name: &'static str, text: &str) -> Self {
        let schema = Schema::parse_str(text).unwrap_or_else(|error| panic!("schema of {name}: {error}"));
        let found = schema.name().map(|found| found.name());
        assert_eq!(found, Some(name), "this schema is another record's");
        let schema: &'static Schema = Box::leak(Box::new(schema));
        let reader = GenericDatumReader::builder(schema).build();
        let reader = reader.expect("every schema defines the names it refers to, or parsing had failed");
        Self { fingerprint: Fingerprint::of_schema(schema), schema, reader }
    }
}

/// One line. Several of apache-avro's messages print the whole schema, which nobody wants in a dead letter.
fn problem(error: &apache_avro::Error) -> String {
    match error.details() {
        Details::DeserializeSchemaAware { value_type, value, .. } => format!("{value_type}: {value}"),
        other => other.to_string(),
    }
}
