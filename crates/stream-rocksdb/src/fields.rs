//! Parses stored bytes. Integers are big-endian.

use page::Timestamp;

/// Bytes to parse from the front. Methods return `None` if too few are left.
pub(crate) struct ByteFields<'a>(pub(crate) &'a [u8]);

impl<'a> ByteFields<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn timestamp(&mut self) -> Option<Timestamp> {
        self.array().map(i64::from_be_bytes).map(Timestamp::from_micros)
    }

    pub(crate) fn optional(&mut self) -> Option<Option<u64>> {
        let there = self.u8()?;
        let number = self.u64()?;
        (there <= 1).then_some((there == 1).then_some(number))
    }

    /// The value, if no bytes are left over.
    pub(crate) fn finished<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}
