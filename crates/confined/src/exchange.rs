//! Sends a document to a process and takes its answer, until a deadline.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use std::io::{self, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// How an exchange ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Exchange {
    /// The process has said all it had to.
    Over(Vec<u8>),
    Late,
    /// It said more than it may.
    TooLong,
}

/// Writes the document and reads the answer, both at once: a process may answer before it has read everything.
pub(crate) fn exchange(
    (input, mut output): (ChildStdin, ChildStdout),
    document: &[u8],
    (now, deadline): (fn() -> Instant, Instant),
    most_bytes: usize,
) -> io::Result<Exchange> {
    ioctl_fionbio(&input, true)?;
    ioctl_fionbio(&output, true)?;
    let (mut input, mut rest) = (Some(input), document);
    let mut answer = Vec::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let left = deadline.saturating_duration_since(now());
        if left.is_zero() {
            return Ok(Exchange::Late);
        }
        let can_read = wait(input.as_ref(), &output, left)?;
        if let Some(pipe) = &mut input {
            match pipe.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if is_for_later(&error) => {}
                // The process wants no more of it. It may have answered.
                Err(_) => rest = &[],
            }
            if rest.is_empty() {
                input = None;
            }
        }
        if can_read {
            match output.read(&mut piece) {
                Ok(0) => return Ok(Exchange::Over(answer)),
                Ok(read) => answer.extend_from_slice(&piece[..read]),
                Err(error) if is_for_later(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if answer.len() > most_bytes {
            return Ok(Exchange::TooLong);
        }
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Waits until something can be written or read, or the time is over. Returns whether something can be read.
fn wait(input: Option<&ChildStdin>, output: &ChildStdout, longest: Duration) -> io::Result<bool> {
    let mut ends = vec![PollFd::new(output, PollFlags::IN)];
    ends.extend(input.map(|input| PollFd::new(input, PollFlags::OUT)));
    let longest = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
    match poll(&mut ends, Some(&longest)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(!ends[0].revents().is_empty()),
        Err(error) => Err(error.into()),
    }
}
