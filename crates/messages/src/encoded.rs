//! What a topic or a store needs to know of a value.

use crate::DecodeError;
use crate::schemas::SchemaRecord;

/// A value that has bytes of its own.
///
/// Every [`Message`](crate::Message) is one, and so can be values that are not Avro. A table or an output asks for no
/// more than this.
pub trait Encoded: Sized {
    /// The bytes of the value.
    fn encode(&self) -> Vec<u8>;

    /// Reads what [`encode`](Self::encode) wrote.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// The schemas that values are written with. Readers must be told of them before the first value. Empty when the
    /// bytes follow no schema.
    fn schemas() -> Vec<SchemaRecord> {
        Vec::new()
    }
}
