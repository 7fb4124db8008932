//! Errors of decoding.

use crate::Fingerprint;
use crate::resolution::one_line;
use std::fmt;

/// Why bytes cannot be decoded.
///
/// An unknown schema is [temporary](Self::is_temporary): the record becomes readable once its schema is
/// [learned](crate::schemas::learn). All other errors are permanent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes do not begin like an Avro single object.
    #[error(
        "{length} bytes are not an Avro single object, which starts with c301 and a schema fingerprint; which program \
         wrote them?"
    )]
    NotSingleObject {
        /// Number of bytes.
        length: usize,
    },
    /// The writer's schema is not known yet.
    #[error(
        "schema {fingerprint} is unknown, expected {readable}; wait until its writer publishes it on the topic schemas"
    )]
    UnknownSchema {
        /// Fingerprint of the writer's schema.
        fingerprint: Fingerprint,
        /// The expected types, with the fingerprints of this program's versions.
        readable: String,
    },
    /// The id that a schema registry has given to the writer's schema is not known yet.
    #[error(
        "schema id {id} of a schema registry is unknown, expected that of {readable}; wait until the writer publishes it \
         on the topic schemas"
    )]
    UnknownSchemaId {
        /// The id of the writer's schema.
        id: u32,
        /// The expected type, with the fingerprint of this program's version.
        readable: String,
    },
    /// The record has another type.
    #[error("schema {fingerprint} is that of {found}, expected {readable}; was the record sent to the wrong topic?")]
    OtherRecord {
        /// Fingerprint of the writer's schema.
        fingerprint: Fingerprint,
        /// Name of the record's type.
        found: String,
        /// The expected types, with the fingerprints of this program's versions.
        readable: String,
    },
    /// The writer's schema is known but incompatible with this program's.
    #[error("cannot read a {name} written with schema {fingerprint}: {problem}")]
    Unresolvable {
        /// Name of the expected type.
        name: &'static str,
        /// Fingerprint of the writer's schema.
        fingerprint: Fingerprint,
        problem: String,
    },
    /// The datum does not match its schema.
    #[error("corrupt {name}: {problem}")]
    Corrupt {
        /// Name of the expected type.
        name: &'static str,
        /// The fault in the datum, as words for the error message.
        problem: String,
    },
}

impl DecodeError {
    /// For a record of this type that its schema does not describe. The problem is cut to one line.
    pub fn corrupt(name: &'static str, problem: impl fmt::Display) -> Self {
        Self::Corrupt { name, problem: one_line(&problem.to_string()) }
    }

    /// Whether the record becomes readable once its schema is learned.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::UnknownSchema { .. } | Self::UnknownSchemaId { .. } => true,
            Self::NotSingleObject { .. }
            | Self::OtherRecord { .. }
            | Self::Unresolvable { .. }
            | Self::Corrupt { .. } => false,
        }
    }
}
