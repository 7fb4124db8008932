//! The bytes of versions. They lie in frames, each unpacked as a whole; the last few stay in memory.

use crate::archive::ArchiveError;
use crate::frames::Frames;
use crate::table::CsvTable;
use std::collections::VecDeque;
use std::path::Path;

/// Number of unpacked frames in memory. The versions of a page are adjacent, so two or three frames suffice for all but
/// the largest pages.
const FRAMES_KEPT: usize = 4;

struct BlobRange {
    frame: usize,
    offset: usize,
    length: usize,
}

/// All versions of an archive, by number.
pub(crate) struct Blobs {
    blobs: Vec<BlobRange>,
    frames: Frames,
    unpacked: VecDeque<(usize, Vec<u8>)>,
}

impl Blobs {
    pub(crate) fn open(directory: &Path) -> Result<Self, ArchiveError> {
        let mut blobs = Vec::new();
        CsvTable::open(directory, "blobs.csv.zst")?.for_each(|row| {
            let place = (row.number(1, "frame_id")?, row.number(2, "offset")?, row.number(3, "length")?);
            blobs.push(BlobRange { frame: place.0, offset: place.1, length: place.2 });
            Ok(())
        })?;
        Ok(Self { blobs, frames: Frames::open(directory)?, unpacked: VecDeque::new() })
    }

    /// The bytes of a version.
    pub(crate) fn read(&mut self, blob: usize) -> Result<&[u8], ArchiveError> {
        let missing = ArchiveError::NoSuchBlob { blob };
        let Some(BlobRange { frame, offset, length }) = self.blobs.get(blob) else { return Err(missing) };
        let (frame, range) = (*frame, *offset..offset + length);
        if !self.unpacked.iter().any(|(kept, _)| *kept == frame) {
            let raw = self.frames.unpack(frame)?;
            self.unpacked.truncate(FRAMES_KEPT - 1);
            self.unpacked.push_front((frame, raw));
        }
        let raw = self.unpacked.iter().find(|(kept, _)| *kept == frame);
        raw.and_then(|(_, raw)| raw.get(range)).ok_or(missing)
    }
}
