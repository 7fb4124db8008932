//! The encoding of values on topics and in stores.

use crate::DecodeError;
use crate::schema_record::SchemaRecord;

/// A value with an encoding.
///
/// Every [`Message`](crate::Message) has one, and so may values that are not Avro. Tables and outputs require only
/// this.
pub trait Encoded: Sized {
    /// Appends the encoded value.
    fn encode_into(&self, bytes: &mut Vec<u8>);

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        self.encode_into(&mut bytes);
        bytes
    }

    /// Decodes the output of [`encode_into`](Self::encode_into). Messages also accept other versions with a known
    /// schema.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// Schemas of the values. They must be published to readers before the first value. Empty without a schema.
    fn schemas() -> Vec<SchemaRecord> {
        Vec::new()
    }
}

/// Bytes are encoded as they are.
impl Encoded for Vec<u8> {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(bytes.to_vec())
    }
}
