//! Page bodies on the wire: a byte for the packing (0 none, 1 lz4), then the body, or its length in 4 little-endian bytes
//! and one lz4 block.

use std::borrow::Cow;

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all. For bodies that stay in memory.
    None,
    /// As one lz4 block.
    Lz4,
}

/// Bytes before a body that is not compressed.
pub const PACKED_HEAD_BYTES: usize = 1;

const NONE: u8 = 0;
const LZ4: u8 = 1;
const LENGTH_BYTES: usize = 4;

/// An lz4 block expands at most about 255 times, so a larger stated length is corrupt.
const MAX_RATIO: usize = 255;

/// Why a packed body cannot be unpacked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Too short to contain the length.
    #[error("a packed body of {0} bytes is too short; it starts with its length in 4 bytes")]
    TooShort(usize),
    /// Longer than the caller's limit.
    #[error("the body unpacks to {stated} bytes, more than the {limit} allowed; is the fetcher's limit higher?")]
    TooLong {
        /// The stated length, in bytes.
        stated: usize,
        /// The caller's limit, in bytes.
        limit: usize,
    },
    /// Not valid lz4.
    #[error("the packed body is corrupt: {0}")]
    Corrupt(String),
}

pub fn pack(body: &[u8], packing: Packing) -> Vec<u8> {
    match packing {
        Packing::None => [&[NONE], body].concat(),
        Packing::Lz4 => {
            let mut packed = vec![0; 1 + LENGTH_BYTES + lz4_flex::block::get_maximum_output_size(body.len())];
            packed[0] = LZ4;
            packed[1..=LENGTH_BYTES].copy_from_slice(&(body.len() as u32).to_le_bytes());
            let length = lz4_flex::block::compress_into(body, &mut packed[1 + LENGTH_BYTES..]);
            packed.truncate(1 + LENGTH_BYTES + length.expect("the buffer has room for the worst case"));
            packed
        }
    }
}

/// The same, without a second copy of a body that is not compressed and has [`PACKED_HEAD_BYTES`] of room.
pub fn pack_owned(body: Vec<u8>, packing: Packing) -> Vec<u8> {
    match packing {
        Packing::None => {
            let mut packed = body;
            packed.reserve_exact(PACKED_HEAD_BYTES);
            packed.insert(0, NONE);
            packed
        }
        Packing::Lz4 => pack(&body, packing),
    }
}

/// Unpacks a body of at most `limit` bytes. Longer bodies are rejected before any allocation.
pub fn unpack(packed: &[u8], limit: usize) -> Result<Cow<'_, [u8]>, BodyError> {
    let too_long = |stated| Err(BodyError::TooLong { stated, limit });
    let (length, block) = match packed.split_first() {
        Some((&NONE, body)) if body.len() > limit => return too_long(body.len()),
        Some((&NONE, body)) => return Ok(Cow::Borrowed(body)),
        Some((&LZ4, rest)) => rest.split_first_chunk::<LENGTH_BYTES>().ok_or(BodyError::TooShort(packed.len()))?,
        Some((other, _)) => return Err(BodyError::Corrupt(format!("{other} is no known packing"))),
        None => return Err(BodyError::TooShort(0)),
    };
    let stated = u32::from_le_bytes(*length) as usize;
    if stated > limit {
        return too_long(stated);
    }
    if stated > block.len().saturating_mul(MAX_RATIO) {
        return Err(BodyError::Corrupt(format!("{} bytes cannot unpack to {stated}", block.len())));
    }
    match lz4_flex::block::decompress(block, stated) {
        Ok(body) if body.len() == stated => Ok(Cow::Owned(body)),
        Ok(body) => Err(BodyError::Corrupt(format!("it unpacks to {} bytes instead of {stated}", body.len()))),
        Err(error) => Err(BodyError::Corrupt(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 1 << 16;

    const PACKINGS: [Packing; 2] = [Packing::None, Packing::Lz4];

    #[test]
    fn a_body_longer_than_the_limit_is_refused() {
        for packing in PACKINGS {
            let packed = pack(&vec![b'a'; 1_000_000], packing);
            assert_eq!(unpack(&packed, 999_999), Err(BodyError::TooLong { stated: 1_000_000, limit: 999_999 }));
            assert_eq!(unpack(&packed, 1_000_000).unwrap().len(), 1_000_000);
        }
    }

    #[test]
    fn the_most_compressible_body_is_not_taken_for_a_lie() {
        for length in [0, 1, 5, 300, 100_000, 8 << 20] {
            let body = vec![0; length];
            assert_eq!(unpack(&pack(&body, Packing::Lz4), length).unwrap(), body);
        }
    }

    #[test]
    fn a_length_that_the_block_cannot_reach_is_refused() {
        assert!(matches!(unpack(&[LZ4, 255, 255, 255, 0, 16, 0], usize::MAX), Err(BodyError::Corrupt(_))));
        assert_eq!(unpack(&[LZ4, 1, 0], LIMIT), Err(BodyError::TooShort(3)));
        assert_eq!(unpack(&[], LIMIT), Err(BodyError::TooShort(0)));
        assert!(matches!(unpack(&[2, 0], LIMIT), Err(BodyError::Corrupt(_))));
    }

    proptest! {
        #[test]
        fn a_body_round_trips(body in proptest::collection::vec(any::<u8>(), 0..3_000)) {
            for packing in PACKINGS {
                let packed = pack(&body, packing);
                prop_assert_eq!(&*unpack(&packed, LIMIT).unwrap(), &body[..]);
                prop_assert_eq!(pack_owned(body.clone(), packing), packed);
            }
        }

        #[test]
        fn no_bytes_panic_or_exceed_the_limit(packed in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(body) = unpack(&packed, LIMIT) {
                prop_assert!(body.len() <= LIMIT);
            }
        }
    }
}
