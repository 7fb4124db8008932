//! Why bytes are not a message.

use crate::Fingerprint;

/// Why bytes cannot be decoded.
///
/// Only [`UnknownSchema`](Self::UnknownSchema) passes by itself: the record can be read once its schema was
/// [learned](crate::schemas::learn). With all others, reading again cannot help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They do not begin like an Avro single object.
    #[error("{length} bytes are not an Avro single object, which starts with c301 and a fingerprint; who wrote them?")]
    NotSingleObject {
        /// How many bytes there were.
        length: usize,
    },
    /// They were written with a schema that nobody has told this program yet.
    #[error(
        "schema {fingerprint} is not known here, only {readable}; wait until its writer puts it on the topic schemas"
    )]
    UnknownSchema {
        /// The writer's schema.
        fingerprint: Fingerprint,
        /// The types that could have been read, with the fingerprints of this program's versions.
        readable: String,
    },
    /// They are a record of another type.
    #[error("schema {fingerprint} is {found}'s, only {readable} can be read here; was it sent to the wrong topic?")]
    OtherRecord {
        /// The writer's schema.
        fingerprint: Fingerprint,
        /// The name of its record.
        found: String,
        /// The types that could have been read, with the fingerprints of this program's versions.
        readable: String,
    },
    /// The writer's schema is known, but what it wrote cannot be turned into what this program reads.
    #[error("a {name} written with schema {fingerprint} cannot be read here: {problem}")]
    Unresolvable {
        /// The record's type.
        name: &'static str,
        /// The writer's schema.
        fingerprint: Fingerprint,
        /// What is in the way.
        problem: String,
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
