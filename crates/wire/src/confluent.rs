//! The header of records in the wire format of Confluent's clients: a zero byte, and the id of the schema at a registry.

/// The first byte. Single objects begin with C3, JSON with a brace.
const MAGIC: u8 = 0;
/// Length of the header.
const HEADER_BYTES: usize = 5;

/// The header of records whose schema has this id.
pub fn header(schema_id: u32) -> [u8; HEADER_BYTES] {
    let [a, b, c, d] = schema_id.to_be_bytes();
    [MAGIC, a, b, c, d]
}

/// The schema id of a record, and its datum.
pub fn split(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match bytes.split_first_chunk::<HEADER_BYTES>() {
        Some(([MAGIC, id @ ..], datum)) => Some((u32::from_be_bytes(*id), datum)),
        _ => None,
    }
}
