//! ZIP archives whose files are stored as they are, written from front to back.
//!
//! Readers of web archives look for a record at its place in the file, so its archive must not be compressed once more. Sizes
//! stand behind a file (APPNOTE.TXT 6.3.10, §4.3.9), for they are unknown while it is written. The crate `zip` writes to a seekable
//! file or owns the writer, and a file of `rawzip` borrows its archive until it ends. Here bytes go on to storage as they come.

use aws_lc_rs::digest::{Context, SHA256};
use flate2::Crc;
use std::num::TryFromIntError;

/// Version of the format that is needed to extract: 2.0.
const VERSION: u16 = 20;
/// Made on Unix, by the same version.
const MADE_BY: u16 = 3 << 8 | VERSION;
/// Sizes stand behind the file (bit 3), and names are UTF-8 (bit 11).
const FLAGS: u16 = 1 << 3 | 1 << 11;
/// 1980-01-01, the first day that can be said. It makes the same files the same bytes.
const DATE: u16 = 1 << 5 | 1;
/// A plain file that everybody may read.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// A ZIP archive that is being written. Without ZIP64, it can have 4 GiB.
pub(super) struct StoredZip {
    /// Bytes that are not written yet. The writer removes them.
    pub(super) ready: Vec<u8>,
    /// Bytes that were ever ready.
    bytes: u64,
    files: Vec<StoredFile>,
}

/// A file of an archive.
pub(super) struct StoredFile {
    pub(super) name: String,
    pub(super) bytes: u64,
    offset: u64,
    crc: Crc,
    sha256: Context,
}

impl StoredFile {
    /// The digest as WACZ writes it: `sha256:` and hexadecimal digits.
    pub(super) fn digest(&self) -> String {
        let digest = self.sha256.clone().finish();
        let digits = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
        format!("sha256:{}", digits.collect::<String>())
    }
}

impl StoredZip {
    /// An archive whose first file has this name.
    pub(super) fn begin(name: &str) -> Self {
        let mut zip = Self { ready: Vec::new(), bytes: 0, files: Vec::new() };
        zip.begin_file(name);
        zip
    }

    /// Adds to the last file.
    pub(super) fn write(&mut self, content: &[u8]) {
        let file = self.files.last_mut().expect("an archive begins with a file");
        file.bytes += content.len() as u64;
        file.crc.update(content);
        file.sha256.update(content);
        self.put(&[content]);
    }

    /// Ends the last file, and adds one.
    pub(super) fn add(&mut self, name: &str, content: &[u8]) -> Result<(), TryFromIntError> {
        self.end_file()?;
        self.begin_file(name);
        self.write(content);
        Ok(())
    }

    pub(super) fn files(&self) -> &[StoredFile] {
        &self.files
    }

    /// Ends the archive with its directory (§4.3.12, §4.3.16). Returns the bytes that were not written yet.
    ///
    /// # Errors
    /// It is longer than can be said.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, TryFromIntError> {
        self.end_file()?;
        let start = u32::try_from(self.bytes)?;
        let files = std::mem::take(&mut self.files);
        for file in &files {
            let offset = u32::try_from(file.offset)?;
            self.put(&[b"PK\x01\x02", &MADE_BY.to_le_bytes()]);
            self.put_common(&file.name, sizes(file)?);
            // No comment, on the first disk, no internal attributes.
            self.put(&[&[0; 6], &ATTRIBUTES.to_le_bytes(), &offset.to_le_bytes(), file.name.as_bytes()]);
        }
        let (count, length) = (u16::try_from(files.len())?.to_le_bytes(), u32::try_from(self.bytes)? - start);
        // One disk, and no comment.
        self.put(&[b"PK\x05\x06", &[0; 4], &count, &count, &length.to_le_bytes(), &start.to_le_bytes(), &[0; 2]]);
        Ok(self.ready)
    }

    fn begin_file(&mut self, name: &str) {
        let (offset, sha256) = (self.bytes, Context::new(&SHA256));
        self.files.push(StoredFile { name: name.to_owned(), bytes: 0, offset, crc: Crc::new(), sha256 });
        self.put(&[b"PK\x03\x04"]);
        self.put_common(name, [0; 12]);
        self.put(&[name.as_bytes()]);
    }

    fn end_file(&mut self) -> Result<(), TryFromIntError> {
        let file = self.files.last().expect("an archive begins with a file");
        let sizes = sizes(file)?;
        self.put(&[b"PK\x07\x08", &sizes]);
        Ok(())
    }

    /// The fields that a file's header shares with its place in the directory, from the version to the lengths of name and extra
    /// field.
    fn put_common(&mut self, name: &str, sizes: [u8; 12]) {
        let name_length = u16::try_from(name.len()).expect("names are short");
        // Stored, at midnight.
        self.put(&[&VERSION.to_le_bytes(), &FLAGS.to_le_bytes(), &[0; 4], &DATE.to_le_bytes(), &sizes]);
        self.put(&[&name_length.to_le_bytes(), &[0; 2]]);
    }

    fn put(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.ready.extend_from_slice(part);
            self.bytes += part.len() as u64;
        }
    }
}

/// Checksum, size as stored, size.
fn sizes(file: &StoredFile) -> Result<[u8; 12], TryFromIntError> {
    let (crc, size) = (file.crc.sum().to_le_bytes(), u32::try_from(file.bytes)?.to_le_bytes());
    let mut sizes = [0; 12];
    for (place, part) in sizes.chunks_exact_mut(4).zip([crc, size, size]) {
        place.copy_from_slice(&part);
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_these_bytes() {
        let mut zip = StoredZip::begin("a");
        zip.write(b"12345");
        zip.write(b"6789");
        let mut written = std::mem::take(&mut zip.ready);
        zip.add("b/c", b"").expect("it is short");
        let digest = "sha256:15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225";
        assert_eq!((zip.files()[0].bytes, zip.files()[0].digest().as_str()), (9, digest));
        written.extend(zip.finish().expect("it is short"));
        let digits: String = written.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digits, include_str!("two_files.hex").trim());
    }
}
