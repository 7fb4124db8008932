//! The numbers, lists and shingle sets of a state value as bytes, the same on every machine.

use crate::shingle::{MAX_SHINGLES, ShingleSet};
use thiserror::Error;

/// Why bytes could not be decoded as a state value of this crate.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum StateDecodeError {
    #[error("the state value is truncated; fetch the page again to make a new one")]
    TooShort,
    /// The bytes were written by a later version of this crate.
    #[error("the state value has version {0}, which this program does not know; was it downgraded?")]
    UnknownVersion(u8),
    /// The length of the bytes does not match the counts in them.
    #[error("the state value does not have the length it claims; fetch the page again to make a new one")]
    BadLength,
    #[error("the shingles in the state value are not sorted; fetch the page again to make a new one")]
    NotAscending,
}

const SET_VERSION: u8 = 1;
const SET_HEADER_BYTES: usize = 6;

impl ShingleSet {
    /// Appends the set to a state value: a version byte, a byte that is 1 when truncated, the count as u32, the hashes
    /// as u32, all little-endian. Evenly spread hashes do not compress, so they are stored as they are.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        out.reserve(SET_HEADER_BYTES + 4 * self.hashes.len());
        out.push(SET_VERSION);
        out.push(u8::from(self.truncated));
        let count = u32::try_from(self.hashes.len()).expect("a set has at most MAX_SHINGLES hashes");
        out.extend_from_slice(&count.to_le_bytes());
        for hash in &self.hashes {
            out.extend_from_slice(&hash.to_le_bytes());
        }
    }

    /// Decodes the bytes written by [`encode_into`](Self::encode_into); the slice must hold nothing else.
    pub fn decode(bytes: &[u8]) -> Result<Self, StateDecodeError> {
        let (header, body) = bytes.split_first_chunk::<SET_HEADER_BYTES>().ok_or(StateDecodeError::TooShort)?;
        let [version, truncated, count @ ..] = *header;
        if version != SET_VERSION {
            return Err(StateDecodeError::UnknownVersion(version));
        }
        let count = u32::from_le_bytes(count) as usize;
        let (words, rest) = body.as_chunks::<4>();
        if truncated > 1 || count > MAX_SHINGLES || words.len() != count || !rest.is_empty() {
            return Err(StateDecodeError::BadLength);
        }
        let hashes: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        if !hashes.is_sorted_by(|a, b| a < b) {
            return Err(StateDecodeError::NotAscending);
        }
        Ok(Self { hashes, truncated: truncated == 1 })
    }
}

/// Appends a list: a u32 count and its u64s.
pub(crate) fn put(out: &mut Vec<u8>, values: impl ExactSizeIterator<Item = u64>) {
    // Every list is bounded far below: a page has at most as many units as blocks and links.
    out.extend_from_slice(&u32::try_from(values.len()).expect("lists are bounded").to_le_bytes());
    values.for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// Takes `N` bytes from the front.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], StateDecodeError> {
    let (head, tail) = rest.split_first_chunk().ok_or(StateDecodeError::TooShort)?;
    *rest = tail;
    Ok(*head)
}

/// Takes this many bytes from the front.
pub(crate) fn take_bytes<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], StateDecodeError> {
    let (taken, after) = rest.split_at_checked(length).ok_or(StateDecodeError::TooShort)?;
    *rest = after;
    Ok(taken)
}

/// Takes a text from the front: its length as [`put_number`] writes it, and its bytes.
pub(crate) fn take_text(rest: &mut &[u8]) -> Result<String, StateDecodeError> {
    let length = usize::try_from(take_number(rest)?).map_err(|_| StateDecodeError::BadLength)?;
    let text = std::str::from_utf8(take_bytes(rest, length)?).map_err(|_| StateDecodeError::BadLength)?;
    Ok(text.to_owned())
}

/// Appends a number, seven bits a byte, the lowest first.
pub(crate) fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number written by [`put_number`] from the front.
pub(crate) fn take_number(rest: &mut &[u8]) -> Result<u64, StateDecodeError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = take(rest)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(StateDecodeError::BadLength)
}

/// Takes a list written by [`put`] from the front.
pub(crate) fn list<'a>(rest: &mut &'a [u8]) -> Result<impl Iterator<Item = u64> + use<'a>, StateDecodeError> {
    let count = u32::from_le_bytes(take(rest)?) as usize;
    let length = count.checked_mul(8).ok_or(StateDecodeError::BadLength)?;
    Ok(take_bytes(rest, length)?.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(elements: &[u32]) -> ShingleSet {
        ShingleSet::from_hashes(elements)
    }

    fn encoded_set(set: &ShingleSet) -> Vec<u8> {
        let mut bytes = Vec::new();
        set.encode_into(&mut bytes);
        bytes
    }

    #[test]
    fn the_bytes_of_a_set_are_pinned() {
        assert_eq!(encoded_set(&set(&[0x0102, 3])), *b"\x01\0\x02\0\0\0\x03\0\0\0\x02\x01\0\0");
    }

    #[test]
    fn bytes_that_are_no_set_are_refused() {
        let bytes = encoded_set(&set(&[1, 2, 3]));
        assert_eq!(ShingleSet::decode(&bytes[..3]), Err(StateDecodeError::TooShort));
        assert_eq!(ShingleSet::decode(&bytes[..bytes.len() - 1]), Err(StateDecodeError::BadLength));
        let mut other = bytes.clone();
        other[0] = 9;
        assert_eq!(ShingleSet::decode(&other), Err(StateDecodeError::UnknownVersion(9)));
        let mut other = bytes;
        other[SET_HEADER_BYTES..SET_HEADER_BYTES + 4].fill(0xff);
        assert_eq!(ShingleSet::decode(&other), Err(StateDecodeError::NotAscending));
    }

    proptest! {
        #[test]
        fn a_number_survives_its_bytes(value in any::<u64>(), shift in 0..64) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, value >> shift);
            prop_assert_eq!(take_number(&mut &bytes[..]), Ok(value >> shift));
        }

        #[test]
        fn a_set_survives_its_bytes(hashes in proptest::collection::vec(any::<u32>(), 0..5_000)) {
            let set = ShingleSet::from_hashes(&hashes);
            prop_assert_eq!(ShingleSet::decode(&encoded_set(&set)), Ok(set));
        }

        #[test]
        fn any_bytes_are_a_set_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(set) = ShingleSet::decode(&bytes) {
                prop_assert_eq!(encoded_set(&set), bytes);
            }
        }
    }
}
