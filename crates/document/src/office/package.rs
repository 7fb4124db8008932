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

/// The longest address or name of a part. Browsers and servers take no longer ones.
const MAX_TARGET_BYTES: usize = 8 * 1024;

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

/// The relations of a part.
#[derive(Default)]
pub(super) struct Relations {
    list: Vec<Relation>,
    by_id: BTreeMap<String, usize>,
}

impl Relations {
    pub(super) fn find(&self, id: &str) -> Option<&Relation> {
        self.by_id.get(id).and_then(|number| self.list.get(*number))
    }

    /// The relations whose kind ends so.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Relation> {
        self.list.iter().filter(move |relation| relation.kind.ends_with(kind))
    }

    /// The part of the first relation of this kind.
    pub(super) fn part(&self, kind: &str) -> Option<&str> {
        self.of_kind(kind).next().map(Relation::target)
    }
}

/// A relation of a part to another, as Office Open XML has them.
pub(super) struct Relation {
    /// A URI that ends with the kind's name.
    pub(super) kind: String,
    target: String,
    /// Whether the target is an address outside of the document.
    pub(super) is_external: bool,
}

impl Relation {
    /// The name of the part, or the address if it is external.
    pub(super) fn target(&self) -> &str {
        &self.target
    }
}

impl<'a> Package<'a> {
    /// Opens an archive. `None` if the bytes are no ZIP archive or it has more than [`MAX_FILES`] files.
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
        let read = match *method {
            CompressionMethod::STORE => entry.verifying_reader(entry.data()).take(most).read_to_end(&mut bytes),
            CompressionMethod::DEFLATE => {
                entry.verifying_reader(DeflateDecoder::new(entry.data())).take(most).read_to_end(&mut bytes)
            }
            _ => return None,
        };
        let left = self.left.checked_sub(bytes.len() as u64);
        // Failures count, too: a document may name a part that fails any number of times.
        self.left = left.unwrap_or(0);
        read.ok()?;
        left?;
        if let Some((encoding, _)) = Encoding::for_bom(&bytes) {
            return Some(encoding.decode(&bytes).0.into_owned());
        }
        String::from_utf8(bytes).ok()
    }

    /// The text of a part that a document may lack, empty then. `None` if it is there and cannot be read.
    pub(super) fn text_if_any(&mut self, name: Option<&str>) -> Option<String> {
        match name.filter(|name| self.has(name)) {
            Some(name) => self.text(name),
            None => Some(String::new()),
        }
    }

    /// The relations of a part, or of the package itself by the name "".
    pub(super) fn relations(&mut self, of: &str) -> Option<Relations> {
        let (directory, name) = of.rsplit_once('/').unwrap_or(("", of));
        let separator = if directory.is_empty() { "" } else { "/" };
        let file = format!("{directory}{separator}_rels/{name}.rels");
        let mut relations = Relations::default();
        walk(&self.text_if_any(Some(&file))?, &mut |step| {
            if let Step::Open("Relationship", attributes) = step {
                let value = |name: &str| attributes.get(name).unwrap_or_default();
                let is_external = value("TargetMode") == "External";
                let target = if is_external { value("Target") } else { resolved(directory, &value("Target")) };
                if target.len() <= MAX_TARGET_BYTES {
                    relations.by_id.entry(value("Id")).or_insert(relations.list.len());
                    relations.list.push(Relation { kind: value("Type"), target, is_external });
                }
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
