//! The bytes of versions: in frames, each unpacked as a whole, the last few kept.

use crate::archive::ArchiveError;
use crate::table::Table;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Frames kept unpacked. The versions of a page stand one after the other, so two or three serve all but the largest.
const FRAMES_KEPT: usize = 4;
/// Frames are packed with windows of up to 32 MiB; twice that is room enough, and an end to what a frame may ask for.
const MAX_WINDOW_LOG: u32 = 27;

struct BlobPlace {
    frame: usize,
    offset: usize,
    length: usize,
}

struct Frame {
    file: String,
    offset: u64,
    packed: usize,
    raw: usize,
}

/// All versions of an archive, by number.
pub(crate) struct Frames {
    directory: PathBuf,
    blobs: Vec<BlobPlace>,
    frames: Vec<Frame>,
    unpacked: VecDeque<(usize, Vec<u8>)>,
    unpacker: zstd::bulk::Decompressor<'static>,
}

impl Frames {
    pub(crate) fn open(directory: &Path) -> Result<Self, ArchiveError> {
        let mut blobs = Vec::new();
        Table::open(directory, "blobs.csv.zst")?.for_each(|row| {
            let place = (row.number(1, "frame_id")?, row.number(2, "offset")?, row.number(3, "length")?);
            blobs.push(BlobPlace { frame: place.0, offset: place.1, length: place.2 });
            Ok(())
        })?;
        let mut frames = Vec::new();
        Table::open(directory, "frames.csv.zst")?.for_each(|row| {
            frames.push(Frame {
                file: row.text(1, "file")?.to_owned(),
                offset: row.number(2, "file_offset")?,
                packed: row.number(3, "comp_len")?,
                raw: row.number(4, "raw_len")?,
            });
            Ok(())
        })?;
        let failed = |source| ArchiveError::Unpack { path: directory.to_owned(), source };
        let mut unpacker = zstd::bulk::Decompressor::new().map_err(failed)?;
        unpacker.set_parameter(zstd::zstd_safe::DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(failed)?;
        Ok(Self { directory: directory.to_owned(), blobs, frames, unpacked: VecDeque::new(), unpacker })
    }

    /// The bytes of a version.
    pub(crate) fn read(&mut self, blob: usize) -> Result<&[u8], ArchiveError> {
        let missing = ArchiveError::NoSuchBlob { blob };
        let Some(BlobPlace { frame, offset, length }) = self.blobs.get(blob) else { return Err(missing) };
        let (frame, range) = (*frame, *offset..offset + length);
        if !self.unpacked.iter().any(|(kept, _)| *kept == frame) {
            let raw = self.unpack(frame)?;
            self.unpacked.truncate(FRAMES_KEPT - 1);
            self.unpacked.push_front((frame, raw));
        }
        let raw = self.unpacked.iter().find(|(kept, _)| *kept == frame);
        raw.and_then(|(_, raw)| raw.get(range)).ok_or(missing)
    }

    fn unpack(&mut self, number: usize) -> Result<Vec<u8>, ArchiveError> {
        let frame = self.frames.get(number).ok_or(ArchiveError::NoSuchFrame { frame: number })?;
        let path = self.directory.join(&frame.file);
        let mut read = || {
            let mut packed = vec![0; frame.packed];
            File::open(&path)?.read_exact_at(&mut packed, frame.offset)?;
            self.unpacker.decompress(&packed, frame.raw)
        };
        read().map_err(|source| ArchiveError::Unpack { path: path.clone(), source })
    }
}
