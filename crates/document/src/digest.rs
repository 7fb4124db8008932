//! Digests of content: equal digests are taken to mean equal content.

/// A BLAKE3 digest of 32 bytes.
pub type ContentDigest = [u8; 32];

/// The digest of a body, byte for byte.
pub fn content_digest(body: &[u8]) -> ContentDigest {
    *blake3::hash(body).as_bytes()
}
