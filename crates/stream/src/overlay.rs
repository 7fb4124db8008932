//! A batch's writes before the log commits. The local store never holds uncommitted data.

use crate::store::{StateStore, StoreError, StoreWrite, Visit};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Previous staged value by store and key; the outer `None` means that none was staged.
type Undo = (usize, Vec<u8>, Option<Option<Vec<u8>>>);

/// Writes staged on top of a committed store. Reads see the staged value first.
#[derive(Debug, Default)]
pub struct Overlay {
    stores: Vec<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
    /// Values replaced by the current record, in order.
    journal: Vec<Undo>,
}

impl Overlay {
    /// An empty overlay over `stores` stores.
    pub fn new(stores: usize) -> Self {
        Self { stores: (0..stores).map(|_| BTreeMap::new()).collect(), journal: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.stores.iter().all(BTreeMap::is_empty)
    }

    /// Bytes of everything staged.
    pub fn bytes(&self) -> usize {
        let staged = self.stores.iter().flatten();
        staged.map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len)).sum()
    }

    /// Stages a put (`Some`) or a deletion (`None`).
    pub fn write(&mut self, store: usize, key: Vec<u8>, value: Option<Vec<u8>>) {
        let previous = self.stores[store].insert(key.clone(), value);
        self.journal.push((store, key, previous));
    }

    /// The value as a processor sees it: staged if there is one, otherwise committed.
    pub fn get(&self, base: &dyn StateStore, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        match self.stores[store].get(key) {
            Some(staged) => Ok(staged.clone()),
            None => base.get(store, key),
        }
    }

    /// Visits entries in key order as a processor sees them: staged over committed.
    pub fn scan(&self, base: &dyn StateStore, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        let mut staged = self.stores[store].range(from.to_vec()..).peekable();
        let mut broken = false;
        base.scan(store, from, &mut |key, value| {
            while let Some((staged_key, staged_value)) = staged.next_if(|(staged_key, _)| staged_key.as_slice() <= key)
            {
                let replaced = staged_key.as_slice() == key;
                if let Some(staged_value) = staged_value
                    && visit(staged_key, staged_value).is_break()
                {
                    broken = true;
                    return ControlFlow::Break(());
                }
                if replaced {
                    return ControlFlow::Continue(());
                }
            }
            let flow = visit(key, value);
            broken = flow.is_break();
            flow
        })?;
        if !broken {
            for (key, value) in staged {
                if let Some(value) = value
                    && visit(key, value).is_break()
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Starts a record: [`Overlay::undo`] returns to this point.
    pub fn begin_record(&mut self) {
        self.journal.clear();
    }

    /// Rolls back everything staged since [`Overlay::begin_record`].
    pub fn undo(&mut self) {
        for (store, key, previous) in self.journal.drain(..).rev() {
            match previous {
                Some(value) => self.stores[store].insert(key, value),
                None => self.stores[store].remove(&key),
            };
        }
    }

    /// Takes all staged writes, one per key, leaving the overlay empty.
    pub fn take(&mut self) -> Vec<StoreWrite> {
        self.journal.clear();
        let mut writes = Vec::with_capacity(self.stores.iter().map(BTreeMap::len).sum());
        for (store, staged) in self.stores.iter_mut().enumerate() {
            writes.extend(std::mem::take(staged).into_iter().map(|(key, value)| StoreWrite { store, key, value }));
        }
        writes
    }
}
