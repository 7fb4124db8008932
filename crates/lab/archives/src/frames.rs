//! The bytes of versions, in frames that are compressed as a whole.

use crate::read_error::ReadError;
use crate::table::CsvTable;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Frames are compressed with windows of up to 32 MiB. Four times that is ample, and limits the memory that a frame may
/// demand.
const MAX_WINDOW_LOG: u32 = 27;

struct Frame {
    file: String,
    offset: u64,
    packed: usize,
    raw: usize,
}

/// The frames of a corpus, by number.
pub struct Frames {
    directory: PathBuf,
    frames: Vec<Frame>,
    unpacker: zstd::bulk::Decompressor<'static>,
}

impl Frames {
    /// Reads the positions of the frames in a directory (`frames.csv.zst`).
    pub fn open(directory: &Path) -> Result<Self, ReadError> {
        let mut frames = Vec::new();
        CsvTable::open(directory, "frames.csv.zst")?.for_each(|row| {
            frames.push(Frame {
                file: row.text(1, "file")?.to_owned(),
                offset: row.number(2, "file_offset")?,
                packed: row.number(3, "comp_len")?,
                raw: row.number(4, "raw_len")?,
            });
            Ok(())
        })?;
        let failed = |source| ReadError::Unpack { path: directory.to_owned(), source };
        let mut unpacker = zstd::bulk::Decompressor::new().map_err(failed)?;
        unpacker.set_parameter(zstd::zstd_safe::DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(failed)?;
        Ok(Self { directory: directory.to_owned(), frames, unpacker })
    }

    /// Unpacks the bytes of a frame.
    pub fn unpack(&mut self, number: usize) -> Result<Vec<u8>, ReadError> {
        let frame = self.frames.get(number).ok_or(ReadError::NoSuchFrame { frame: number })?;
        let path = self.directory.join(&frame.file);
        let mut read = || {
            let mut packed = vec![0; frame.packed];
            File::open(&path)?.read_exact_at(&mut packed, frame.offset)?;
            self.unpacker.decompress(&packed, frame.raw)
        };
        read().map_err(|source| ReadError::Unpack { path: path.clone(), source })
    }
}
