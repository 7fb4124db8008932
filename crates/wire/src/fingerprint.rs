//! Fingerprints, which identify the schema of a record.

use crate::DecodeError;
use apache_avro::Schema;
use std::fmt;

/// First bytes of every single object: marker and version.
pub(crate) const MARKER: [u8; 2] = [0xC3, 0x01];
/// Length of marker and fingerprint.
pub(crate) const HEADER_BYTES: usize = 10;

/// CRC-64-AVRO of a schema's canonical form, in the byte order of the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 8]);

impl Fingerprint {
    /// The fingerprint at the start of a single object.
    pub fn of_single_object(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::split(bytes).map(|(fingerprint, _)| fingerprint)
    }

    /// The bytes as on the wire. They are also the schema's key on the topic `schemas`.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0
    }

    /// The inverse of [`to_bytes`](Self::to_bytes). `None` unless there are eight bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Splits a single object into its fingerprint and datum.
    pub(crate) fn split(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        match bytes.split_first_chunk::<HEADER_BYTES>() {
            Some(([first, second, fingerprint @ ..], datum)) if [*first, *second] == MARKER => {
                Ok((Self(*fingerprint), datum))
            }
            _ => Err(DecodeError::NotSingleObject { length: bytes.len() }),
        }
    }

    pub(crate) fn of_schema(schema: &Schema) -> Self {
        Self(crc_64_avro(canonical_form(schema).as_bytes()).to_le_bytes())
    }
}

/// Parsing canonical form. By the specification, a long with a logical type may become `{"type":"long"}`, as in
/// apache-avro 0.22 (avro-rs issue 61), or `"long"`, as in Java and fastavro. We follow the majority, because
/// fingerprints must match those of other readers.
fn canonical_form(schema: &Schema) -> String {
    ["int", "long", "bytes", "string"].iter().fold(schema.canonical_form(), |form, primitive| {
        form.replace(&format!(r#"{{"type":"{primitive}"}}"#), &format!(r#""{primitive}""#))
    })
}

/// The Rabin fingerprint of the Avro specification, "Schema fingerprints". Computed bit by bit, because it runs once
/// per schema.
fn crc_64_avro(bytes: &[u8]) -> u64 {
    const EMPTY: u64 = 0xC15D_213A_A4D7_A795;
    bytes.iter().fold(EMPTY, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { EMPTY } else { 0 })
    })
}

/// Hexadecimal, in wire order.
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
