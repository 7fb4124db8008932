//! Serialization of states and changes: hashes as signed integers, rows of numbers as little-endian bytes.

/// For fields: a hash as the signed 64-bit integer with the same bits, because Avro has no unsigned one.
pub(crate) mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(hash.cast_signed())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        i64::deserialize(deserializer).map(i64::cast_unsigned)
    }
}

/// For fields: a count as the signed 32-bit integer with the same bits.
pub(crate) mod bits32 {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(count: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(count.cast_signed())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        i32::deserialize(deserializer).map(i32::cast_unsigned)
    }
}

/// For fields: 4-byte numbers.
pub(crate) mod f32s {
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(numbers: &impl AsRef<[f32]>, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = numbers.as_ref().iter().flat_map(|number| number.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, N: TryFrom<Vec<f32>>>(deserializer: D) -> Result<N, D::Error> {
        let bytes: Vec<u8> = serde_bytes::deserialize(deserializer)?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let count = numbers.len();
        match numbers.try_into() {
            Ok(numbers) if rest.is_empty() => Ok(numbers),
            _ => Err(D::Error::invalid_length(count, &"as many numbers as there are levels")),
        }
    }
}

/// For fields: 8-byte numbers.
pub(crate) mod f64s {
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer, const N: usize>(
        numbers: &[f64; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[f64; N], D::Error> {
        let bytes: Vec<u8> = serde_bytes::deserialize(deserializer)?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        let count = numbers.len();
        match numbers.try_into() {
            Ok(numbers) if rest.is_empty() => Ok(numbers),
            _ => Err(D::Error::invalid_length(count, &"as many numbers as there are levels")),
        }
    }
}
