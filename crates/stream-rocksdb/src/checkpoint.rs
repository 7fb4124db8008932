//! Encoding of a task's checkpoint in its database.

use crate::fields::ByteFields;
use page::Timestamp;
use stream::{Checkpoint, StoreCheckpoint};

/// Key of a task's checkpoint, in the default family of its database. Written with every batch; if it is absent, the
/// contents of the stores are not trusted.
pub(crate) const CHECKPOINT: &[u8] = b"checkpoint";

/// `input_next` and per store `name length u16, name, changelog_next, complete_as_of in µs`; each number follows a byte
/// that says whether it is present. By name, because a newer version may have other stores.
pub(crate) fn encode(checkpoint: &Checkpoint, stores: &[String]) -> Vec<u8> {
    fn optional(bytes: &mut Vec<u8>, number: Option<u64>) {
        bytes.push(u8::from(number.is_some()));
        bytes.extend(number.unwrap_or_default().to_be_bytes());
    }
    let mut bytes = Vec::new();
    optional(&mut bytes, checkpoint.input_next);
    for (name, store) in stores.iter().zip(&checkpoint.stores) {
        bytes.extend((name.len() as u16).to_be_bytes());
        bytes.extend(name.as_bytes());
        optional(&mut bytes, store.changelog_next);
        optional(&mut bytes, store.complete_as_of.map(|at| at.as_micros() as u64));
    }
    bytes
}

/// The checkpoint of these stores; a store it does not name is empty. `None` if it is malformed.
pub(crate) fn decode(bytes: &[u8], stores: &[String]) -> Option<Checkpoint> {
    let mut checkpoint = Checkpoint::empty(stores.len());
    let (input_next, parts) = parts(bytes)?;
    checkpoint.input_next = input_next;
    for (name, part) in parts {
        if let Some(store) = stores.iter().position(|store| *store == name) {
            checkpoint.stores[store] = part;
        }
    }
    Some(checkpoint)
}

/// Checkpoint of each named store.
pub(crate) type Parts = Vec<(String, StoreCheckpoint)>;

/// Next input offset, and the checkpoint of each store.
pub(crate) fn parts(bytes: &[u8]) -> Option<(Option<u64>, Parts)> {
    let mut fields = ByteFields(bytes);
    let input_next = fields.optional()?;
    let mut parts = Vec::new();
    while !fields.0.is_empty() {
        let length = usize::from(fields.u16()?);
        let name = std::str::from_utf8(fields.take(length)?).ok()?.to_owned();
        let changelog_next = fields.optional()?;
        let complete_as_of = fields.optional()?.map(|micros| Timestamp::from_micros(micros as i64));
        parts.push((name, StoreCheckpoint { changelog_next, complete_as_of }));
    }
    Some((input_next, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(next in proptest::option::of(any::<u64>()), micros in proptest::option::of(any::<i64>())) {
            let stores = ["pages".to_owned(), "hosts".to_owned()];
            let complete_as_of = micros.map(Timestamp::from_micros);
            let part = StoreCheckpoint { changelog_next: next, complete_as_of };
            let checkpoint = Checkpoint { input_next: next, stores: vec![part, StoreCheckpoint::default()] };
            prop_assert_eq!(decode(&encode(&checkpoint, &stores), &stores), Some(checkpoint));
        }

        #[test]
        fn nonsense_is_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&bytes, &["pages".to_owned()]);
        }
    }

    #[test]
    fn a_checkpoint_finds_its_stores_by_name() {
        let part = |next| StoreCheckpoint { changelog_next: Some(next), complete_as_of: Some(Timestamp::from_secs(1)) };
        let checkpoint = Checkpoint { input_next: Some(1), stores: vec![part(2), part(3)] };
        let bytes = encode(&checkpoint, &["pages".into(), "hosts".into()]);
        let read = decode(&bytes, &["hosts".into(), "sweeps".into(), "pages".into()]).unwrap();
        assert_eq!(read.stores, [part(3), StoreCheckpoint::default(), part(2)]);
    }
}
