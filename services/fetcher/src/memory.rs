//! The limit on the memory of bodies, from their first byte until their results are sent or, in an embedded crawl, read.
//!
//! A body is begun with a place of its length, or of [`FIRST_BYTES`] if that is shorter or its length is not known.
//! Most pages fit into it. One that needs more waits until it can have all it may need, so that a body that goes on
//! never waits again. After a body was read, its memory is counted by its length and its place becomes free. If no
//! other memory is free, the body keeps its place. Places and other memory have separate limits, so that waiting bodies
//! do not hold memory that others need to go on. Bodies that are no pages and are kept for archives have a limit of their
//! own beside it, an eighth as high: they never wait, and without free memory are not kept.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of a body that is being read, unless it needs more.
pub(crate) const FIRST_BYTES: usize = 512 << 10;
/// Unit of account.
const UNIT_BYTES: usize = 1 << 10;
const FIRST_UNITS: u32 = (FIRST_BYTES / UNIT_BYTES) as u32;

/// Memory for bodies.
#[derive(Clone)]
pub(crate) struct BodyMemory {
    places: Arc<Semaphore>,
    kept: Arc<Semaphore>,
    recorded: Arc<Semaphore>,
    /// All units together.
    most_units: u32,
    /// Has no permits. It is closed when the fetcher stops, which ends every wait for memory.
    end: Arc<Semaphore>,
}

/// Waits for memory have ended: the fetcher stops, and the jobs that would return theirs may have stopped before.
#[derive(Debug)]
pub(crate) struct GivenUp;

/// Memory of a body that is being read.
pub(crate) struct BodyRoom {
    kept: Arc<Semaphore>,
    end: Arc<Semaphore>,
    most_units: u32,
    grown: Option<OwnedSemaphorePermit>,
    /// Bytes that it may take now.
    pub(crate) bytes: usize,
    place: Option<OwnedSemaphorePermit>,
}

/// Memory of a body that was read. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct KeptMemory {
    _share: Option<OwnedSemaphorePermit>,
}

impl BodyMemory {
    /// A limit in bytes, of which one half is for bodies that have just begun.
    pub(crate) fn of(bytes: u64) -> Self {
        let half = usize::try_from(bytes / 2).unwrap_or(usize::MAX);
        let most_units = u32::try_from(half / UNIT_BYTES).unwrap_or(u32::MAX);
        Self {
            places: Arc::new(Semaphore::new(most_units.max(FIRST_UNITS) as usize)),
            kept: Arc::new(Semaphore::new(most_units as usize)),
            recorded: Arc::new(Semaphore::new(most_units as usize / 4)),
            most_units,
            end: Arc::new(Semaphore::new(0)),
        }
    }

    /// Whether a body that begins may have to wait.
    pub(crate) fn is_short(&self) -> bool {
        self.places.available_permits() < FIRST_UNITS as usize
    }

    /// Memory for a body that begins. `bytes` is its length, if it is known.
    pub(crate) async fn begin(&self, bytes: Option<usize>) -> Result<BodyRoom, GivenUp> {
        let bytes = bytes.map_or(FIRST_BYTES, |bytes| bytes.min(FIRST_BYTES));
        let place = take(&self.places, units_of(bytes), &self.end).await?;
        Ok(BodyRoom {
            kept: self.kept.clone(),
            end: self.end.clone(),
            most_units: self.most_units,
            grown: None,
            bytes,
            place: Some(place),
        })
    }

    /// Memory for a body that is kept for archives, if it is there.
    pub(crate) fn try_record(&self, bytes: usize) -> Option<BodyRoom> {
        let grown = self.recorded.clone().try_acquire_many_owned(units_of(bytes)).ok()?;
        Some(BodyRoom {
            kept: self.recorded.clone(),
            end: self.end.clone(),
            most_units: self.most_units,
            grown: Some(grown),
            bytes,
            place: None,
        })
    }

    /// From now on no job waits for memory.
    pub(crate) fn drain(&self) {
        self.end.close();
    }
}

impl BodyRoom {
    /// Waits for all the memory that the body may need.
    pub(crate) async fn grow_to(&mut self, bytes: usize) -> Result<(), GivenUp> {
        if self.bytes < bytes {
            self.grown = Some(take(&self.kept, self.units(bytes), &self.end).await?);
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Takes all the memory that the body may need, if it is there.
    pub(crate) fn try_grow_to(&mut self, bytes: usize) -> bool {
        if self.bytes < bytes {
            let Ok(grown) = self.kept.clone().try_acquire_many_owned(self.units(bytes)) else { return false };
            self.grown = Some(grown);
            self.bytes = bytes;
        }
        true
    }

    /// The memory of a body of this many bytes that was read. It does not wait: a short body keeps its place if the
    /// rest is used up.
    pub(crate) fn keep(&mut self, bytes: usize) -> KeptMemory {
        let units = self.units(bytes);
        if let Some(mut grown) = self.grown.take() {
            let excess = grown.num_permits().saturating_sub(units as usize);
            drop(grown.split(excess));
            return KeptMemory { _share: Some(grown) };
        }
        let own = self.kept.clone().try_acquire_many_owned(units).ok();
        KeptMemory { _share: own.or_else(|| self.place.take()) }
    }

    /// Room for a body of any length.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn alone() -> Self {
        let memory = BodyMemory::of(1 << 30);
        let place = memory.places.try_acquire_owned().expect("nobody else takes places");
        let BodyMemory { kept, end, most_units, .. } = memory;
        Self { kept, end, most_units, grown: None, bytes: FIRST_BYTES, place: Some(place) }
    }

    fn units(&self, bytes: usize) -> u32 {
        units_of(bytes).min(self.most_units)
    }
}

fn units_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

async fn take(of: &Arc<Semaphore>, units: u32, end: &Semaphore) -> Result<OwnedSemaphorePermit, GivenUp> {
    tokio::select! {
        biased;
        permit = of.clone().acquire_many_owned(units) => Ok(permit.expect("the semaphore is never closed")),
        // It fails once the semaphore is closed, and never succeeds.
        _ = end.acquire() => Err(GivenUp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Poll;

    async fn is_ready<F: Future>(work: F) -> Option<F::Output> {
        let mut work = Box::pin(work);
        std::future::poll_fn(|context| {
            Poll::Ready(match work.as_mut().poll(context) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            })
        })
        .await
    }

    #[tokio::test]
    async fn bodies_that_were_read_take_what_they_are_long_until_they_are_given_up() {
        let memory = BodyMemory::of(16 << 20);
        let mut kept = Vec::new();
        for _ in 0..2 {
            let mut room = memory.begin(None).await.unwrap();
            room.grow_to(4 << 20).await.unwrap();
            kept.push(room.keep(3 << 20));
        }
        let mut third = memory.begin(None).await.unwrap();
        {
            let mut grow = std::pin::pin!(third.grow_to(4 << 20));
            assert!(is_ready(grow.as_mut()).await.is_none(), "2 of 8 MiB are left");
            let mut small = memory.begin(None).await.unwrap();
            assert!(!small.try_grow_to(4 << 20));
            let small = small.keep(100 << 10);
            kept.pop();
            is_ready(grow.as_mut()).await.expect("5 MiB are left").unwrap();
            drop(small);
        }
        drop(third);
        assert_eq!((memory.kept.available_permits(), memory.places.available_permits()), (5 << 10, 8 << 10));
    }

    #[tokio::test]
    async fn bodies_that_all_need_more_get_it_one_after_the_other() {
        let memory = BodyMemory::of(16 << 20);
        let mut rooms = Vec::new();
        for _ in 0..16 {
            rooms.push(memory.begin(None).await.unwrap());
        }
        assert!(is_ready(memory.begin(None)).await.is_none(), "all places are taken");
        while let Some(mut room) = rooms.pop() {
            is_ready(room.grow_to(8 << 20)).await.expect("those before were read").unwrap();
            drop(room.keep(8 << 20));
        }
    }

    #[tokio::test]
    async fn a_body_of_known_length_begins_with_no_more_than_it_takes() {
        let memory = BodyMemory::of(16 << 20);
        let mut rooms = Vec::new();
        for _ in 0..100 {
            let begun = is_ready(memory.begin(Some(80_000))).await.expect("there are 8 MiB for those that begin");
            rooms.push(begun.unwrap());
        }
        assert!(memory.is_short());
        assert!(is_ready(memory.begin(None)).await.is_none(), "its length is not known");
        assert!(is_ready(memory.begin(Some(80_000))).await.is_some());
    }

    #[tokio::test]
    async fn whoever_waits_when_the_fetcher_stops_gives_up_and_the_others_go_on() {
        let memory = BodyMemory::of(16 << 20);
        let (mut first, mut second) = (memory.begin(None).await.unwrap(), memory.begin(None).await.unwrap());
        first.grow_to(8 << 20).await.unwrap();
        let mut waits = std::pin::pin!(second.grow_to(1 << 20));
        assert!(is_ready(waits.as_mut()).await.is_none());
        memory.drain();
        assert!(is_ready(waits.as_mut()).await.expect("it waits no more").is_err());
        drop(first);
        let mut third = memory.begin(None).await.unwrap();
        assert!(is_ready(third.grow_to(8 << 20)).await.expect("there is room").is_ok());
    }
}
