//! Records of any bytes, for stages that know no message.

use wire::{DecodeError, Encoded, KeyKind, Keyed};

/// A test record without a message type: any key, any value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// Record key.
    pub key: Vec<u8>,
    /// Record value.
    pub value: Vec<u8>,
}

impl RawRecord {
    /// A record with this key and value.
    pub fn new(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

impl Encoded for RawRecord {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.value);
    }

    /// The key is not part of the value.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self::new([], bytes))
    }
}

impl Keyed for RawRecord {
    const KEY: KeyKind = KeyKind::Original;

    fn key(&self) -> Vec<u8> {
        self.key.clone()
    }
}
