//! Starts a process for each document.

use crate::child::{CONFINED, READ};
use crate::exchange::{Exchange, exchange};
use crate::{MAX_ANSWER_BYTES, MAX_WAIT};
use document::{NotRead, ReadConfined};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// The program that is running, even if its file has been replaced since.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// Most processes at once. A further document waits for a place.
const MAX_PROCESSES: usize = 4;

/// Reads documents, each in a process of its own.
#[derive(Debug)]
pub struct ConfinedReader {
    program: PathBuf,
    arguments: Vec<OsString>,
    now: fn() -> Instant,
    places: Mutex<usize>,
    place_is_free: Condvar,
    has_warned: AtomicBool,
}

impl ConfinedReader {
    /// A reader that starts this program with these arguments, which calls [`crate::run`].
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self::with_clock(program, arguments, Instant::now)
    }

    /// A reader that starts the program that is running, with these arguments.
    pub fn of_own_program(arguments: Vec<OsString>) -> Self {
        Self::new(PathBuf::from(OWN_PROGRAM), arguments)
    }

    /// A reader with a clock of its own, by which documents are late.
    pub fn with_clock(program: PathBuf, arguments: Vec<OsString>, now: fn() -> Instant) -> Self {
        Self {
            program,
            arguments,
            now,
            places: Mutex::new(MAX_PROCESSES),
            place_is_free: Condvar::new(),
            has_warned: AtomicBool::new(false),
        }
    }

    fn exchange(&self, document: &[u8]) -> io::Result<Exchange> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().current_dir("/");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let deadline = (self.now)() + MAX_WAIT;
        let exchanged = pipes
            .ok_or_else(|| io::ErrorKind::BrokenPipe.into())
            .and_then(|pipes| exchange(pipes, document, (self.now, deadline), MAX_ANSWER_BYTES));
        // It has nothing more to do, whatever it thinks. A process that is over already takes no harm.
        let _ = process.kill();
        process.wait()?;
        exchanged
    }

    fn understood(&self, answer: &[u8]) -> Result<String, NotRead> {
        match answer {
            [CONFINED, READ, rest @ ..] => match rest.split_first_chunk() {
                Some((length, html)) if u64::from_le_bytes(*length) == html.len() as u64 => {
                    String::from_utf8(html.to_vec()).map_err(|_| NotRead::Damaged)
                }
                // It died over its answer.
                Some(_) | None => Err(NotRead::OverLimits),
            },
            [CONFINED, reason] => Err(NotRead::ALL.get(usize::from(*reason) - 1).copied().unwrap_or(NotRead::Damaged)),
            // It died over the document.
            [CONFINED, ..] => Err(NotRead::OverLimits),
            _ => Err(self.without_reader("a process could not be confined: Linux 5.9 or later with seccomp is needed")),
        }
    }

    /// Says once that there is no process to read in.
    fn without_reader(&self, error: &str) -> NotRead {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                error,
                "PDF documents are compared by their digests: no process to read them can be started"
            );
        }
        NotRead::NoReader
    }
}

impl ReadConfined for ConfinedReader {
    fn html(&self, body: &[u8]) -> Result<String, NotRead> {
        let _place = Place::wait_for(self);
        match self.exchange(body) {
            Ok(Exchange::Over(answer)) => self.understood(&answer),
            Ok(Exchange::Late | Exchange::TooLong) => Err(NotRead::OverLimits),
            Err(error) => Err(self.without_reader(&error.to_string())),
        }
    }
}

/// A place among the processes.
struct Place<'r>(&'r ConfinedReader);

impl<'r> Place<'r> {
    fn wait_for(reader: &'r ConfinedReader) -> Self {
        let places = reader.places.lock().unwrap_or_else(PoisonError::into_inner);
        let free = reader.place_is_free.wait_while(places, |places| *places == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Self(reader)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.places.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.place_is_free.notify_one();
    }
}
