//! Keeps bodies that are no pages, for archives: those of redirects, of errors and of robots.txt.

use crate::codings::{BodyLimits, Coding, Unpacker};
use crate::memory::{BodyMemory, KeptMemory};
use crate::rules::FetcherRules;
use hyper::header::HeaderMap;

/// Longest unpacked body of a redirect or an error that is kept, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// Bytes that a decoder may write beyond that before it notices.
const SLACK_BYTES: usize = 64 << 10;

/// A body to be archived.
#[derive(Debug)]
pub(crate) struct RecordedBody {
    pub(crate) bytes: Vec<u8>,
    /// Whether only the beginning is here.
    pub(crate) is_cut: bool,
    pub(crate) memory: KeptMemory,
}

impl RecordedBody {
    /// A copy of a body that was read for another reason, if there is memory for it. Absent if it is empty.
    pub(crate) fn copy_of(body: &[u8], is_cut: bool, memory: &BodyMemory) -> Option<Self> {
        let mut room = memory.try_record(body.len()).filter(|_| !body.is_empty())?;
        Some(Self { bytes: body.to_vec(), is_cut, memory: room.keep(body.len()) })
    }
}

/// Unpacks the body of a redirect or an error while it is read.
pub(crate) struct Recorder {
    unpacker: Unpacker,
    is_full: bool,
}

impl Recorder {
    /// A recorder of a body with this head, if there is memory for it and its coding is known. None for a body announced as
    /// empty.
    pub(crate) fn begin(
        headers: &HeaderMap,
        announced: Option<u64>,
        rules: &FetcherRules,
        memory: &BodyMemory,
    ) -> Option<Self> {
        if announced == Some(0) {
            return None;
        }
        let coding = Coding::of(headers).ok()?;
        let limits = BodyLimits { wire: u64::MAX, kept: MAX_BYTES, ratio: rules.fetch.max_pack_ratio };
        let room = memory.try_record(MAX_BYTES + SLACK_BYTES)?;
        let unpacker = Unpacker::new(coding, limits, 0, room).ok()?;
        Some(Self { unpacker, is_full: false })
    }

    /// Takes the next piece. Returns false if the body cannot be kept.
    pub(crate) fn take(&mut self, piece: &[u8]) -> bool {
        if self.is_full {
            return true;
        }
        let taken = self.unpacker.take(piece);
        self.is_full = self.unpacker.is_cut();
        taken.is_ok()
    }

    /// The body that was read, whole or not. Absent if it is empty or does not unpack.
    pub(crate) fn finish(mut self, is_whole: bool) -> Option<RecordedBody> {
        let (bytes, is_cut) = self.unpacker.finish(!is_whole).ok()?;
        let memory = self.unpacker.room().keep(bytes.len());
        (!bytes.is_empty()).then_some(RecordedBody { bytes, is_cut, memory })
    }
}
