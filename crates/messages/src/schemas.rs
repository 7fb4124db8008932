//! The schemas of the messages, beside the registry of all known schemas.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use wire::schemas::set_own;
use wire::{Codec, Fingerprint};

pub use crate::keys::schemas_of_messages as of_messages;
pub use crate::parts::with_parts;
pub use wire::schemas::{
    Incompatibility, LearnError, SchemaRecord, Severity, is_of_unknown_schema, learn, learn_registry_id,
    of_registry_id, problems, registry_key,
};

/// The codec of a message or a record of state. A field may have a part of `schemas/parts` as its type.
///
/// # Panics
/// Like [`Codec::new`].
pub fn codec<T: Serialize + DeserializeOwned>(name: &'static str, schema: &str) -> Codec<T> {
    set_own(of_messages);
    Codec::new(name, &with_parts(schema))
}

/// The record name, without namespace, of the schema with this fingerprint: one of the messages', or one that was
/// learned.
pub fn name_of(fingerprint: Fingerprint) -> Option<&'static str> {
    set_own(of_messages);
    wire::schemas::name_of(fingerprint)
}

/// Number of records of other versions that this process has read, by record name, with all messages.
pub fn read_of_other_versions() -> BTreeMap<&'static str, u64> {
    set_own(of_messages);
    wire::schemas::read_of_other_versions()
}
