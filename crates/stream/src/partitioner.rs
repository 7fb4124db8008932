//! Maps keys to partitions like Kafka (murmur2), so that Java clients and both of our logs agree.

/// Partition of a key among `partitions`, as computed by Kafka's default partitioner and librdkafka's `murmur2_random`.
///
/// # Panics
/// If `partitions` is zero.
pub fn partition_for(key: &[u8], partitions: u32) -> u32 {
    (murmur2(key) & 0x7fff_ffff) % partitions
}

/// A key that leads to a partition, for records about the partition itself. `partition` must be below `partitions`.
pub fn key_for(partition: u32, partitions: u32) -> String {
    // One number of as many as there are partitions fits, on average.
    let mut keys = (0_u64..).map(|number| format!("partition-{number}"));
    keys.find(|key| partition_for(key.as_bytes(), partitions) == partition).unwrap_or_default()
}

/// MurmurHash2, 32 bits, with Kafka's seed.
fn murmur2(data: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    const R: u32 = 24;
    let mut hash = 0x9747_b28c_u32 ^ data.len() as u32;
    let mut chunks = data.chunks_exact(4);
    for chunk in &mut chunks {
        let mut word = u32::from_le_bytes(chunk.try_into().expect("chunks_exact gives four bytes")).wrapping_mul(M);
        word ^= word >> R;
        hash = hash.wrapping_mul(M) ^ word.wrapping_mul(M);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        for (index, &byte) in rest.iter().enumerate() {
            hash ^= u32::from(byte) << (8 * index);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_hash_as_in_kafkas_own_test() {
        // org.apache.kafka.common.utils.UtilsTest.testMurmur2
        let check = |text: &str, expected: i32| assert_eq!(murmur2(text.as_bytes()) as i32, expected, "{text}");
        check("21", -973_932_308);
        check("foobar", -790_332_482);
        check("a-little-bit-long-string", -985_981_536);
        check("a-little-bit-longer-string", -1_486_304_829);
        check("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971);
        check("abc", 479_470_107);
    }
}
