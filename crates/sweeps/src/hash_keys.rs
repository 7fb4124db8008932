//! Maps whose keys are already good hashes.

use chance::spread;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map keyed by the hashes of [`crate::PagePlace`].
pub type HashMapByHash<V> = HashMap<u64, V, BuildHasherDefault<HashKeys>>;

/// Takes a 64-bit key as its own hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashKeys(u64);

impl Hasher for HashKeys {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = spread(self.0.rotate_left(8) ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
