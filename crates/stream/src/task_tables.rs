//! The tables of a task, for reading beside the running stage.

use crate::overlay::Overlay;
use crate::store::StateStore;
use crate::table::{Table, TableError, TableKey, place_of};
use crate::topology::StageTopology;
use std::ops::ControlFlow;
use wire::Encoded;

/// Read-only access to the tables of a task.
pub struct TaskTables {
    store: Box<dyn StateStore>,
    tables: Vec<&'static str>,
}

impl TaskTables {
    /// Wraps a store that was opened with the [table names](StageTopology::table_names) of this topology.
    pub fn new(store: Box<dyn StateStore>, topology: &StageTopology) -> Self {
        Self { store, tables: topology.table_names() }
    }

    pub fn get<K: TableKey, V: Encoded>(&self, table: Table<K, V>, key: &K) -> Result<Option<V>, TableError> {
        let key = key.to_bytes();
        let value = self.store.get(place_of(&self.tables, table.name()), key.as_ref())?;
        value.map(|value| table.value(key.as_ref(), &value)).transpose()
    }

    /// Visits the entries whose keys begin with `prefix`, in their order, until the visitor fails.
    pub fn scan<K: TableKey, V: Encoded, E: From<TableError>>(
        &self,
        table: Table<K, V>,
        prefix: &[u8],
        visit: &mut dyn FnMut(K, V) -> Result<(), E>,
    ) -> Result<(), E> {
        self.scan_wanted(table, prefix, |_| true, visit)
    }

    /// The same without values that are not wanted as they are encoded, which are not decoded.
    pub fn scan_wanted<K: TableKey, V: Encoded, E: From<TableError>>(
        &self,
        table: Table<K, V>,
        prefix: &[u8],
        is_wanted: impl Fn(&[u8]) -> bool,
        visit: &mut dyn FnMut(K, V) -> Result<(), E>,
    ) -> Result<(), E> {
        let place = place_of(&self.tables, table.name());
        table.scan(prefix, is_wanted, visit, |each| self.store.scan(place, prefix, each))
    }
}

/// The tables of a running task, including staged writes.
pub struct TaskView<'a> {
    store: &'a dyn StateStore,
    overlay: &'a Overlay,
    tables: &'a [&'static str],
}

impl<'a> TaskView<'a> {
    pub(crate) fn new(store: &'a dyn StateStore, overlay: &'a Overlay, tables: &'a [&'static str]) -> Self {
        Self { store, overlay, tables }
    }

    /// The first `limit` entries whose keys begin with `prefix`.
    pub fn entries<K: TableKey, V: Encoded>(
        &self,
        table: Table<K, V>,
        prefix: &[u8],
        limit: usize,
    ) -> Result<Vec<(K, V)>, TableError> {
        self.read(table, prefix, limit, |key| key.starts_with(prefix))
    }

    /// The first `limit` entries whose keys are `from` or come after it.
    pub fn entries_from<K: TableKey, V: Encoded>(
        &self,
        table: Table<K, V>,
        from: &[u8],
        limit: usize,
    ) -> Result<Vec<(K, V)>, TableError> {
        self.read(table, from, limit, |_| true)
    }

    /// The first `limit` entries from a key on, as long as their keys are wanted.
    fn read<K: TableKey, V: Encoded>(
        &self,
        table: Table<K, V>,
        from: &[u8],
        limit: usize,
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<(K, V)>, TableError> {
        let mut entries = Vec::new();
        self.overlay.scan(self.store, place_of(self.tables, table.name()), from, &mut |key, value| {
            if entries.len() == limit || !is_wanted(key) {
                return ControlFlow::Break(());
            }
            entries.push(table.entry(key, value));
            ControlFlow::Continue(())
        })?;
        entries.into_iter().collect()
    }
}
