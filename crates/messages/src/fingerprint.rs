//! Fingerprints, which identify the schema of a record.

use crate::DecodeError;
use serde_avro_fast::Schema;
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

    /// The fingerprint of a schema in parsing canonical form.
    pub(crate) fn of_schema(schema: &Schema) -> Self {
        Self(*schema.rabin_fingerprint())
    }
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
