//! The disk as one process sees it: there is a point before every call, and after most.

use super::Mutant;
use super::points::InjectionPoint;
use super::world::{Life, World};
use std::ops::ControlFlow;
use std::sync::Arc;
use stream::{Checkpoint, StateStore, StoreError, StoreProvider, StoreWrite, TaskId, Visit};

pub(super) struct SimStores {
    pub(super) world: Arc<World>,
    pub(super) life: Arc<Life>,
    pub(super) inner: Arc<dyn StoreProvider>,
}

impl StoreProvider for SimStores {
    fn open(&self, log_id: &str, task: &TaskId, stores: &[&str]) -> Result<Box<dyn StateStore>, StoreError> {
        self.world.at_store(&self.life, InjectionPoint::Open)?;
        let mut inner = self.inner.open(log_id, task, stores)?;
        let is_full = inner.checkpoint()?.stores.iter().any(|store| store.changelog_next.is_some());
        if self.world.mutant == Some(Mutant::EmptyFamily) && is_full && self.world.happens(0.3) {
            lose_entries(&mut *inner)?;
        }
        let checkpoint = inner.checkpoint()?;
        self.world.trace(|| format!("{} opens {task}: {}", self.life.name, reported(&checkpoint)));
        self.world.at_store(&self.life, InjectionPoint::Opened)?;
        let (world, life, task) = (self.world.clone(), self.life.clone(), task.clone());
        Ok(Box::new(SimStore { world, life, task, inner, is_restored: false }))
    }

    fn set_aside(&self, task: &TaskId) -> Result<String, StoreError> {
        self.world.at_store(&self.life, InjectionPoint::SetAside)?;
        self.inner.set_aside(task)
    }
}

/// [`Mutant::EmptyFamily`]: empties one store without changing its checkpoint.
fn lose_entries(store: &mut dyn StateStore) -> Result<(), StoreError> {
    let mut writes = Vec::new();
    let checkpoint = store.checkpoint()?;
    let place = usize::from(checkpoint.stores.len() > 1);
    store.scan(place, b"", &mut |key, _| {
        writes.push(StoreWrite { store: place, key: key.to_vec(), value: None });
        ControlFlow::Continue(())
    })?;
    store.apply(&writes, &checkpoint)
}

/// Formats a checkpoint: next offsets, the input's first, and the time at which each store was complete.
fn reported(checkpoint: &Checkpoint) -> String {
    let stores = checkpoint.stores.iter().map(|store| {
        let complete = store.complete_as_of.map(|at| at.as_secs() - super::world::BEGAN.as_secs());
        format!("{:?} as of {complete:?}", store.changelog_next)
    });
    format!("input {:?}, stores {}", checkpoint.input_next, stores.collect::<Vec<_>>().join(", "))
}

struct SimStore {
    world: Arc<World>,
    life: Arc<Life>,
    task: TaskId,
    inner: Box<dyn StateStore>,
    is_restored: bool,
}

impl StateStore for SimStore {
    fn get(&self, store: usize, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.world.at_store(&self.life, InjectionPoint::Get)?;
        self.inner.get(store, key)
    }

    fn scan(&self, store: usize, from: &[u8], visit: Visit<'_>) -> Result<(), StoreError> {
        self.world.at_store(&self.life, InjectionPoint::Scan)?;
        self.inner.scan(store, from, visit)
    }

    fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        self.world.at_store(&self.life, InjectionPoint::Checkpoint)?;
        self.inner.checkpoint()
    }

    fn apply(&mut self, writes: &[StoreWrite], checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.world.at_store(&self.life, InjectionPoint::Apply)?;
        let mut checkpoint = checkpoint.clone();
        // A restore ends with a checkpoint without writes.
        self.is_restored |= writes.is_empty();
        if self.world.mutant == Some(Mutant::YoungRestore) && !self.is_restored {
            let now = Some(self.world.now());
            checkpoint.stores.iter_mut().for_each(|store| store.complete_as_of = now);
        }
        self.inner.apply(writes, &checkpoint)?;
        self.world.trace(|| {
            let (name, task, count) = (&self.life.name, &self.task, writes.len());
            format!("{name} applies {count} writes to {task}: {}", reported(&checkpoint))
        });
        self.world.at_store(&self.life, InjectionPoint::Applied)
    }

    fn empty(&mut self, store: usize) -> Result<(), StoreError> {
        self.world.at_store(&self.life, InjectionPoint::Empty)?;
        self.inner.empty(store)?;
        self.world.trace(|| format!("{} empties store {store} of {}", self.life.name, self.task));
        self.world.at_store(&self.life, InjectionPoint::Emptied)
    }
}
