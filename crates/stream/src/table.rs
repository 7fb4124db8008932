//! The tables of a stage, each declared once with its name and the types of its keys and values.

use crate::store::StoreError;
use page::{Host, HostName, PageId, SiteKey};
use std::marker::PhantomData;
use std::ops::ControlFlow;
use wire::schemas::SchemaRecord;
use wire::{DecodeError, Encoded, KeyKind, Topic, TopicSpec};

/// A key of a table.
pub trait TableKey: Sized {
    /// Kind of key, for the catalogue.
    const KIND: KeyKind;
    /// Encoded form. Entries are sorted by it.
    type Bytes: AsRef<[u8]>;

    fn to_bytes(&self) -> Self::Bytes;

    /// Decodes what [`to_bytes`](Self::to_bytes) wrote; `None` for any other bytes.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

/// Encoded as its 16 bytes.
impl TableKey for PageId {
    const KIND: KeyKind = KeyKind::Page;
    type Bytes = [u8; 16];

    fn to_bytes(&self) -> [u8; 16] {
        self.0
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(PageId)
    }
}

/// Encoded as the 16 bytes of the page, then a number in big-endian order: the numbers of a page are neighbours.
impl TableKey for (PageId, u32) {
    const KIND: KeyKind = KeyKind::PageVersion;
    type Bytes = [u8; 20];

    fn to_bytes(&self) -> [u8; 20] {
        let (page, number) = *self;
        let mut key = [0; 20];
        key[..16].copy_from_slice(&page.0);
        key[16..].copy_from_slice(&number.to_be_bytes());
        key
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (page, number) = bytes.split_first_chunk::<16>()?;
        Some((PageId(*page), u32::from_be_bytes(number.try_into().ok()?)))
    }
}

/// Encoded as its authority in UTF-8.
impl TableKey for Host {
    const KIND: KeyKind = KeyKind::Host;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.as_str().as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(Host::from_authority)
    }
}

/// Encoded as UTF-8.
impl TableKey for HostName {
    const KIND: KeyKind = KeyKind::Host;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.as_str().as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(HostName::from_name)
    }
}

/// Encoded as UTF-8.
impl TableKey for SiteKey {
    const KIND: KeyKind = KeyKind::Site;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.as_str().as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(SiteKey::from_domain)
    }
}

/// A byte for the kind of entry, then a hash in big-endian order: one table holds several kinds.
impl TableKey for (u8, u64) {
    const KIND: KeyKind = KeyKind::Hash;
    type Bytes = [u8; 9];

    fn to_bytes(&self) -> [u8; 9] {
        let (character, hash) = *self;
        let mut key = [character; 9];
        key[1..].copy_from_slice(&hash.to_be_bytes());
        key
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [character, hash @ ..] = <[u8; 9]>::try_from(bytes).ok()?;
        Some((character, u64::from_be_bytes(hash)))
    }
}

/// Raw bytes.
impl TableKey for Vec<u8> {
    const KIND: KeyKind = KeyKind::Original;
    type Bytes = Vec<u8>;

    fn to_bytes(&self) -> Vec<u8> {
        self.clone()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

/// A table of a stage: one store in each of its tasks, backed by a compacted changelog.
pub struct Table<K, V> {
    spec: TableSpec,
    of: PhantomData<fn() -> (K, V)>,
}

/// A table as data.
#[derive(Clone, Copy, Debug)]
pub struct TableSpec {
    /// Name, unique within the stage.
    pub name: &'static str,
    /// Kind of its keys.
    pub key: KeyKind,
    /// Schemas of its values; empty if they have none.
    pub schemas: fn() -> Vec<SchemaRecord>,
    /// The public topic that serves as its changelog; `None` if it has a private one.
    pub published_as: Option<TopicSpec>,
    /// Why it does not grow for ever; `None` if its declaration does not say.
    pub bound: Option<KeyBound>,
    changelog: fn(&'static str, &'static str) -> TopicSpec,
}

/// Why the keys of a table do not grow for ever, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyBound {
    /// The bound of its keys.
    pub keys: &'static str,
    /// Who deletes them.
    pub deleted_by: &'static str,
}

impl TableSpec {
    /// The topic of its changelog.
    pub fn changelog(&self, stage: &'static str) -> TopicSpec {
        self.published_as.unwrap_or_else(|| (self.changelog)(stage, self.name))
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for Table<K, V> {}

impl<K: TableKey, V: Encoded> Table<K, V> {
    /// A table private to its stage.
    pub const fn new(name: &'static str) -> Self {
        let changelog = |stage, table| TopicSpec::changelog::<V>(stage, table, K::KIND);
        let (key, schemas) = (K::KIND, V::schemas);
        let spec = TableSpec { name, key, schemas, published_as: None, bound: None, changelog };
        Self { spec, of: PhantomData }
    }

    /// A table whose changelog is a public topic.
    pub const fn published(name: &'static str, topic: Topic<V>) -> Self {
        let Self { spec, of } = Self::new(name);
        Self { spec: TableSpec { published_as: Some(topic.spec()), ..spec }, of }
    }

    /// Says what bounds its keys, and who deletes them.
    pub const fn bounded_by(self, keys: &'static str, deleted_by: &'static str) -> Self {
        let Self { spec, of } = self;
        Self { spec: TableSpec { bound: Some(KeyBound { keys, deleted_by }), ..spec }, of }
    }

    /// Decodes the value stored under a key.
    pub(crate) fn value(self, key: &[u8], value: &[u8]) -> Result<V, TableError> {
        V::decode(value).map_err(|error| self.unreadable(key, error))
    }

    /// Decodes an entry.
    pub(crate) fn entry(self, key: &[u8], value: &[u8]) -> Result<(K, V), TableError> {
        let problem =
            || DecodeError::Corrupt { name: self.name(), problem: "its key does not belong to this table".into() };
        let own = K::from_bytes(key).ok_or_else(|| self.unreadable(key, problem()))?;
        Ok((own, self.value(key, value)?))
    }

    fn unreadable(self, key: &[u8], error: DecodeError) -> TableError {
        TableError::Unreadable { table: self.name(), key: show(key), error }
    }

    /// Visits the entries whose keys begin with `prefix`, given an untyped scan that starts at a key. Values that are not wanted as
    /// they are encoded are passed over.
    pub(crate) fn scan<E: From<TableError>>(
        self,
        prefix: &[u8],
        is_wanted: impl Fn(&[u8]) -> bool,
        visit: &mut dyn FnMut(K, V) -> Result<(), E>,
        scan: impl FnOnce(&mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>) -> Result<(), StoreError>,
    ) -> Result<(), E> {
        let mut visited = Ok(());
        scan(&mut |key, value| {
            if !key.starts_with(prefix) {
                return ControlFlow::Break(());
            }
            if !is_wanted(value) {
                return ControlFlow::Continue(());
            }
            visited = self.entry(key, value).map_err(E::from).and_then(|(key, value)| visit(key, value));
            if visited.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .map_err(TableError::Store)?;
        visited
    }
}

impl<K, V> Table<K, V> {
    /// The table as data.
    pub const fn spec(self) -> TableSpec {
        self.spec
    }

    /// Table name, unique within the stage.
    pub const fn name(self) -> &'static str {
        self.spec.name
    }
}

impl<K, V> From<Table<K, V>> for TableSpec {
    fn from(table: Table<K, V>) -> Self {
        table.spec
    }
}

/// Formats a key for people: as text or in hexadecimal.
fn show(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => key.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// Why a table could not be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TableError {
    /// An entry cannot be decoded.
    #[error("{key} in the table {table}: {error}")]
    Unreadable {
        /// Name of the table.
        table: &'static str,
        /// Key of the entry, as text or in hexadecimal digits.
        key: String,
        /// Cause.
        error: DecodeError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The index of a table among those a stage declares.
///
/// # Panics
/// If the stage does not declare the table, which is a bug in the program.
pub(crate) fn place_of(tables: &[&'static str], name: &str) -> usize {
    tables.iter().position(|table| *table == name).unwrap_or_else(|| panic!("the stage declares no table {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_text_are_shown_as_text_and_others_as_digits() {
        assert_eq!(show(b"host.example:8080"), "host.example:8080");
        assert_eq!(show(&[0xff, 0x01]), "ff01");
        assert_eq!(show(b"g\x00\x01"), "670001");
    }

    #[test]
    fn a_table_has_a_changelog_of_its_own_unless_it_is_published() {
        let own: Table<PageId, Vec<u8>> = Table::new("pages");
        let changelog = own.spec().changelog("scheduler");
        assert_eq!(
            (changelog.name.to_string(), changelog.key),
            ("scheduler-pages-changelog".to_owned(), KeyKind::Page)
        );
        let public = Table::<PageId, _>::published("contents", messages::topics::PAGE_CONTENTS);
        assert_eq!(public.spec().changelog("detector").name.to_string(), "page-contents");
    }
}
