//! The sentences added to and removed from a page, for people and systems that read the change stream.

use document::prefix;

/// The most passages listed per side.
pub const MAX_PASSAGES: usize = 64;
/// The longest passage in bytes; longer ones are cut.
const MAX_PASSAGE_BYTES: usize = 512;
const FULL_WIDTH_ENDS: [&[u8]; 3] = ["。".as_bytes(), "！".as_bytes(), "？".as_bytes()];

/// The passages that only one of two texts has, in text order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passages {
    /// Passages in the new text only.
    pub added: Vec<String>,
    /// Passages in the old text only.
    pub removed: Vec<String>,
    /// Whether either side had more than [`MAX_PASSAGES`], or a passage was cut.
    pub truncated: bool,
}

/// Compares two visible texts sentence by sentence, as sets: a sentence that only moved is neither added nor removed.
pub fn passages(old: &str, new: &str) -> Passages {
    let (old, new): (Vec<&str>, Vec<&str>) = (sentences(old).collect(), sentences(new).collect());
    let mut result = Passages::default();
    result.added = difference(&new, &old, &mut result.truncated);
    result.removed = difference(&old, &new, &mut result.truncated);
    result
}

fn difference(of: &[&str], without: &[&str], truncated: &mut bool) -> Vec<String> {
    let mut known = without.to_vec();
    known.sort_unstable();
    let mut only: Vec<String> = Vec::new();
    for sentence in of.iter().filter(|sentence| known.binary_search(sentence).is_err()) {
        let shown = prefix(sentence, MAX_PASSAGE_BYTES);
        if only.iter().any(|given| given == shown) {
            continue;
        }
        if only.len() == MAX_PASSAGES {
            *truncated = true;
            break;
        }
        *truncated |= shown.len() < sentence.len();
        only.push(shown.to_owned());
    }
    only
}

/// Splits a text into lines, and lines after `.`, `!` or `?` before a space and after their full-width forms.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            let rest_now = rest.trim_start();
            if rest_now.is_empty() {
                return None;
            }
            let end = sentence_end(rest_now);
            rest = &rest_now[end..];
            Some(rest_now[..end].trim_end())
        })
    })
}

/// Works on bytes, not characters, because every change of a page passes through here, old text and new.
fn sentence_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut ends = memchr::memchr3_iter(b'.', b'!', b'?', bytes).map(|at| at + 1);
    let end = ends.find(|end| bytes.get(*end) == Some(&b' ')).unwrap_or(bytes.len());
    let is_full_width = |at: &usize| FULL_WIDTH_ENDS.into_iter().any(|end| bytes[*at..].starts_with(end));
    memchr::memchr2_iter(0xe3, 0xef, &bytes[..end]).find(is_full_width).map_or(end, |at| at + 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_came_and_what_went_is_told_sentence_by_sentence() {
        let old = "Opening hours\nWe open at 9.30 sharp. Closed on Sunday. Bring a friend!\n营业。休息。";
        let new = "Opening hours\nWe open at 10.30 sharp. Bring a friend! Closed on Sunday.\n营业。搬迁。";
        let passages = passages(old, new);
        assert_eq!(passages.added, ["We open at 10.30 sharp.", "搬迁。"]);
        assert_eq!(passages.removed, ["We open at 9.30 sharp.", "休息。"]);
        assert!(!passages.truncated);
    }

    #[test]
    fn there_is_an_end_to_what_is_told() {
        let long = format!("{}\n{}", "é".repeat(1_000), (0..200).map(|line| format!("{line}\n")).collect::<String>());
        let passages = passages("", &long);
        assert_eq!(passages.added.len(), MAX_PASSAGES);
        assert!(passages.truncated && passages.added.iter().all(|passage| passage.len() <= MAX_PASSAGE_BYTES));
    }

    proptest! {
        #[test]
        fn a_text_does_not_differ_from_itself(text in "([a-c.!。\n ]{0,5}){0,10}") {
            prop_assert_eq!(passages(&text, &text), Passages::default());
        }
    }
}
