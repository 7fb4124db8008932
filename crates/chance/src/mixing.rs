//! Permutations and hashes.

/// The golden ratio as a fraction of 2^64.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): a well-mixed permutation of 64-bit values.
#[inline(always)]
pub const fn splitmix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fibonacci hashing (Knuth, TAOCP 3, 6.4): neighbours come far apart in the highest bits. The lowest bits are not mixed.
pub const fn spread(number: u64) -> u64 {
    number.wrapping_mul(GOLDEN)
}

/// [`spread`] over 32 bits.
pub const fn spread_32(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1)
}

/// [`spread`] over 128 bits.
pub const fn spread_128(number: u128) -> u128 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// FNV-1a, begun otherwise for each salt; 0 is the published one.
pub fn fnv1a(salt: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325 ^ spread(salt), step)
}

/// [`fnv1a`] and a finisher that mixes all bits.
pub fn salted_hash(salt: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mut hash = fnv1a(salt, bytes);
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_numbers_are_those_of_stored_state() {
        let expected = [0xe220_a839_7b1d_cdaf, 0x910a_2dec_8902_5cc1, 0x9758_35de_1c97_56ce, 0xe4d9_7177_1b65_2c20];
        assert_eq!([0, 1, 2, u64::MAX].map(splitmix64), expected);
        assert_eq!(splitmix64(12_345_678_901_234_567), 0xbad6_664b_e58d_2ada);
    }

    #[test]
    fn spread_numbers_are_those_of_stored_state() {
        assert_eq!([1, 12_345].map(spread), [0x9e37_79b9_7f4a_7c15, 0xa12c_e22b_4ed9_90ad]);
        assert_eq!([1, 12_345].map(spread_32), [2_654_435_761, 0xa12b_4869]);
        let expected = [0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835, 0xa12c_e22b_4ed9_be90_a1f8_e6e1_467b_83cd];
        assert_eq!([1, 12_345].map(spread_128), expected);
    }

    #[test]
    fn texts_have_the_hashes_of_stored_state() {
        // The published ones of FNV-1a.
        let expected = [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8];
        assert_eq!(["", "a", "foobar"].map(|text| fnv1a(0, text.bytes())), expected);
        let check = |salt, text: &[u8], expected| assert_eq!(salted_hash(salt, text.iter().copied()), expected);
        check(0, b"a.test/b", 0x6a2e_4d0b_4171_2d35);
        check(7, b"a.test/b", 0x5c45_3e92_0633_ad46);
        check(0, b"a.test\xff\xff", 0xebf7_aea6_8251_8a21);
        check(1, b"a.test\xff", 0x8d01_9170_14fb_881a);
        check(7, b"a.test\xffindex\xff", 0x2291_2555_6e62_7c7b);
    }
}
