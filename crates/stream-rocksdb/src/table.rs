//! Entries of one store for one partition: a range of a column family.

use crate::rocks::Database;
use rocksdb::{AsColumnFamilyRef, Range, ReadOptions};
use stream::Visit;

/// Key in the column family: prefixed with the partition, so that its entries are contiguous.
pub(crate) fn key(partition: u32, key: &[u8]) -> Vec<u8> {
    let mut placed = Vec::with_capacity(4 + key.len());
    placed.extend(partition.to_be_bytes());
    placed.extend(key);
    placed
}

pub(crate) fn get(
    database: &Database,
    family: &impl AsColumnFamilyRef,
    partition: u32,
    wanted: &[u8],
) -> Result<Option<Vec<u8>>, rocksdb::Error> {
    database.get_cf(family, key(partition, wanted))
}

/// Bytes that the partition's entries take in files, by the index of the files.
pub(crate) fn bytes_on_disk(database: &Database, family: &impl AsColumnFamilyRef, partition: u32) -> u64 {
    let (start, end) = (partition.to_be_bytes(), (partition + 1).to_be_bytes());
    database.get_approximate_sizes_cf(family, &[Range::new(&start, &end)]).iter().sum()
}

/// Visits the partition's entries in key order from a key on, until the visitor breaks.
pub(crate) fn scan(
    database: &Database,
    family: &impl AsColumnFamilyRef,
    partition: u32,
    from: &[u8],
    visit: Visit<'_>,
) -> Result<(), rocksdb::Error> {
    let mut options = ReadOptions::default();
    options.set_iterate_upper_bound((partition + 1).to_be_bytes());
    let mut iterator = database.raw_iterator_cf_opt(family, options);
    iterator.seek(key(partition, from));
    while let Some((key, value)) = iterator.item() {
        if visit(&key[4..], value).is_break() {
            break;
        }
        iterator.next();
    }
    iterator.status()
}
