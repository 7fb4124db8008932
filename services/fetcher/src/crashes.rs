//! Which requests were under way when the process died, so that a page that ends it is not asked for again and again.
//!
//! A crash leaves no time to commit anything, and a commit before each request would cost as much as the request. So
//! the requests under way are noted in a small file, which the system keeps when the process dies. A page whose requests
//! were under way at two crashes is asked for while no other such page is, and after five it is set aside for a day. A
//! process that is killed looks the same, so suspects are asked for only when the process has lived for a while.

use page::{DAY, PageId, Timestamp};
use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tracing::warn;

/// Number of crashes from which a page is fetched alone: while no other suspect is.
const ALONE_FROM: u32 = 2;
/// Number of crashes from which a page is not fetched.
const SET_ASIDE_FROM: u32 = 5;
/// How long a page is set aside after its last crash.
const SET_ASIDE_FOR: Duration = DAY;
/// How long a page is remembered after its last crash.
const REMEMBERED_FOR: Duration = Duration::from_secs(30 * DAY.as_secs());
/// A slot: page id, number of crashes, number of requests under way, time of the last crash.
const SLOT_BYTES: usize = 32;
/// Most fetchers that share a data directory.
const MOST_FILES: u32 = 1_000;

/// How a page is treated because of the crashes of processes that were fetching it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// It is asked for like any other.
    None,
    /// It is asked for while no other suspect is, so that the next crash shows which of them it was.
    Alone,
    /// It is not asked for until then.
    SetAside { crashes: u32, until: Timestamp },
}

/// The file of the requests under way, with its contents in memory. Locked by the process that uses it.
pub(crate) struct CrashJournal {
    state: Mutex<JournalState>,
}

struct JournalState {
    file: File,
    pages: HashMap<PageId, PageSlot>,
    /// Places of the file without a page.
    free: Vec<u64>,
    places: u64,
    has_failed: bool,
}

#[derive(Clone, Copy)]
struct PageSlot {
    place: u64,
    crashes: u32,
    under_way: u32,
    last_crash: Timestamp,
}

impl PageSlot {
    fn bytes(&self, page: PageId) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        bytes[..16].copy_from_slice(&page.0);
        bytes[16..20].copy_from_slice(&self.crashes.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.under_way.to_le_bytes());
        bytes[24..].copy_from_slice(&self.last_crash.as_micros().to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8; SLOT_BYTES], place: u64) -> (PageId, Self) {
        let part = |from: usize| u32::from_le_bytes(bytes[from..from + 4].try_into().expect("four bytes"));
        let micros = i64::from_le_bytes(bytes[24..].try_into().expect("eight bytes"));
        let slot = Self { place, crashes: part(16), under_way: part(20), last_crash: Timestamp::from_micros(micros) };
        (PageId(bytes[..16].try_into().expect("sixteen bytes")), slot)
    }
}

impl CrashJournal {
    /// Opens the first file in a directory that no other process uses. A process crashed while the requests noted in it
    /// were under way.
    pub(crate) fn open(directory: &Path, now: Timestamp) -> io::Result<Arc<Self>> {
        Self::open_in(directory, now).map_err(|error| {
            let detail = format!("crawl.data: cannot note in {} which requests are under way", directory.display());
            io::Error::new(error.kind(), format!("{detail}: {error}"))
        })
    }

    fn open_in(directory: &Path, now: Timestamp) -> io::Result<Arc<Self>> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        for number in 0..MOST_FILES {
            let path = directory.join(format!("fetcher-under-way-{number}"));
            let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => return Ok(Arc::new(Self { state: Mutex::new(JournalState::read(file, now)?) })),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{MOST_FILES} fetchers use it")))
    }

    fn state(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a page is treated now. A page without a crash on record is like any other.
    pub(crate) fn suspicion(&self, page: PageId, now: Timestamp) -> Suspicion {
        let state = self.state();
        let Some(slot) = state.pages.get(&page) else { return Suspicion::None };
        let until = slot.last_crash + SET_ASIDE_FOR;
        match slot.crashes {
            crashes if crashes >= SET_ASIDE_FROM && now < until => Suspicion::SetAside { crashes, until },
            ALONE_FROM.. => Suspicion::Alone,
            _ => Suspicion::None,
        }
    }

    /// Notes that a request for a page is under way.
    pub(crate) fn begin(self: &Arc<Self>, page: PageId, alone: Option<OwnedSemaphorePermit>) -> UnderWay {
        self.state().begin(page);
        UnderWay { journal: self.clone(), page, is_answered: false, _alone: alone }
    }
}

impl JournalState {
    fn read(file: File, now: Timestamp) -> io::Result<Self> {
        let places = file.metadata()?.len() / SLOT_BYTES as u64;
        let mut state = Self { file, pages: HashMap::new(), free: Vec::new(), places, has_failed: false };
        for place in 0..places {
            let mut bytes = [0; SLOT_BYTES];
            state.file.read_exact_at(&mut bytes, place * SLOT_BYTES as u64)?;
            let (page, mut slot) = PageSlot::read(&bytes, place);
            if slot.under_way > 0 {
                slot = PageSlot { crashes: slot.crashes + 1, under_way: 0, last_crash: now, ..slot };
                state.write(page, &slot);
            }
            if slot.crashes == 0 || now.saturating_since(slot.last_crash) > REMEMBERED_FOR {
                state.write(PageId([0; 16]), &PageSlot { crashes: 0, under_way: 0, ..slot });
                state.free.push(place);
            } else {
                state.pages.insert(page, slot);
            }
        }
        Ok(state)
    }

    fn begin(&mut self, page: PageId) {
        let slot = match self.pages.get_mut(&page) {
            Some(slot) => slot,
            None => {
                let place = self.free.pop().unwrap_or_else(|| {
                    self.places += 1;
                    self.places - 1
                });
                let new = PageSlot { place, crashes: 0, under_way: 0, last_crash: Timestamp::from_micros(0) };
                self.pages.entry(page).or_insert(new)
            }
        };
        slot.under_way += 1;
        let slot = *slot;
        self.write(page, &slot);
    }

    fn end(&mut self, page: PageId, is_answered: bool) {
        let Some(slot) = self.pages.get_mut(&page) else { return };
        slot.under_way = slot.under_way.saturating_sub(1);
        if is_answered {
            slot.crashes = 0;
        }
        let slot = *slot;
        if slot.under_way == 0 && slot.crashes == 0 {
            self.pages.remove(&page);
            self.free.push(slot.place);
        }
        self.write(page, &slot);
    }

    /// A safety net must not stop the crawl that it is for.
    fn write(&mut self, page: PageId, slot: &PageSlot) {
        let written = self.file.write_all_at(&slot.bytes(page), slot.place * SLOT_BYTES as u64);
        if let Err(error) = written
            && !std::mem::replace(&mut self.has_failed, true)
        {
            warn!(%error, "cannot note which requests are under way; one that crashes the fetcher will not be found");
        }
    }
}

/// A request under way. Dropped when its result is committed, or is not wanted any more.
pub(crate) struct UnderWay {
    journal: Arc<CrashJournal>,
    page: PageId,
    is_answered: bool,
    _alone: Option<OwnedSemaphorePermit>,
}

impl UnderWay {
    /// It was answered: if nothing happens until its result is committed, its page is no suspect any more.
    pub(crate) fn is_answered(&mut self) {
        self.is_answered = true;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.journal.state().end(self.page, self.is_answered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn page(number: u8) -> PageId {
        PageId([number; 16])
    }

    /// The journal as the next process finds it: the file is copied while its requests are under way.
    fn after_a_crash(directory: &Path, next: &Path, now: Timestamp) -> Arc<CrashJournal> {
        fs::create_dir_all(next).unwrap();
        fs::copy(directory.join("fetcher-under-way-0"), next.join("fetcher-under-way-0")).unwrap();
        CrashJournal::open(next, now).unwrap()
    }

    #[test]
    fn a_page_under_way_at_five_crashes_is_set_aside_for_a_day_and_its_neighbours_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let at = |number: u32| directory.path().join(number.to_string());
        let mut journal = CrashJournal::open(&at(0), NOW).unwrap();
        for (crash, suspicion) in [(1, Suspicion::None), (2, Suspicion::Alone)] {
            // Both are under way at the first two crashes.
            let under_way = [1, 2].map(|number| journal.begin(page(number), None));
            journal = after_a_crash(&at(crash - 1), &at(crash), NOW);
            drop(under_way);
            assert_eq!([1, 2].map(|number| journal.suspicion(page(number), NOW)), [suspicion; 2]);
        }
        let mut innocent = journal.begin(page(1), None);
        innocent.is_answered();
        drop(innocent);
        for crash in 3..=5 {
            assert_eq!(journal.suspicion(page(2), NOW), Suspicion::Alone);
            let culprit = journal.begin(page(2), None);
            journal = after_a_crash(&at(crash - 1), &at(crash), NOW);
            drop(culprit);
        }
        assert_eq!(journal.suspicion(page(1), NOW), Suspicion::None);
        let until = NOW + DAY;
        assert_eq!(journal.suspicion(page(2), NOW), Suspicion::SetAside { crashes: 5, until });
        assert_eq!(journal.suspicion(page(2), until), Suspicion::Alone);
    }

    #[test]
    fn a_request_withdrawn_before_its_answer_clears_no_suspicion() {
        let directory = tempfile::tempdir().unwrap();
        let at = |number: u32| directory.path().join(number.to_string());
        let mut journal = CrashJournal::open(&at(0), NOW).unwrap();
        for crash in 1..=2 {
            let under_way = journal.begin(page(1), None);
            journal = after_a_crash(&at(crash - 1), &at(crash), NOW);
            drop(under_way);
        }
        drop(journal.begin(page(1), None));
        assert_eq!(journal.suspicion(page(1), NOW), Suspicion::Alone);
        drop(journal);
        let journal = CrashJournal::open(&at(2), NOW).unwrap();
        assert_eq!(journal.suspicion(page(1), NOW), Suspicion::Alone, "a clean end is no crash");
        drop(journal);
        let later = NOW + REMEMBERED_FOR + DAY;
        let journal = CrashJournal::open(&at(2), later).unwrap();
        assert_eq!(journal.suspicion(page(1), later), Suspicion::None);
    }

    #[test]
    fn the_file_grows_no_longer_than_the_most_requests_at_once_and_each_process_has_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let journal = CrashJournal::open(directory.path(), NOW).unwrap();
        for number in 0..100 {
            drop([journal.begin(page(number), None), journal.begin(page(number + 100), None)]);
        }
        let length = |name: &str| fs::metadata(directory.path().join(name)).unwrap().len();
        assert_eq!(length("fetcher-under-way-0"), 2 * SLOT_BYTES as u64);
        let other = CrashJournal::open(directory.path(), NOW).unwrap();
        drop(other.begin(page(1), None));
        assert_eq!(length("fetcher-under-way-1"), SLOT_BYTES as u64);
    }
}
