//! The process that reads one document.

use document::NotRead;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::panic::catch_unwind;
use std::process::ExitCode;

/// Reads a document as HTML.
pub type ReadDocument = fn(Vec<u8>) -> Result<String, NotRead>;

/// The argument behind those that the program was started with, once its limits are set.
const LIMITED: &str = "limited";
/// The first byte of a process, which it writes once it is confined.
pub(crate) const CONFINED: u8 = b'C';
/// The first byte of an answer with HTML, whose length follows in eight bytes, the lowest first. Any other is one more than the place of the reason in [`NotRead::ALL`].
pub(crate) const READ: u8 = 0;

/// The work of the process, whose arguments are those behind the program's name. It takes a document from its standard input, up to
/// the end, and answers on its standard output. It reads no byte before it is confined, and none if that fails.
pub fn run(arguments: &[OsString], read: ReadDocument) -> ExitCode {
    let is_limited = arguments.last().is_some_and(|last| last == OsStr::new(LIMITED));
    let answered = match is_limited {
        false => start_limited(arguments),
        true => confine().and_then(|()| answer(read)),
    };
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(target_os = "linux")]
fn start_limited(arguments: &[OsString]) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    crate::confinement::limit()?;
    Err(std::process::Command::new("/proc/self/exe").args(arguments).arg(LIMITED).env_clear().exec())
}

#[cfg(target_os = "linux")]
fn confine() -> io::Result<()> {
    crate::confinement::confine()
}

#[cfg(not(target_os = "linux"))]
fn start_limited(_: &[OsString]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn confine() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn answer(read: ReadDocument) -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    output.write_all(&[CONFINED])?;
    output.flush()?;
    let mut document = Vec::new();
    input.read_to_end(&mut document)?;
    std::panic::set_hook(Box::new(|_| {}));
    let answer = catch_unwind(|| read(document)).unwrap_or(Err(NotRead::Damaged));
    match answer {
        Ok(html) => {
            output.write_all(&[READ])?;
            output.write_all(&(html.len() as u64).to_le_bytes())?;
            output.write_all(html.as_bytes())?;
        }
        Err(reason) => {
            let place = NotRead::ALL.iter().position(|known| *known == reason).unwrap_or_default();
            output.write_all(&[place as u8 + 1])?;
        }
    }
    output.flush()
}
