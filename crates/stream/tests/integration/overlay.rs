//! Staged writes over a committed store.

use proptest::prelude::*;
use std::ops::ControlFlow;
use stream::{Checkpoint, Overlay, StateStore as _, StoreWrite};
use stream_testing::MemoryStore;

fn seen(overlay: &Overlay, base: &MemoryStore, from: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    overlay
        .scan(base, 0, from, &mut |key, value| {
            all.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
    all
}

#[test]
fn what_is_staged_has_a_length_whatever_it_replaces() {
    let mut overlay = Overlay::new(2);
    for (store, value) in [(0, Some(vec![0; 100])), (0, Some(vec![0; 10])), (1, None)] {
        overlay.write(store, b"key".to_vec(), value);
    }
    assert_eq!(overlay.bytes(), 2 * b"key".len() + 10);
}

proptest! {
    #[test]
    fn a_scan_sees_what_applying_the_writes_would_show(
        committed in proptest::collection::btree_map(0u8..20, 0u8..5, 0..10),
        staged in proptest::collection::vec((0u8..20, proptest::option::of(0u8..5)), 0..20),
        from in 0u8..20,
    ) {
        let mut base = MemoryStore::new(1);
        let writes: Vec<_> = committed.iter()
            .map(|(&key, &value)| StoreWrite { store: 0, key: vec![key], value: Some(vec![value]) }).collect();
        base.apply(&writes, &Checkpoint::default()).unwrap();
        let mut overlay = Overlay::new(1);
        for (key, value) in staged {
            overlay.write(0, vec![key], value.map(|value| vec![value]));
        }
        let before = seen(&overlay, &base, &[from]);
        let writes = overlay.take();
        base.apply(&writes, &Checkpoint::default()).unwrap();
        prop_assert_eq!(before, seen(&overlay, &base, &[from]));
    }
}

#[test]
fn undo_takes_back_one_record_and_keeps_the_earlier_ones() {
    let base = MemoryStore::new(1);
    let mut overlay = Overlay::new(1);
    overlay.begin_record();
    overlay.write(0, b"a".to_vec(), Some(b"1".to_vec()));
    overlay.begin_record();
    overlay.write(0, b"a".to_vec(), Some(b"2".to_vec()));
    overlay.write(0, b"a".to_vec(), None);
    overlay.write(0, b"b".to_vec(), Some(b"3".to_vec()));
    overlay.undo();
    assert_eq!(seen(&overlay, &base, b""), vec![(b"a".to_vec(), b"1".to_vec())]);
}
