//! Room on the disk for new work, as stages know of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the disk that holds the state of a process has room for new work. Whoever watches the disk says so, and stages
/// ask at every turn. Clones share it. A new one has room.
#[derive(Clone, Debug, Default)]
pub struct DiskRoom {
    is_short: Arc<AtomicBool>,
}

impl DiskRoom {
    /// Whether new work may be taken in.
    pub fn is_left(&self) -> bool {
        !self.is_short.load(Ordering::Relaxed)
    }

    pub fn set_left(&self, is_left: bool) {
        self.is_short.store(!is_left, Ordering::Relaxed);
    }
}
