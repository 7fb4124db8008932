//! Record keys.
//!
//! The key determines the partition, and thus the task that processes the record. It depends only on the message, so
//! that every sender uses the same one. [`KeyKind`] describes the kinds of keys.

use crate::Encoded;

/// Kind of record keys, with their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// The site key in UTF-8, so that all records of a site share a partition.
    Site,
    /// The 16 bytes of the page id.
    Page,
    /// The 16 bytes of the page id, then the number of the version in 4 bytes, big-endian.
    PageVersion,
    /// A host in UTF-8: its name, or its authority where ports are distinguished.
    Host,
    /// A site in UTF-8, a zero byte, and the cell of its pages.
    Group,
    /// A site in UTF-8, a zero byte, and the name of a host.
    SiteHost,
    /// A band: one byte for its number, four for its value.
    Band,
    /// One ASCII byte for the type (group, cell, site …), then 8 bytes of a hash or a number, big-endian.
    Hash,
    /// Number of the sending partition, in decimal digits.
    StagePartition,
    /// The place of a record among a fixed number of kept ones.
    Slot,
    /// A name in UTF-8.
    Name,
    /// Key of the record that was set aside.
    Original,
    /// The 8 bytes of a schema's fingerprint, as in its records, or the 5 bytes that name it by the id of a registry. The value is the schema's text, as JSON without a
    /// header.
    Fingerprint,
    /// The records have no keys.
    None,
}

/// A message with a record key.
pub trait Keyed: Encoded {
    const KEY: KeyKind;

    fn key(&self) -> Vec<u8>;
}
