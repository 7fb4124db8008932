//! Decodes records of a topic for readers from outside the loop.

use messages::{DecodeError, Message, PageRemoval, SeedFailure};
use stream::InputRecord;

/// A record as a reader sees it: a message, nothing for the reader, or one that cannot be read yet.
pub enum DecodedRecord<M> {
    Message(M),
    /// A tombstone or a foreign record. A foreign record is reported; both are skipped.
    Nothing,
    /// A record of another version, readable once its schema has arrived.
    Awaits(String),
}

/// Reads a record of a topic of these messages.
pub fn decode<M: Message>(record: &InputRecord) -> DecodedRecord<M> {
    match record.value.as_deref().map(M::decode) {
        None => DecodedRecord::Nothing,
        Some(Ok(message)) => DecodedRecord::Message(message),
        // These are on the topic of fetch results, too.
        Some(Err(DecodeError::OtherRecord { found, .. }))
            if [PageRemoval::NAME, SeedFailure::NAME].contains(&found.as_str()) =>
        {
            DecodedRecord::Nothing
        }
        Some(Err(error)) if error.is_temporary() => DecodedRecord::Awaits(error.to_string()),
        Some(Err(error)) => {
            eprintln!("recrawl: record {}@{} is not a {}: {error}", record.partition, record.offset, M::NAME);
            DecodedRecord::Nothing
        }
    }
}
