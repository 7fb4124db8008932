//! A version as its difference from the next newer one: a Zstandard frame that has the newer version as its prefix
//! (RFC 8878; `zstd --patch-from` writes the same).

use zstd::zstd_safe::{CCtx, CParameter, DCtx, DParameter, compress_bound, get_error_name, get_frame_content_size};

/// Level 9 finds what moved within a page.
const LEVEL: i32 = 9;
/// A window of 2^27 bytes holds two copies of the largest size.
const MAX_WINDOW_LOG: u32 = 27;
const MIN_WINDOW_LOG: u32 = 10;
/// From this length of both versions on, the tables of a level do not reach back to the beginning of the newer one.
const LONG_BYTES: usize = 1 << 20;

/// Packs a version. `newer` is the next version, or empty where that is not stored.
pub(crate) fn pack(version: &[u8], newer: &[u8]) -> Result<Vec<u8>, String> {
    let mut context = CCtx::create();
    // The window reaches from the end of the version back to the beginning of the newer one.
    let length = version.len() + newer.len();
    let reach = length.max(1).ilog2() + 1;
    let window = CParameter::WindowLog(reach.clamp(MIN_WINDOW_LOG, MAX_WINDOW_LOG));
    context.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(failure)?;
    context.set_parameter(window).map_err(failure)?;
    // Read by another version than it was packed by, it would be another text.
    context.set_parameter(CParameter::ChecksumFlag(true)).map_err(failure)?;
    context.set_parameter(CParameter::EnableLongDistanceMatching(length >= LONG_BYTES)).map_err(failure)?;
    context.ref_prefix(newer).map_err(failure)?;
    let mut packed = Vec::with_capacity(compress_bound(version.len()));
    context.compress2(&mut packed, version).map_err(failure)?;
    packed.shrink_to_fit();
    Ok(packed)
}

/// Unpacks a version of at most `limit` bytes.
pub(crate) fn unpack(packed: &[u8], newer: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let length = get_frame_content_size(packed).map_err(|_| "it is no Zstandard frame".to_owned())?;
    let length = length.and_then(|length| usize::try_from(length).ok()).filter(|length| *length <= limit);
    let length = length.ok_or("it does not say its length, or is longer than it may be")?;
    let mut context = DCtx::create();
    context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(failure)?;
    context.ref_prefix(newer).map_err(failure)?;
    let mut version = Vec::with_capacity(length);
    context.decompress(&mut version, packed).map_err(failure)?;
    Ok(version)
}

fn failure(code: usize) -> String {
    get_error_name(code).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 1 << 16;

    /// A page of sentences, of which one has this number.
    fn page(number: usize) -> Vec<u8> {
        let sentences = (0..400).map(|line| format!("Sentence {} stands on line {line}.\n", line * 7919 % 1_000));
        sentences.chain([format!("The price is {number}.")]).collect::<String>().into_bytes()
    }

    #[test]
    fn an_edit_takes_a_few_bytes() {
        let (old, new) = (page(20), page(19));
        let packed = pack(&old, &new).unwrap();
        assert!(packed.len() < 60, "{} bytes of {}", packed.len(), old.len());
        assert_eq!(unpack(&packed, &new, LIMIT).unwrap(), old);
    }

    #[test]
    fn the_largest_copies_differ_by_their_edit_alone() {
        // Noise repeats nothing, so all that can be left out is what the other version has.
        let mut old: Vec<u8> = (0..7_u64 << 17).flat_map(|word| chance::splitmix64(word).to_le_bytes()).collect();
        let new = old.clone();
        old.splice(1_000..1_010, *b"an edit");
        let packed = pack(&old, &new).unwrap();
        assert!(packed.len() < 4_000, "{} bytes of {}", packed.len(), old.len());
        assert_eq!(unpack(&packed, &new, old.len()).unwrap(), old);
    }

    #[test]
    fn a_version_is_not_read_by_another_than_it_was_packed_by() {
        let packed = pack(&page(20), &page(19)).unwrap();
        let other: Vec<u8> = page(19).into_iter().rev().collect();
        assert!(unpack(&packed, &other, LIMIT).is_err());
    }

    #[test]
    fn a_version_longer_than_the_limit_is_refused() {
        let packed = pack(&page(1), b"").unwrap();
        assert_eq!(unpack(&packed, b"", page(1).len()).unwrap(), page(1));
        assert!(unpack(&packed, b"", page(1).len() - 1).is_err());
    }

    proptest! {
        #[test]
        fn a_version_comes_back(old in prop::collection::vec(any::<u8>(), 0..2_000), new in prop::collection::vec(any::<u8>(), 0..2_000)) {
            let packed = pack(&old, &new).unwrap();
            prop_assert_eq!(unpack(&packed, &new, LIMIT).unwrap(), old);
        }

        #[test]
        fn no_bytes_panic_or_exceed_the_limit(packed in prop::collection::vec(any::<u8>(), 0..400), newer in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(version) = unpack(&packed, &newer, LIMIT) {
                prop_assert!(version.len() <= LIMIT);
            }
        }
    }
}
