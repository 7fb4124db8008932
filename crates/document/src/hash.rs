//! The two hashes behind all stored state. Their bits are pinned: they are the same on every machine and in every
//! version. Neither is keyed, so pages can be made to collide on purpose; the only cost is a missed change of the page
//! itself.

/// splitmix64 (Steele, Lea & Flood 2014): a well-mixed permutation of 64-bit values.
#[inline(always)]
pub const fn splitmix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_bits_are_those_of_section_e1() {
        let check = |value, expected| assert_eq!(splitmix64(value), expected, "{value}");
        check(0, 0xe220_a839_7b1d_cdaf);
        check(1, 0x910a_2dec_8902_5cc1);
        check(2, 0x9758_35de_1c97_56ce);
        check(12_345_678_901_234_567, 0xbad6_664b_e58d_2ada);
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
