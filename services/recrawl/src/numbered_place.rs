//! A number for each of the processes that share a directory, with a directory of its own in it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Most processes of one directory.
const MOST_PLACES: u32 = 1_000;

/// The place of this process. It is free again when this is dropped, and when the process ends however it may.
pub(crate) struct NumberedPlace {
    pub(crate) number: u32,
    pub(crate) directory: PathBuf,
    _lock: File,
}

impl NumberedPlace {
    /// Takes the lowest number that no other process has. A process that comes back has its number again if the others stayed, and
    /// with it the state there.
    pub(crate) fn take(shared: &Path) -> io::Result<Self> {
        for number in 0..MOST_PLACES {
            let directory = shared.join(number.to_string());
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
            let lock = File::create(directory.join("lock"))?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self { number, directory, _lock: lock }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{MOST_PLACES} processes use it")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_the_lowest_number_that_is_free() {
        let shared = tempfile::tempdir().unwrap();
        let take = || NumberedPlace::take(shared.path()).unwrap();
        let (first, second) = (take(), take());
        assert_eq!((first.number, second.number), (0, 1));
        assert_eq!(second.directory, shared.path().join("1"));
        drop(first);
        assert_eq!((take().number, second.number), (0, 1));
    }
}
