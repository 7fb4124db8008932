//! The file system that holds a process's state: how much of it is free, and when no more work is taken in.
//!
//! A database that meets a full disk in the middle of a write can only fail. So a process stops taking in work while there
//! is still room for what it has begun, and goes on when there is room again.

use crate::board::Board;
use crate::threads::StopSignal;
use rustix::fs::statvfs;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;
use stream::DiskRoom;
use tracing::{info, warn};

/// Interval between looks at the file system.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Bytes that must stay free where nothing is set, if they are less than a tenth of the file system.
const MIN_FREE_BYTES: u64 = 1 << 30;
/// Files that must be possible yet, if they are less than a tenth of all.
const MIN_FREE_INODES: u64 = 1_000;

/// The file system that holds the state of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSpace {
    /// Bytes that this process can still write.
    pub free_bytes: u64,
    pub size_bytes: u64,
    /// Files that can still be created; absent where the file system has no limit.
    pub free_inodes: Option<u64>,
    /// With fewer free bytes no more work is taken in.
    pub min_free_bytes: u64,
    /// With fewer free inodes no more work is taken in; absent where the file system has no limit.
    pub min_free_inodes: Option<u64>,
    /// Whether no work is taken in.
    pub is_short: bool,
}

impl DiskSpace {
    /// Looks at the file system of a directory, or of the next one above that exists. `min_free`: bytes that must stay free, 0 for
    /// none; where it is absent, the lower of 1 GiB and a tenth of the file system.
    pub fn of(directory: &Path, min_free: Option<u64>) -> io::Result<Self> {
        let directory = std::path::absolute(directory)?;
        let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(&directory);
        let found = statvfs(existing)?;
        let size_bytes = found.f_blocks.saturating_mul(found.f_frsize);
        let space = Self {
            free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            size_bytes,
            // Some file systems, such as btrfs, make inodes as needed and give no number.
            free_inodes: (found.f_files > 0).then_some(found.f_favail),
            min_free_bytes: min_free.unwrap_or(MIN_FREE_BYTES.min(size_bytes / 10)),
            min_free_inodes: (found.f_files > 0 && min_free != Some(0))
                .then_some(MIN_FREE_INODES.min(found.f_files / 10)),
            is_short: false,
        };
        Ok(space.judged(false))
    }

    /// The same space, judged. What was short stays so until a quarter more than the least is free: work that begins at the
    /// limit would stop again at once.
    fn judged(self, was_short: bool) -> Self {
        let needed = |least: u64| if was_short { least.saturating_add(least / 4) } else { least };
        let lacks_inodes = self.free_inodes.zip(self.min_free_inodes).is_some_and(|(free, least)| free < needed(least));
        Self { is_short: self.free_bytes < needed(self.min_free_bytes) || lacks_inodes, ..self }
    }

    /// The free space, and the least, in words.
    pub fn words(&self) -> String {
        let mut words = format!(
            "{} of {} free; work is taken in from {}",
            megabytes(self.free_bytes),
            megabytes(self.size_bytes),
            megabytes(self.min_free_bytes)
        );
        if let Some((free, least)) = self.free_inodes.zip(self.min_free_inodes).filter(|(free, least)| free < least) {
            words += &format!("; room for {free} more files, and {least} are needed");
        }
        words
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

/// Watches the file system of a process's state until `stop`, shows it on the board, and says whether there is room for new
/// work. The first look is made before it returns.
pub fn watch(
    directory: &Path,
    min_free: Option<u64>,
    board: Board,
    stop: &StopSignal,
) -> io::Result<(DiskRoom, JoinHandle<()>)> {
    let (directory, room) = (directory.to_owned(), DiskRoom::default());
    let shared = room.clone();
    let mut is_unknown = false;
    let mut look = move || {
        let was_short = !shared.is_left();
        match DiskSpace::of(&directory, min_free).map(|space| space.judged(was_short)) {
            Ok(space) => {
                is_unknown = false;
                if space.is_short != was_short {
                    report(&directory, &space);
                }
                shared.set_left(!space.is_short);
                board.show_disk(space);
            }
            Err(error) if !is_unknown => {
                is_unknown = true;
                warn!(directory = %directory.display(), %error, "cannot see how much of the disk is free");
            }
            Err(_) => {}
        }
    };
    look();
    let thread = stop.repeat("disk", LOOK_EVERY, move || {
        look();
        LOOK_EVERY
    })?;
    Ok((room, thread))
}

fn report(directory: &Path, space: &DiskSpace) {
    let (directory, space_is) = (directory.display(), space.words());
    if space.is_short {
        warn!(%directory, space_is, "the disk is nearly full: no more work is taken in until there is room (log.min_free_disk)");
    } else {
        info!(%directory, space_is, "there is room on the disk again: going on");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(free_bytes: u64, free_inodes: Option<u64>) -> DiskSpace {
        DiskSpace {
            free_bytes,
            size_bytes: 100_000,
            free_inodes,
            min_free_bytes: 1_000,
            min_free_inodes: free_inodes.map(|_| 100),
            is_short: false,
        }
    }

    #[test]
    fn work_stops_below_the_least_and_goes_on_with_a_quarter_more() {
        for (free, was_short, expected) in
            [(999, false, true), (1_000, false, false), (1_249, true, true), (1_250, true, false), (1_000, true, true)]
        {
            assert_eq!(space(free, None).judged(was_short).is_short, expected, "{free} bytes, {was_short}");
        }
        for (free, was_short, expected) in
            [(99, false, true), (100, false, false), (124, true, true), (125, true, false)]
        {
            assert_eq!(space(50_000, Some(free)).judged(was_short).is_short, expected, "{free} inodes, {was_short}");
        }
        let off = DiskSpace { min_free_bytes: 0, min_free_inodes: None, ..space(0, Some(0)) };
        assert!(!off.judged(false).is_short);
    }

    #[test]
    fn a_directory_that_does_not_exist_yet_is_judged_by_the_one_above() {
        let above = tempfile::tempdir().unwrap();
        let of = |path: &Path, min_free| DiskSpace::of(path, min_free).unwrap();
        let space = of(&above.path().join("data/log"), None);
        assert_eq!(space.size_bytes, of(above.path(), None).size_bytes);
        assert!(space.min_free_bytes <= MIN_FREE_BYTES && space.min_free_bytes <= space.size_bytes / 10, "{space:?}");
        assert!(of(above.path(), Some(u64::MAX)).is_short);
        assert!(!of(above.path(), Some(0)).is_short);
    }
}
