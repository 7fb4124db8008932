//! Power cuts: the states in which one may leave the files that a program wrote.
//!
//! A program runs under strace, which records every operation on files in order, with the bytes. The record is played
//! back up to any of its points into a model of a disk that knows of each file and directory what was synced and what was
//! only written. From the model follow directories that a cut at that point could have left: with all that was not synced,
//! with none of it, or with some blocks and some entries of directories. This is how ALICE and CrashMonkey look for faults;
//! it needs neither a file system of its own nor rights to mount one.
//!
//! The name of a new file survives by a sync of its directory alone, as POSIX has it. What else survives of names is in their
//! order, as in all journals: RocksDB relies on that, because it renames `CURRENT` before it syncs the directory that its
//! new manifest is in.

mod disk;
mod record;
mod strace;

pub use self::disk::{Disk, Loss};
pub use self::record::{Operation, Recording, SentBytes};
