//! robots.txt path patterns and their matching (RFC 9309 §2.2.2 and §2.2.3).
//!
//! Patterns and paths are normalised first, so that percent-encoding makes no difference. `%7E` equals `~` and `%c3`
//! equals `%C3`. A raw non-ASCII byte in a pattern equals its percent-encoded form. So do, on both sides, characters
//! that a URL cannot hold (spaces, double quotes …) or that only some crawlers encode, and a `%` that encodes nothing. A
//! literal `*` or `$` in a path is `%2A` or `%24`. A raw non-ASCII byte in a *path* is left alone: callers must pass a
//! URL as it goes over the wire.

use memchr::memmem;
use std::borrow::Cow;

/// A path pattern of a file other than robots.txt that is written and matched as there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern(Pattern);

impl PathPattern {
    /// Parses a pattern: `*` stands for any bytes, a final `$` for the end.
    pub fn new(written: &str) -> Self {
        Self(Pattern::new(written.as_bytes()))
    }

    /// Whether it matches a path and query, as they go over the wire.
    pub fn matches(&self, path_and_query: &str) -> bool {
        self.0.matches(&normalise_path(path_and_query.as_bytes()))
    }
}

/// A path pattern: literal pieces separated by wildcards, anchored at the start and optionally at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The normalised pattern, without the final `$`.
    text: Box<[u8]>,
    anchored_at_end: bool,
}

impl Pattern {
    /// Parses the value of an allow or disallow line.
    pub(crate) fn new(value: &[u8]) -> Self {
        let (body, anchored_at_end) = match value.strip_suffix(b"$") {
            Some(body) => (body, true),
            None => (value, false),
        };
        Self { text: normalise(body, Side::Pattern).into_owned().into_boxed_slice(), anchored_at_end }
    }

    /// The normalised pattern. It is the same pattern again when parsed.
    pub(crate) fn to_text(&self) -> Cow<'_, str> {
        let text = String::from_utf8_lossy(&self.text);
        if self.anchored_at_end { text + "$" } else { text }
    }

    /// Length of the pattern in octets, wildcards included. The longest matching pattern decides.
    pub(crate) fn specificity(&self) -> usize {
        self.text.len() + usize::from(self.anchored_at_end)
    }

    /// Whether a path normalised by [`normalise_path`] matches.
    ///
    /// Each literal piece is searched once, from the end of the piece before it. The leftmost match is always right,
    /// because it leaves the most room for the following pieces. So even a hostile pattern costs only one pass.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let mut pieces = self.text.split(|&byte| byte == b'*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let mut last_piece = None;
        for piece in pieces {
            // The previous piece was not the last: find its leftmost match.
            if let Some(middle) = last_piece.replace(piece) {
                match find(rest, middle) {
                    Some(end) => rest = &rest[end..],
                    None => return false,
                }
            }
        }
        match (last_piece, self.anchored_at_end) {
            (None, anchored) => !anchored || rest.is_empty(),
            (Some(piece), true) => rest.ends_with(piece),
            (Some(piece), false) => find(rest, piece).is_some(),
        }
    }
}

/// The end of the first occurrence of `piece`.
fn find(haystack: &[u8], piece: &[u8]) -> Option<usize> {
    match piece {
        [] => Some(0),
        [byte] => memchr::memchr(*byte, haystack).map(|at| at + 1),
        _ => memmem::find(haystack, piece).map(|at| at + piece.len()),
    }
}

/// Normalises a path and query for [`Pattern::matches`].
pub(crate) fn normalise_path(path: &[u8]) -> Cow<'_, [u8]> {
    normalise(path, Side::Path)
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Pattern,
    Path,
}

fn normalise(bytes: &[u8], side: Side) -> Cow<'_, [u8]> {
    let needs_work = |&byte: &u8| match byte {
        b'%' | b'$' | b' ' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'^' | b'{' | b'|' | b'}' => true,
        b'*' => side == Side::Path,
        _ => side == Side::Pattern && !byte.is_ascii(),
    };
    let Some(first) = bytes.iter().position(needs_work) else { return Cow::Borrowed(bytes) };
    let mut out = Vec::with_capacity(bytes.len() + 16);
    out.extend_from_slice(&bytes[..first]);
    let mut rest = &bytes[first..];
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte == b'%'
            && let [high, low, tail @ ..] = rest
            && let (Some(high), Some(low)) = (hex_value(*high), hex_value(*low))
        {
            rest = tail;
            let decoded = high << 4 | low;
            if is_unreserved(decoded) {
                out.push(decoded);
            } else {
                push_encoded(&mut out, decoded);
            }
        } else if needs_work(byte) {
            push_encoded(&mut out, *byte);
        } else {
            out.push(*byte);
        }
    }
    Cow::Owned(out)
}

fn push_encoded(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Unreserved characters mean the same encoded or not (RFC 3986 §2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern.as_bytes()).matches(&normalise_path(path.as_bytes()))
    }

    #[test]
    fn wildcards_and_the_end_anchor_match_as_rfc_9309_says() {
        let check = |pattern, path, expected| assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        check("/fish", "/fish.html", true);
        check("/fish", "/Fish", false);
        check("/fish*", "/fish", true);
        check("/*.php", "/folder/filename.php?parameters", true);
        check("/*.php$", "/filename.php", true);
        check("/*.php$", "/filename.php/", false);
        check("/*.php$", "/a.php.php", true);
        check("/fish*.php", "/fishheads/catfish.php?x", true);
        check("/a*b*b$", "/ab", false);
        check("/$", "/", true);
        check("/$", "/x", false);
        check("*", "/", true);
        check("/a**b", "/ab", true);
        check("fish", "/fish", false);
    }

    #[test]
    fn percent_encoding_does_not_matter() {
        let check = |pattern, path, expected| assert_eq!(matches(pattern, path), expected, "{pattern} on {path}");
        check("/foo/bar/%62%61%7A", "/foo/bar/baz", true);
        check("/~x", "/%7ex", true);
        check("/ツ", "/%e3%83%84", true);
        check("/a%2Fb", "/a/b", false);
        check("/a%2fb", "/a%2Fb", true);
        check("/file-with-a-%2A.html", "/file-with-a-*.html", true);
        check("/foo-%24", "/foo-$", true);
        check("/a$b", "/a$b", true);
        check("/100%", "/100%", true);
        check("/100%", "/100%25", true);
        check("/100%25", "/100%", true);
        check("/über uns", "/%C3%BCber%20uns", true);
        check("/a%20b", "/a b", true);
        check("/say \"hi\"", "/say%20%22hi%22", true);
        check("/?q='a'", "/?q=%27a%27", true);
    }

    #[test]
    fn a_hostile_pattern_is_decided_in_one_pass() {
        let pattern = Pattern::new(format!("/{}b$", "*a".repeat(100_000)).as_bytes());
        assert!(!pattern.matches(format!("/{}", "a".repeat(1_000_000)).as_bytes()));
    }

    /// The definition by exhaustive search: exponential, but obviously right.
    fn by_definition(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            b"$" => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|skipped| by_definition(rest, &path[skipped..])),
            [byte, rest @ ..] => path.first() == Some(byte) && by_definition(rest, &path[1..]),
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_the_definition(pattern in "/[ab*]{0,8}[$]?", path in "/[ab]{0,10}") {
            prop_assert_eq!(matches(&pattern, &path), by_definition(pattern.as_bytes(), path.as_bytes()));
        }

        #[test]
        fn bringing_a_path_to_one_spelling_twice_changes_nothing(path in proptest::collection::vec(any::<u8>(), 0..40)) {
            let once = normalise_path(&path).into_owned();
            prop_assert_eq!(normalise_path(&once).into_owned(), once.clone());
        }
    }
}
