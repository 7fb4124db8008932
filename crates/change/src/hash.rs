//! The two hashes that everything stored here is made of. Their bits are pinned: they are the same on every machine and
//! in every version. Neither is keyed, so pages can be made to collide on purpose; that costs their owner a change not
//! noticed.

/// splitmix64 (Steele, Lea & Flood 2014): a well-mixed permutation of 64-bit values.
#[inline(always)]
pub const fn splitmix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits, of a sequence of bytes.
#[inline]
pub const fn fnv1a64(bytes: &[u8]) -> u64 {
    let mut hash = FNV_START;
    let mut index = 0;
    while index < bytes.len() {
        hash = fnv1a64_step(hash, bytes[index] as u64);
        index += 1;
    }
    hash
}

/// FNV-1a of no bytes.
pub(crate) const FNV_START: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a of one byte more.
#[inline(always)]
pub(crate) const fn fnv1a64_step(hash: u64, byte: u64) -> u64 {
    (hash ^ byte).wrapping_mul(0x0000_0100_0000_01B3)
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
        let check = |text: &str, expected| assert_eq!(fnv1a64(text.as_bytes()), expected, "{text}");
        check("", 0xcbf2_9ce4_8422_2325);
        check("a", 0xaf63_dc4c_8601_ec8c);
        check("rose", 0xa3b3_ec1f_f114_df66);
        check("网页", 0x2f24_a278_03ff_0001);
    }
}
