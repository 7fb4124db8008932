//! Content codings. A body is unpacked as it arrives, within limits.
//!
//! There are three limits: bytes received, bytes kept after unpacking, and the ratio of unpacked to received bytes. The
//! first two cut the body, which is then marked as truncated. The third fails the fetch, because only a decompression
//! bomb exceeds it.

mod deflate;
#[cfg(test)]
mod tests;

use crate::codings::deflate::{Inflater, Wrapping};
use crate::memory::{BodyRoom, FIRST_BYTES, GivenUp};
use brotli_decompressor::DecompressorWriter;
use hyper::header::{self, HeaderMap};
use messages::body::PACKED_HEAD_BYTES;
use std::io::{self, Write};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder};
use zstd::stream::zio;

/// The `accept-encoding` header.
pub(crate) const ACCEPTED: &str = "gzip, br, zstd";

/// Unpacked bytes exempt from the ratio: a short body such as an empty table packs very well.
const RATIO_SLACK: u64 = 64 << 10;
/// Input is unpacked in slices of this size, so that the ratio is checked before much has come out.
const SLICE_BYTES: usize = 1 << 10;
/// Most bytes reserved up front for a body, whatever `content-length` says.
const MAX_CAPACITY: u64 = 64 << 10;
/// Size of the decoder's output chunks.
const PIECE_BYTES: usize = 32 << 10;
/// Logarithm of the largest window of a zstd frame: 8 MiB, the limit that RFC 9659 sets for HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Codings that exist and are not read. A body in one of them is no text.
const NOT_READ: [&str; 14] = [
    "aes128gcm",
    "bzip2",
    "compress",
    "dcb",
    "dcz",
    "exi",
    "lz4",
    "lzma",
    "pack200-gzip",
    "sdch",
    "x-bzip2",
    "x-compress",
    "x-snappy-framed",
    "xz",
];

/// Content coding of a body (RFC 9110 §8.4.1, RFC 7932, RFC 9659).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    /// Not asked for, but sent by old servers, and read by browsers and curl.
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// The coding that a response names. A word that is no coding, such as `utf-8` or `none`, says nothing of the body and
    /// is passed over. A coding that is not read, and more than one, are returned as the error.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, String> {
        if !headers.contains_key(header::CONTENT_ENCODING) {
            return Ok(Self::Identity);
        }
        let values = headers.get_all(header::CONTENT_ENCODING).iter();
        let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase()).collect();
        let mut coding = Self::Identity;
        for word in values.iter().flat_map(|value| value.split(',')) {
            // Parameters have no meaning here.
            let word = word.split(';').next().unwrap_or_default().trim_matches([' ', '\t', '"', '\'']);
            let named = match word {
                "gzip" | "x-gzip" => Self::Gzip,
                "deflate" | "x-deflate" => Self::Deflate,
                "br" => Self::Brotli,
                "zstd" => Self::Zstd,
                _ if NOT_READ.contains(&word) => return Err(values.join(", ")),
                _ => continue,
            };
            if coding != Self::Identity {
                return Err(values.join(", "));
            }
            coding = named;
        }
        Ok(coding)
    }
}

/// First seven bits of a brotli stream with a window of up to 1 GiB, for which the decoder would make room at once. RFC
/// 7932 has no such windows.
const BROTLI_LARGE_WINDOW: u8 = 0x11;

/// Limits on a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    /// Most bytes received.
    pub(crate) wire: u64,
    /// Most bytes kept, after unpacking.
    pub(crate) kept: usize,
    /// Most bytes unpacked per byte received, beyond the first 64 KiB.
    pub(crate) ratio: u64,
}

/// Why a body is discarded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyProblem {
    /// The unpacked body exceeds the allowed ratio.
    Bomb,
    /// It became longer than there was memory for, faster than it could wait for more.
    NoMemory,
    /// The body cannot be decoded.
    Corrupt(String),
}

/// Whether to read the rest of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Wanted,
    /// A limit is reached; the rest is left unread.
    Cut,
}

/// Unpacks a body piece by piece.
pub(crate) struct Unpacker {
    decoder: Decoder,
    is_cut: bool,
    /// The packed stream has ended. Bytes after it are ignored, as browsers do.
    has_ended: bool,
}

enum Decoder {
    Identity(UnpackSink),
    Inflater(Box<Inflater<UnpackSink>>),
    Brotli(Box<DecompressorWriter<UnpackSink>>),
    Zstd(zio::Writer<UnpackSink, ZstdDecoder<'static>>),
}

impl Unpacker {
    /// An unpacker for a body announced as `announced` bytes on the wire.
    pub(crate) fn new(coding: Coding, limits: BodyLimits, announced: u64, room: BodyRoom) -> io::Result<Self> {
        let capacity = if coding == Coding::Identity { announced.min(MAX_CAPACITY) as usize } else { 0 };
        // These decoders keep a window of their output beside it.
        let copies = if matches!(coding, Coding::Brotli | Coding::Zstd) { 2 } else { 1 };
        let most_bytes = copies * limits.kept;
        let whole = if coding == Coding::Identity { announced.min(limits.kept as u64) as usize } else { 0 };
        let kept = UnpackSink { bytes: Vec::new(), capacity, whole, limits, room, most_bytes, received: 0, stop: None };
        let decoder = match coding {
            Coding::Identity => Decoder::Identity(kept),
            Coding::Gzip => Decoder::Inflater(Box::new(Inflater::new(kept, Wrapping::Gzip))),
            Coding::Deflate => Decoder::Inflater(Box::new(Inflater::new(kept, Wrapping::ZlibOrNone))),
            Coding::Brotli => Decoder::Brotli(Box::new(DecompressorWriter::new(kept, PIECE_BYTES))),
            Coding::Zstd => {
                let mut decoder = ZstdDecoder::new()?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX))?;
                Decoder::Zstd(zio::Writer::new(kept, decoder))
            }
        };
        Ok(Self { decoder, is_cut: false, has_ended: false })
    }

    /// Waits for the memory of the whole body if another piece may need more than it has.
    pub(crate) async fn make_room(&mut self, piece_bytes: usize) -> Result<(), GivenUp> {
        let is_plain = matches!(self.decoder, Decoder::Identity(_));
        let UnpackSink { bytes, room, most_bytes, .. } = self.decoder.kept();
        // The unpacked length of a packed piece is not known. The sink takes no more than there is room for.
        let soon = if is_plain { bytes.len() + piece_bytes } else { 2 * bytes.len() };
        if soon > room.bytes {
            room.grow_to(*most_bytes).await?;
        }
        Ok(())
    }

    /// The longest piece to take at once.
    pub(crate) fn slice_bytes(&self, piece_bytes: usize) -> usize {
        if matches!(self.decoder, Decoder::Identity(_)) { piece_bytes.max(1) } else { SLICE_BYTES }
    }

    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<More, BodyProblem> {
        for slice in piece.chunks(self.slice_bytes(piece.len())) {
            let kept = self.decoder.kept();
            kept.received += slice.len() as u64;
            if kept.received > kept.limits.wire {
                self.is_cut = true;
                return Ok(More::Cut);
            }
            if let Err(error) = self.unpack(slice) {
                return self.stopped(&error);
            }
        }
        Ok(More::Wanted)
    }

    fn unpack(&mut self, mut slice: &[u8]) -> io::Result<()> {
        let is_first = self.decoder.kept().received == slice.len() as u64;
        if is_first && matches!(self.decoder, Decoder::Brotli(_)) && slice[0] & 0x7f == BROTLI_LARGE_WINDOW {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "brotli with a large window"));
        }
        while !slice.is_empty() && !self.has_ended {
            match self.decoder.write(slice)? {
                0 => self.has_ended = true,
                taken => slice = &slice[taken..],
            }
        }
        Ok(())
    }

    /// The memory of the body.
    pub(crate) fn room(&mut self) -> &mut BodyRoom {
        &mut self.decoder.kept().room
    }

    /// Whether a limit was reached.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The body, and whether it was cut. If the connection was lost in its midst, it counts as cut there: a packed
    /// stream without an end is then no fault of the server's encoder.
    pub(crate) fn finish(&mut self, is_broken_off: bool) -> Result<(Vec<u8>, bool), BodyProblem> {
        // A response without a body may still name a coding.
        if !self.is_cut
            && self.decoder.kept().received > 0
            && let Err(error) = self.decoder.finish()
        {
            match self.stopped(&error) {
                Err(BodyProblem::Corrupt(_)) if is_broken_off => {}
                stopped => drop(stopped?),
            }
        }
        self.is_cut |= is_broken_off;
        Ok((std::mem::take(&mut self.decoder.kept().bytes), self.is_cut))
    }

    /// Interprets a decoder error, which may come from our own limit.
    fn stopped(&mut self, error: &io::Error) -> Result<More, BodyProblem> {
        match self.decoder.kept().stop {
            Some(Stop::Full) => {
                self.is_cut = true;
                Ok(More::Cut)
            }
            Some(Stop::Bomb) => Err(BodyProblem::Bomb),
            Some(Stop::NoMemory) => Err(BodyProblem::NoMemory),
            None => Err(BodyProblem::Corrupt(error.to_string())),
        }
    }
}

impl Decoder {
    fn kept(&mut self) -> &mut UnpackSink {
        match self {
            Self::Identity(kept) => kept,
            Self::Inflater(decoder) => &mut decoder.sink,
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.writer_mut(),
        }
    }

    fn write(&mut self, slice: &[u8]) -> io::Result<usize> {
        match self {
            Self::Identity(kept) => kept.write(slice),
            Self::Inflater(decoder) => decoder.write(slice),
            Self::Brotli(decoder) => decoder.write(slice),
            Self::Zstd(decoder) => decoder.write(slice),
        }
    }

    /// Flushes the decoder. Fails if the packed stream was incomplete.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Identity(_) => Ok(()),
            Self::Inflater(decoder) => decoder.finish(),
            Self::Brotli(decoder) => decoder.close(),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }
}

/// Sink for unpacked bytes. It returns an error once a limit is exceeded, which stops the decoder.
struct UnpackSink {
    bytes: Vec<u8>,
    /// Capacity to reserve when the first bytes arrive.
    capacity: usize,
    /// Length of the whole body, if it is known.
    whole: usize,
    limits: BodyLimits,
    room: BodyRoom,
    /// Most memory that the body may take.
    most_bytes: usize,
    received: u64,
    stop: Option<Stop>,
}

#[derive(Clone, Copy)]
enum Stop {
    Full,
    Bomb,
    NoMemory,
}

impl Write for UnpackSink {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let allowed = self.limits.kept - self.bytes.len();
        let unpacked = (self.bytes.len() + piece.len()) as u64;
        if unpacked > RATIO_SLACK + self.received.saturating_mul(self.limits.ratio) {
            self.stop = Some(Stop::Bomb);
        } else if unpacked as usize > self.room.bytes && !self.room.try_grow_to(self.most_bytes) {
            self.stop = Some(Stop::NoMemory);
        } else if piece.len() > allowed {
            self.stop = Some(Stop::Full);
        }
        if !matches!(self.stop, Some(Stop::NoMemory)) {
            self.bytes.reserve(std::mem::take(&mut self.capacity));
            if unpacked as usize > FIRST_BYTES && self.whole > self.bytes.capacity() {
                // There is memory for all of it. Growing by doubling would leave behind as much as it takes.
                self.bytes.reserve_exact(self.whole + PACKED_HEAD_BYTES - self.bytes.len());
            }
            self.bytes.extend_from_slice(&piece[..piece.len().min(allowed)]);
        }
        match self.stop {
            None => Ok(piece.len()),
            Some(_) => Err(io::Error::other("a limit of the fetcher was reached")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
