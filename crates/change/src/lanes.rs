//! The same arithmetic on many values at once, as wide as the machine's registers are.
//!
//! The loops are written so that the compiler turns them into vector instructions. It may use only those that the
//! function it compiles is allowed to, so each loop is compiled three times and the widest that the processor has runs.

use crate::hash::{fnv1a64_step, splitmix64};

/// Values worked on side by side.
pub(crate) const LANES: usize = 32;

/// Compiles the body `$wide` for AVX-512, for AVX2 and for any processor, as the function `$name` that chooses.
macro_rules! at_full_width {
    ($(#[$documentation:meta])* $name:ident = $wide:ident($($argument:ident: $kind:ty),*)) => {
        $(#[$documentation])*
        pub(crate) fn $name($($argument: $kind),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
                fn with_avx512($($argument: $kind),*) {
                    $wide($($argument),*);
                }
                #[target_feature(enable = "avx2")]
                fn with_avx2($($argument: $kind),*) {
                    $wide($($argument),*);
                }
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                {
                    // SAFETY: a safe function but for the instructions it needs, which this processor has.
                    return unsafe { with_avx512($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: as above.
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            $wide($($argument),*);
        }
    };
}

at_full_width! {
    /// Takes up to eight bytes into each of the FNV-1a hashes: the `lengths[i]` lowest bytes of `bytes[i]`; a length
    /// above eight means all of them.
    fnv1a64_steps = fnv1a64_steps_wide(hashes: &mut [u64; LANES], bytes: &[u64; LANES], lengths: &[u64; LANES])
}

at_full_width! {
    /// splitmix64 of every value.
    splitmix64_each = splitmix64_each_wide(values: &mut [u64])
}

#[inline(always)]
fn fnv1a64_steps_wide(hashes: &mut [u64; LANES], bytes: &[u64; LANES], lengths: &[u64; LANES]) {
    for lane in 0..LANES {
        let mut hash = hashes[lane];
        for place in 0..8 {
            let next = fnv1a64_step(hash, bytes[lane] >> (8 * place) & 0xff);
            hash = if lengths[lane] > place { next } else { hash };
        }
        hashes[lane] = hash;
    }
}

#[inline(always)]
fn splitmix64_each_wide(values: &mut [u64]) {
    for value in values {
        *value = splitmix64(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{FNV_START, fnv1a64};

    #[test]
    fn every_width_gives_the_same() {
        let bytes: [u64; LANES] = std::array::from_fn(|lane| splitmix64(lane as u64));
        let lengths: [u64; LANES] = std::array::from_fn(|lane| lane as u64 % 11);
        let mut hashes = [FNV_START; LANES];
        fnv1a64_steps(&mut hashes, &bytes, &lengths);
        let mut portable = [FNV_START; LANES];
        fnv1a64_steps_wide(&mut portable, &bytes, &lengths);
        for lane in 0..LANES {
            let expected = fnv1a64(&bytes[lane].to_le_bytes()[..(lengths[lane] as usize).min(8)]);
            assert_eq!((hashes[lane], portable[lane]), (expected, expected), "lane {lane}");
        }
        let mut values: Vec<u64> = (0..100).collect();
        splitmix64_each(&mut values);
        assert_eq!(values, (0..100).map(splitmix64).collect::<Vec<_>>());
    }
}
