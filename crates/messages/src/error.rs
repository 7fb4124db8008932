//! Why bytes are not a message.

use crate::codec::Fingerprint;

/// Why bytes cannot be decoded. Reading them again cannot help; the record is to be set aside, or the reader updated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They do not begin like an Avro single object.
    #[error("{length} bytes are not an Avro single object, which starts with c301 and a fingerprint; who wrote them?")]
    NotSingleObject {
        /// How many bytes there were.
        length: usize,
    },
    /// They were written with a schema that this program does not have.
    #[error("schema fingerprint {fingerprint} is unknown, only {known} can be read here; update the readers first")]
    UnknownFingerprint {
        /// The writer's schema.
        fingerprint: Fingerprint,
        /// The types that could have been read, with the fingerprints of their versions.
        known: String,
    },
    /// The schema is known, but the datum does not follow it.
    #[error("corrupt {name}: {problem}")]
    Corrupt {
        /// The record's type.
        name: &'static str,
        /// What is wrong.
        problem: String,
    },
}
