//! Unpacks gzip (RFC 1952) and deflate (RFC 1950 and RFC 1951) as they arrive, as leniently as browsers and curl do.
//!
//! A gzip body is all its members. A member whose data are whole is whole without its check sum and length, which some
//! servers leave out; those that are there must be right. Data that end where the sender flushed lack nothing but the
//! mark of their end. Bytes behind the last member are ignored.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::io::{self, ErrorKind, Write};

/// Bytes unpacked at once.
const PIECE_BYTES: usize = 32 << 10;
/// The first bytes of every gzip member, with the only method that there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
/// Bytes of a gzip head before its optional parts.
const HEAD_BYTES: usize = 10;
/// Bytes of check sum and length behind a gzip member.
const TRAILER_BYTES: usize = 8;
/// The end of data that were flushed: the length of an empty block, and its complement.
const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];

/// How the deflated data are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapping {
    Gzip,
    /// The coding `deflate`: zlib's head and check sum by the standard, and neither as some servers send it.
    ZlibOrNone,
}

/// Hands what it unpacks to `sink`.
pub(super) struct Inflater<W> {
    pub(super) sink: W,
    wrapping: Wrapping,
    at: At,
    /// Bytes of the part at hand that are not judged yet: of a head or a trailer.
    held: Vec<u8>,
    data: Decompress,
    unpacked: Vec<u8>,
    sum: Crc,
    /// The last bytes of packed data.
    last: [u8; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// The head of the first member.
    Head,
    Data,
    Trailer,
    /// Behind a member: the next one, or bytes that are ignored.
    Between,
    /// Optional parts of a gzip head: the flags of those that are still to come.
    Options(u8),
    /// The end. The rest is ignored.
    End,
}

/// Flags of a gzip head, in the order of its optional parts. The rest of the flags are reserved or mean nothing.
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const HEAD_SUM: u8 = 2;

impl<W: Write> Inflater<W> {
    pub(super) fn new(sink: W, wrapping: Wrapping) -> Self {
        Self {
            sink,
            wrapping,
            at: At::Head,
            held: Vec::new(),
            data: Decompress::new(false),
            unpacked: Vec::with_capacity(PIECE_BYTES),
            sum: Crc::new(),
            last: [0; 4],
        }
    }

    /// Takes the next bytes of the body. Returns how many; 0 once the packed stream has ended.
    pub(super) fn write(&mut self, slice: &[u8]) -> io::Result<usize> {
        match self.at {
            At::Head if self.wrapping == Wrapping::Gzip => self.head(slice),
            At::Head => self.zlib_head(slice),
            At::Options(flags) => Ok(self.options(flags, slice)),
            At::Data => self.data(slice),
            At::Trailer => self.trailer(slice),
            At::Between => Ok(self.between(slice)),
            At::End => Ok(0),
        }
    }

    /// Ends the body. Fails if data are missing.
    pub(super) fn finish(&self) -> io::Result<()> {
        match self.at {
            At::Data if self.last == FLUSHED => Ok(()),
            // One byte may be the start of anything, and has no data.
            At::Head if self.wrapping == Wrapping::ZlibOrNone => Ok(()),
            At::Head | At::Options(_) | At::Data => {
                Err(io::Error::new(ErrorKind::UnexpectedEof, "the packed data end too early"))
            }
            At::Trailer | At::Between | At::End => Ok(()),
        }
    }

    /// Moves bytes to those held until there are `wanted`.
    fn hold(&mut self, slice: &[u8], wanted: usize) -> usize {
        let taken = slice.len().min(wanted - self.held.len());
        self.held.extend_from_slice(&slice[..taken]);
        taken
    }

    fn head(&mut self, slice: &[u8]) -> io::Result<usize> {
        let taken = self.hold(slice, HEAD_BYTES);
        let known = self.held.len().min(MAGIC.len());
        if self.held[..known] != MAGIC[..known] {
            return Err(io::Error::new(ErrorKind::InvalidData, "it does not begin as gzip does"));
        }
        if self.held.len() == HEAD_BYTES {
            self.at = At::Options(self.held[3] & (EXTRA | NAME | COMMENT | HEAD_SUM));
            self.held.clear();
            self.skip_absent_options();
        }
        Ok(taken)
    }

    fn skip_absent_options(&mut self) {
        if self.at == At::Options(0) {
            self.begin_data();
        }
    }

    fn begin_data(&mut self) {
        (self.at, self.last) = (At::Data, [0; 4]);
        self.held.clear();
        self.data.reset(false);
        self.sum.reset();
    }

    /// Takes bytes of the first optional part that is still to come.
    fn options(&mut self, flags: u8, slice: &[u8]) -> usize {
        let (part, taken, has_ended) = if flags & EXTRA != 0 {
            let mut taken = 0;
            if self.held.len() < 2 {
                taken = self.hold(slice, 2);
            }
            // Its length is within its first two bytes, and counts down there.
            let mut left =
                self.held.get(..2).map_or(usize::MAX, |two| usize::from(u16::from_le_bytes([two[0], two[1]])));
            if self.held.len() == 2 {
                let skipped = left.min(slice.len() - taken);
                (taken, left) = (taken + skipped, left - skipped);
                self.held.copy_from_slice(&u16::try_from(left).unwrap_or(u16::MAX).to_le_bytes());
            }
            (EXTRA, taken, left == 0)
        } else if flags & (NAME | COMMENT) != 0 {
            let part = if flags & NAME != 0 { NAME } else { COMMENT };
            let end = memchr::memchr(0, slice);
            (part, end.map_or(slice.len(), |end| end + 1), end.is_some())
        } else {
            let taken = self.hold(slice, 2);
            (HEAD_SUM, taken, self.held.len() == 2)
        };
        if has_ended {
            self.held.clear();
            self.at = At::Options(flags & !part);
            self.skip_absent_options();
        }
        taken
    }

    /// Decides which of the coding's two forms it is by their first two bytes, as browsers do.
    fn zlib_head(&mut self, slice: &[u8]) -> io::Result<usize> {
        let taken = self.hold(slice, 2);
        if let [first, second] = self.held[..] {
            let is_zlib = first & 0x0f == 8
                && first >> 4 <= 7
                && u16::from_be_bytes([first, second]).is_multiple_of(31)
                && second & 0x20 == 0;
            self.begin_data();
            if !is_zlib {
                let mut rest = &[first, second][..];
                while !rest.is_empty() && self.at == At::Data {
                    rest = &rest[self.data(rest)?..];
                }
            }
        }
        Ok(taken)
    }

    fn data(&mut self, slice: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        loop {
            let (before, rest) = (self.data.total_in(), &slice[taken..]);
            self.unpacked.clear();
            let status = self.data.decompress_vec(rest, &mut self.unpacked, FlushDecompress::None);
            let status = status.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            let read = (self.data.total_in() - before) as usize;
            taken += read;
            self.note_last(&rest[..read]);
            self.sum.update(&self.unpacked);
            self.sink.write_all(&self.unpacked)?;
            if status == Status::StreamEnd {
                self.at = if self.wrapping == Wrapping::Gzip { At::Trailer } else { At::End };
                return Ok(taken);
            }
            // Some of what was read before may still come out.
            if read == 0 && self.unpacked.is_empty() {
                let is_stuck = taken < slice.len();
                let stuck = || io::Error::new(ErrorKind::InvalidData, "the packed data cannot be read on");
                return if is_stuck { Err(stuck()) } else { Ok(taken) };
            }
        }
    }

    fn note_last(&mut self, read: &[u8]) {
        let kept = read.len().min(self.last.len());
        self.last.rotate_left(kept);
        let start = self.last.len() - kept;
        self.last[start..].copy_from_slice(&read[read.len() - kept..]);
    }

    fn trailer(&mut self, slice: &[u8]) -> io::Result<usize> {
        let taken = self.hold(slice, TRAILER_BYTES);
        if let [s0, s1, s2, s3, l0, l1, l2, l3] = self.held[..] {
            let (sum, length) = (u32::from_le_bytes([s0, s1, s2, s3]), u32::from_le_bytes([l0, l1, l2, l3]));
            if (sum, length) != (self.sum.sum(), self.sum.amount()) {
                return Err(io::Error::new(ErrorKind::InvalidData, "the check sum of the data is another"));
            }
            self.held.clear();
            self.at = At::Between;
        }
        Ok(taken)
    }

    /// Noughts may fill up the end of a member.
    fn between(&mut self, slice: &[u8]) -> usize {
        if self.held.is_empty()
            && let noughts @ 1.. = slice.iter().take_while(|byte| **byte == 0).count()
        {
            return noughts;
        }
        let taken = self.hold(slice, MAGIC.len());
        if self.held[..] != MAGIC[..self.held.len()] {
            self.at = At::End;
        } else if self.held.len() == MAGIC.len() {
            self.at = At::Head;
        }
        taken
    }
}
