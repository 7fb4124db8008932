//! Small text files beside a database. Each is replaced as a whole and detects its own damage.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// First word of the last line, which holds the digest of all lines before.
const SEAL: &str = "seal ";

/// Result of reading a sealed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sealed {
    Missing,
    Damaged,
    Whole(String),
}

/// Creates a directory, and those above it, for this user alone, whatever the umask. They survive a power cut once this
/// returns. The mode of one that exists is its owner's choice.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    let new: Vec<&Path> = path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    new.into_iter().try_for_each(sync_directory)
}

/// Replaces a file. `lines` ends with a line break. With `durable`, the new file survives a power cut once this
/// returns.
pub(crate) fn write(path: &Path, lines: &str, durable: bool) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = File::create(&new)?;
    file.write_all(format!("{lines}{SEAL}{}\n", seal(lines)).as_bytes())?;
    if durable {
        file.sync_all()?;
    }
    fs::rename(&new, path)?;
    if durable { sync_directory(path) } else { Ok(()) }
}

/// Makes the directory entry of a path survive a power cut.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    // Some systems cannot open directories; there is nothing to sync there.
    File::open(parent).map_or(Ok(()), |directory| directory.sync_all())
}

/// Reads the lines of a file and verifies their digest.
pub(crate) fn read(path: &Path) -> io::Result<Sealed> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sealed::Missing),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    let whole = text
        .rfind(SEAL)
        .map(|at| text.split_at(at))
        .filter(|(lines, last)| *last == format!("{SEAL}{}\n", seal(lines)));
    Ok(whole.map_or(Sealed::Damaged, |(lines, _)| Sealed::Whole(lines.to_owned())))
}

/// The rest of the line that starts with this word.
pub(crate) fn field<'a>(lines: &'a str, word: &str) -> Option<&'a str> {
    lines.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))
}

fn seal(lines: &str) -> String {
    digest(lines.as_bytes())
}

/// A digest short enough to read out.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("file");
        assert_eq!(read(&path).unwrap(), Sealed::Missing);
        let lines = "format 1\nlog 7f\n";
        write(&path, lines, true).unwrap();
        assert_eq!(read(&path).unwrap(), Sealed::Whole(lines.to_owned()));
        assert_eq!(field(lines, "log"), Some("7f"));
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path).unwrap(), Sealed::Damaged, "bit {bit}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read(&path).unwrap(), Sealed::Damaged, "{length} bytes");
        }
    }
}
