//! The hashes behind all stored state. Their bits are pinned: they are the same on every machine and in every
//! version. None is keyed, so pages can be made to collide on purpose; the only cost is a missed change of the page
//! itself.

use chance::splitmix64;

/// A hash of a text. It starts from the length and mixes in eight bytes at a time with [`splitmix64`], the last ones
/// padded with zeros. A word takes one round or two.
#[inline]
pub const fn text_hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut rest = bytes;
    while let Some((eight, behind)) = rest.split_first_chunk() {
        hash = splitmix64(hash ^ u64::from_le_bytes(*eight));
        rest = behind;
    }
    if rest.is_empty() {
        return hash;
    }
    let (mut last, mut place) = (0, rest.len());
    while place > 0 {
        place -= 1;
        last = last << 8 | rest[place] as u64;
    }
    splitmix64(hash ^ last)
}

/// A hash of a text that is usually longer than a word, for which [`text_hash`] waits for one round after the other. Each
/// 16 bytes take one wide multiplication, folded as in wyhash.
#[inline]
pub fn passage_hash(bytes: &[u8]) -> u64 {
    let mut hash = splitmix64(bytes.len() as u64);
    let mut rest = bytes;
    while let Some((sixteen, behind)) = rest.split_first_chunk::<16>() {
        let number = u128::from_le_bytes(*sixteen);
        hash = folded(hash, number as u64, (number >> 64) as u64);
        rest = behind;
    }
    let [first, last] = ends(rest);
    splitmix64(folded(hash, first, last))
}

#[inline]
fn folded(hash: u64, one: u64, other: u64) -> u64 {
    const ODD: u64 = 0xE703_7ED1_A0B4_28DB;
    let product = u128::from(hash ^ one) * u128::from(ODD ^ other);
    product as u64 ^ (product >> 64) as u64
}

/// All of less than 16 bytes, in two numbers that may overlap.
#[inline]
fn ends(bytes: &[u8]) -> [u64; 2] {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return [u64::from_le_bytes(*first), u64::from_le_bytes(*last)];
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
    }
    [bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)), 0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bits_of_a_passage_are_pinned() {
        let check = |text: &str, expected| assert_eq!(passage_hash(text.as_bytes()), expected, "{text}");
        check("", 0x5e8f_027c_bad7_8a66);
        check("a", 0xabc7_7b8d_c3b3_490f);
        check("a rose", 0xcd94_62e4_684c_6359);
        check("a rose is a", 0xd67a_cd6a_34d8_1062);
        check("a rose is a rose", 0xcb8a_0614_d043_085f);
        check("a rose is a rose is a rose", 0x1f86_311d_13a4_45a0);
    }

    proptest! {
        #[test]
        fn passages_differ_by_every_bit_and_by_their_length(
            bytes in proptest::collection::vec(any::<u8>(), 1..70), place in any::<proptest::sample::Index>(), bit in 0..8_u32
        ) {
            let (mut other, mut longer) = (bytes.clone(), bytes.clone());
            other[place.index(bytes.len())] ^= 1 << bit;
            longer.push(0);
            for different in [&other, &longer, &bytes[..bytes.len() - 1]] {
                prop_assert_ne!(passage_hash(&bytes), passage_hash(different));
            }
        }
    }

    #[test]
    fn texts_differ_by_every_byte_and_by_their_length() {
        let texts = ["", "\0", "\0\0", "a", "a\0", "rose", "roses are", "roses arf", "网页", "12345678", "12345678\0"];
        let mut hashes: Vec<u64> = texts.iter().map(|text| text_hash(text.as_bytes())).collect();
        assert_eq!(hashes[3], splitmix64(1 ^ u64::from(b'a')));
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), texts.len());
    }
}
