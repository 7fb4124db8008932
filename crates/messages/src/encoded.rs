//! What a topic or a store needs to know of a value.

use crate::DecodeError;
use crate::schemas::SchemaRecord;

/// A value that has bytes of its own.
///
/// Every [`Message`](crate::Message) is one, and so can be values that are not Avro. A table or an output asks for no
/// more than this.
pub trait Encoded: Sized {
    /// Appends the bytes of the value.
    fn encode_into(&self, bytes: &mut Vec<u8>);

    /// The bytes of the value.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        self.encode_into(&mut bytes);
        bytes
    }

    /// Reads what [`encode_into`](Self::encode_into) wrote; messages also as other versions wrote them, if those are known.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// The schemas that values are written with. Readers must be told of them before the first value. Empty when the
    /// bytes follow no schema.
    fn schemas() -> Vec<SchemaRecord> {
        Vec::new()
    }
}

/// Bytes as they are.
impl Encoded for Vec<u8> {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(bytes.to_vec())
    }
}
