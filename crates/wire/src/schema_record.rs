//! A schema as it travels on the topic `schemas`.

use crate::Fingerprint;

/// A schema of this program as published to readers: the record on the topic `schemas`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaRecord {
    /// Name of the record type, without namespace.
    pub name: &'static str,
    /// Fingerprint of the schema. Also the record key.
    pub fingerprint: Fingerprint,
    /// Text of the schema, with defaults and descriptions. Also the record value. Texts with the same fingerprint
    /// describe the same bytes.
    pub json: &'static str,
}
