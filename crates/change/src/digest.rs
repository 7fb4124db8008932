//! Digests: equal ones mean equal content, for every purpose of ours.

use crate::extract::Link;

/// A BLAKE3 digest of 32 bytes.
pub type ContentDigest = [u8; 32];

/// Of a body, byte for byte.
pub fn content_digest(body: &[u8]) -> ContentDigest {
    *blake3::hash(body).as_bytes()
}

/// Of what a reader sees: title and visible text.
pub fn text_digest(title: &str, text: &str) -> ContentDigest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(title.as_bytes());
    // No title contains a line end, so title and text cannot be taken for one another.
    hasher.update(b"\n");
    hasher.update(text.as_bytes());
    *hasher.finalize().as_bytes()
}

/// Of where a page points to: the distinct targets, in whatever order they stand.
pub fn links_digest(links: &[Link]) -> ContentDigest {
    let mut targets: Vec<&str> = links.iter().map(|link| link.href.as_str()).collect();
    targets.sort_unstable();
    targets.dedup();
    let mut hasher = blake3::Hasher::new();
    for target in targets {
        hasher.update(&(target.len() as u64).to_le_bytes());
        hasher.update(target.as_bytes());
    }
    *hasher.finalize().as_bytes()
}
