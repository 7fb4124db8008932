//! The archive of a document, and the relations between its parts.

use super::MAX_PART_BYTES;
use super::walk::{Step, walk};
use encoding_rs::Encoding;
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};
use std::collections::BTreeMap;
use std::io::Read;

/// Most files of an archive. A book of a thousand chapters with pictures has fewer.
pub(super) const MAX_FILES: usize = 20_000;

pub(super) struct Package<'a> {
    archive: ZipSliceArchive<&'a [u8]>,
    files: BTreeMap<String, File>,
    /// Bytes that may yet be unpacked.
    left: u64,
}

/// A file of the archive.
struct File {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
}

/// A relation of a part to another, as Office Open XML has them.
pub(super) struct Relation {
    pub(super) id: String,
    /// A URI that ends with the kind's name.
    pub(super) kind: String,
    target: String,
    /// Whether the target is an address outside of the document.
    pub(super) is_external: bool,
}

impl Relation {
    /// The name of the part, or the address if it is external.
    pub(super) fn target(&self) -> String {
        self.target.clone()
    }
}

impl<'a> Package<'a> {
    /// Opens an archive. `None` if it is none, or has too many files.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        let archive = ZipArchive::from_slice(bytes).ok()?;
        let mut files = BTreeMap::new();
        let mut entries = archive.entries();
        while let Some(entry) = entries.next_entry().ok()? {
            if files.len() == MAX_FILES {
                return None;
            }
            let method = entry.compression_method();
            // Names that are no text are those of pictures and the like, if of anything.
            if let Ok(name) = std::str::from_utf8(entry.file_path().as_bytes()) {
                files.insert(name.to_owned(), File { place: entry.wayfinder(), method });
            }
        }
        Some(Self { archive, files, left: MAX_PART_BYTES })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The text of a part. `None` if it is missing, damaged, encrypted, or too long.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let File { place, method } = self.files.get(name)?;
        let entry = self.archive.get_entry(*place).ok()?;
        // Sizes in the archive are claims, so what comes is counted.
        let (mut bytes, most) = (Vec::new(), self.left + 1);
        match *method {
            CompressionMethod::STORE => entry.verifying_reader(entry.data()).take(most).read_to_end(&mut bytes),
            CompressionMethod::DEFLATE => {
                entry.verifying_reader(DeflateDecoder::new(entry.data())).take(most).read_to_end(&mut bytes)
            }
            _ => return None,
        }
        .ok()?;
        self.left = self.left.checked_sub(bytes.len() as u64)?;
        if let Some((encoding, _)) = Encoding::for_bom(&bytes) {
            return Some(encoding.decode(&bytes).0.into_owned());
        }
        String::from_utf8(bytes).ok()
    }

    /// The relations of a part, or of the package itself by the name "". None if it has no such file.
    pub(super) fn relations(&mut self, of: &str) -> Option<Vec<Relation>> {
        let (directory, name) = of.rsplit_once('/').unwrap_or(("", of));
        let separator = if directory.is_empty() { "" } else { "/" };
        let file = format!("{directory}{separator}_rels/{name}.rels");
        if !self.has(&file) {
            return Some(Vec::new());
        }
        let mut relations = Vec::new();
        walk(&self.text(&file)?, &mut |step| {
            if let Step::Open("Relationship", attributes) = step {
                let value = |name: &str| attributes.get(name).unwrap_or_default();
                let is_external = value("TargetMode") == "External";
                let target = if is_external { value("Target") } else { resolved(directory, &value("Target")) };
                relations.push(Relation { id: value("Id"), kind: value("Type"), target, is_external });
            }
        })?;
        Some(relations)
    }
}

/// The name of a part that another in this directory names.
pub(super) fn resolved(directory: &str, target: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let (base, target) = match target.strip_prefix('/') {
        Some(absolute) => ("", absolute),
        None => (directory, target),
    };
    for name in base.split('/').chain(target.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}
