//! Page bodies on the wire: the length in 4 little-endian bytes, then one lz4 block.

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

/// Packs a body.
pub fn compress(body: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress_prepend_size(body)
}

/// Unpacks a body of at most `limit` bytes. Longer bodies are rejected before any allocation.
pub fn decompress(packed: &[u8], limit: usize) -> Result<Vec<u8>, BodyError> {
    let Some((length, block)) = packed.split_first_chunk::<4>() else {
        return Err(BodyError::TooShort(packed.len()));
    };
    let stated = u32::from_le_bytes(*length) as usize;
    if stated > limit {
        return Err(BodyError::TooLong { stated, limit });
    }
    if stated > block.len().saturating_mul(MAX_RATIO) {
        return Err(BodyError::Corrupt(format!("{} bytes cannot unpack to {stated}", block.len())));
    }
    match lz4_flex::block::decompress(block, stated) {
        Ok(body) if body.len() == stated => Ok(body),
        Ok(body) => Err(BodyError::Corrupt(format!("it unpacks to {} bytes instead of {stated}", body.len()))),
        Err(error) => Err(BodyError::Corrupt(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 1 << 16;

    #[test]
    fn a_body_longer_than_the_limit_is_refused() {
        let packed = compress(&vec![b'a'; 1_000_000]);
        assert_eq!(decompress(&packed, 999_999), Err(BodyError::TooLong { stated: 1_000_000, limit: 999_999 }));
        assert_eq!(decompress(&packed, 1_000_000).unwrap().len(), 1_000_000);
    }

    #[test]
    fn the_most_compressible_body_is_not_taken_for_a_lie() {
        for length in [0, 1, 5, 300, 100_000, 8 << 20] {
            let body = vec![0; length];
            assert_eq!(decompress(&compress(&body), length), Ok(body));
        }
    }

    #[test]
    fn a_length_that_the_block_cannot_reach_is_refused() {
        assert!(matches!(decompress(&[255, 255, 255, 0, 16, 0], usize::MAX), Err(BodyError::Corrupt(_))));
        assert_eq!(decompress(&[1, 0], LIMIT), Err(BodyError::TooShort(2)));
    }

    proptest! {
        #[test]
        fn a_body_round_trips(body in proptest::collection::vec(any::<u8>(), 0..3_000)) {
            prop_assert_eq!(decompress(&compress(&body), LIMIT), Ok(body));
        }

        #[test]
        fn no_bytes_panic_or_exceed_the_limit(packed in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(body) = decompress(&packed, LIMIT) {
                prop_assert!(body.len() <= LIMIT);
            }
        }
    }
}
