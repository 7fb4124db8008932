//! Generated pages: deterministic from host, path and version, and about as compressible and as varied as prose.
//!
//! Version 0 is a head, a navigation block that all pages of the host share, paragraphs, and links. Each later version
//! replaces one paragraph of the previous one.

use crate::seeds::{hash, numbers};
use chance::{Draws, SplitMix64, splitmix64};
use std::sync::OnceLock;

/// A word and the space after it, padded so that copying one costs a fixed-size move.
#[derive(Clone, Copy)]
struct Word {
    bytes: [u8; 16],
    length: u8,
}

const WORD_BITS: u32 = 12;
const PARAGRAPH_BYTES: usize = 600;
const WORDS_PER_SENTENCE: usize = 14;

/// The inputs of a generated page.
pub(crate) struct Recipe<'a> {
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    pub(crate) version: u32,
    /// Approximate length of the page; never shorter than its links need.
    pub(crate) bytes: usize,
    pub(crate) links: &'a [&'a str],
}

pub(crate) fn render(recipe: &Recipe<'_>) -> Vec<u8> {
    let host_seed = hash(&[recipe.host]);
    let page_seed = hash(&[recipe.host, recipe.path]);
    let mut out = Vec::with_capacity(recipe.bytes + 2 * PARAGRAPH_BYTES);

    out.extend_from_slice(b"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    words(&mut out, &mut numbers(page_seed), 5);
    out.extend_from_slice(b"</title></head>\n<body><nav><a href=\"/\">");
    words(&mut out, &mut numbers(host_seed), 3);
    out.extend_from_slice(b"</a> ");
    words(&mut out, &mut numbers(splitmix64(host_seed)), 30);
    out.extend_from_slice(b"</nav>\n<main><h1>");
    words(&mut out, &mut numbers(page_seed), 5);
    out.extend_from_slice(b"</h1>\n");

    let links_bytes: usize = recipe.links.iter().map(|link| link.len() + 60).sum();
    let paragraphs = (recipe.bytes.saturating_sub(out.len() + links_bytes) / PARAGRAPH_BYTES).max(1);
    let mut editions = vec![0u32; paragraphs];
    for version in 1..=recipe.version {
        editions[(splitmix64(page_seed ^ u64::from(version)) % paragraphs as u64) as usize] = version;
    }
    for (number, edition) in editions.iter().enumerate() {
        let mut stream = numbers(splitmix64(page_seed.wrapping_add(number as u64 + 1)) ^ u64::from(*edition));
        out.extend_from_slice(b"<p>");
        let full = out.len() + PARAGRAPH_BYTES - 16;
        while out.len() < full {
            words(&mut out, &mut stream, WORDS_PER_SENTENCE);
            out.extend_from_slice(b". ");
        }
        out.extend_from_slice(b"</p>\n");
    }
    out.extend_from_slice(b"</main>\n<ul>\n");
    for link in recipe.links {
        out.extend_from_slice(b"<li><a href=\"");
        out.extend_from_slice(link.as_bytes());
        out.extend_from_slice(b"\">");
        words(&mut out, &mut numbers(hash(&[recipe.host, link])), 5);
        out.extend_from_slice(b"</a></li>\n");
    }
    out.extend_from_slice(b"</ul></body></html>\n");
    out
}

/// Appends `count` words with single spaces between them.
fn words(out: &mut Vec<u8>, stream: &mut SplitMix64, count: usize) {
    let vocabulary = vocabulary();
    let mut bits = 0;
    for index in 0..count {
        if index % 5 == 0 {
            bits = stream.bits();
        }
        let word = vocabulary[(bits & ((1 << WORD_BITS) - 1)) as usize];
        bits >>= WORD_BITS;
        let end = out.len() + usize::from(word.length);
        out.extend_from_slice(&word.bytes);
        out.truncate(end);
    }
    out.pop();
}

/// 4096 invented words. About one in thirty has a non-ASCII character, so that charsets matter.
fn vocabulary() -> &'static [Word] {
    static VOCABULARY: OnceLock<Vec<Word>> = OnceLock::new();
    VOCABULARY.get_or_init(|| {
        const ONSETS: &[&str] = &["b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr"];
        const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ea", "io", "a", "e", "i", "o", "e", "a", "ou", "e", "i"];
        const CODAS: &[&str] = &["", "n", "r", "s", "", "l", "t", ""];
        let mut stream = numbers(0x776F_7264);
        (0..1 << WORD_BITS)
            .map(|_| {
                let mut text = String::new();
                let syllables = 1 + (stream.uniform() * 2.6) as usize;
                for _ in 0..syllables {
                    for part in [ONSETS, VOWELS, CODAS] {
                        text.push_str(part[(stream.bits() % part.len() as u64) as usize]);
                    }
                }
                // A word, its accent and its space fit in the 16 bytes.
                if stream.bits().is_multiple_of(30) && text.len() <= 13 {
                    text.push('é');
                }
                text.push(' ');
                let mut bytes = [0; 16];
                bytes[..text.len()].copy_from_slice(text.as_bytes());
                Word { bytes, length: text.len() as u8 }
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, version: u32) -> String {
        let recipe = Recipe { host: "a.test", path, version, bytes: 14_000, links: &["/x", "/y"] };
        String::from_utf8(render(&recipe)).unwrap()
    }

    #[test]
    fn the_same_version_has_the_same_bytes_and_the_next_one_differs_in_one_paragraph() {
        assert_eq!(page("/", 7), page("/", 7));
        let (old, new) = (page("/", 7), page("/", 8));
        let differing = old.lines().zip(new.lines()).filter(|(old, new)| old != new).count();
        assert_eq!(differing, 1);
    }

    #[test]
    fn a_page_has_about_the_length_asked_for_and_its_links() {
        let text = page("/", 0);
        assert!((13_000..15_000).contains(&text.len()), "{} bytes", text.len());
        assert!(text.contains("<a href=\"/x\">") && text.contains("<a href=\"/y\">"));
        assert!(text.contains('é'));
    }

    #[test]
    fn pages_of_one_host_differ() {
        let (one, other) = (page("/1", 0), page("/2", 0));
        let shared = one.lines().filter(|line| line.starts_with("<p>") && other.contains(line)).count();
        assert_eq!(shared, 0);
    }
}
