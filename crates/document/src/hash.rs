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

/// FNV-1a of each text. One by one, every byte would wait for the one before it; four texts side by side do not wait for each
/// other.
pub fn fnv1a64_of_each(texts: &[&[u8]]) -> Vec<u64> {
    let mut hashes = vec![FNV_START; texts.len()];
    let mut waiting = texts.iter().copied().enumerate().filter(|(_, text)| !text.is_empty());
    let mut lanes: [(usize, &[u8], u64); 4] = Default::default();
    loop {
        for (index, rest, hash) in &mut lanes {
            if rest.is_empty()
                && let Some((next, text)) = waiting.next()
            {
                (*index, *rest, *hash) = (next, text, FNV_START);
            }
        }
        let common = lanes.iter().map(|(_, rest, _)| rest.len()).min().unwrap_or_default();
        if common == 0 {
            break;
        }
        let [one, two, three, four] = lanes.each_mut();
        let heads = [one.1, two.1, three.1, four.1].map(|rest| rest[..common].iter());
        let mut states = [one.2, two.2, three.2, four.2];
        let [first, second, third, fourth] = heads;
        for (((one, two), three), four) in first.zip(second).zip(third).zip(fourth) {
            for (state, &byte) in states.iter_mut().zip([one, two, three, four]) {
                *state = fnv1a64_step(*state, byte.into());
            }
        }
        for ((index, rest, hash), state) in [one, two, three, four].into_iter().zip(states) {
            (*rest, *hash) = (&rest[common..], state);
            hashes[*index] = state;
        }
    }
    // Fewer than four are left.
    for (index, rest, hash) in lanes.into_iter().filter(|(_, rest, _)| !rest.is_empty()) {
        hashes[index] = rest.iter().fold(hash, |hash, &byte| fnv1a64_step(hash, byte.into()));
    }
    hashes
}

/// FNV-1a of no bytes.
pub const FNV_START: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a of one byte more.
#[inline(always)]
pub const fn fnv1a64_step(hash: u64, byte: u64) -> u64 {
    (hash ^ byte).wrapping_mul(0x0000_0100_0000_01B3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn side_by_side_is_one_by_one(texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..12)) {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let expected: Vec<u64> = texts.iter().map(|text| fnv1a64(text)).collect();
            prop_assert_eq!(fnv1a64_of_each(&texts), expected);
        }
    }

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
