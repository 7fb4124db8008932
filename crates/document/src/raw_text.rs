//! Finds the ends of comments, scripts and other non-markup text (HTML standard, section 13.2.5).

/// Whether a byte ends a tag's name.
#[inline(always)]
pub(crate) fn ends_name(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/' | b'>')
}

/// The number of leading bytes (lowest first) with a bit that all alphabetic characters have and no byte that ends a name has.
#[inline(always)]
pub(crate) fn characters(word: u64) -> usize {
    (!word & 0x4040_4040_4040_4040).trailing_zeros() as usize / 8
}

/// The end of a comment, given the start of its content. The end of the page ends it too.
pub(crate) fn comment_end(bytes: &[u8], start: usize) -> usize {
    let content = &bytes[start..];
    if content.starts_with(b">") {
        return start + 1;
    }
    if content.starts_with(b"->") {
        return start + 2;
    }
    memchr::memchr_iter(b'>', content)
        .find(|&at| content[..at].ends_with(b"--") || content[..at].ends_with(b"--!"))
        .map_or(bytes.len(), |at| start + at + 1)
}

/// The position of the end tag `</name`, or the end of the page.
pub(crate) fn raw_end(bytes: &[u8], start: usize, name: &[u8]) -> usize {
    memchr::memchr_iter(b'<', &bytes[start..])
        .map(|at| start + at)
        .find(|&at| bytes.get(at + 1) == Some(&b'/') && is_name_at(bytes, at + 2, name))
        .unwrap_or(bytes.len())
}

fn is_name_at(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    bytes.get(at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
        && bytes.get(at + name.len()).is_some_and(|&byte| ends_name(byte))
}

/// The end of a script. Within `<!--`, a `<script>` opens a nested script, whose end tag does not end the outer one
/// ("script data double escaped" in the standard).
pub(crate) fn script_end(bytes: &[u8], start: usize) -> usize {
    let (mut escaped, mut nested) = (false, false);
    let mut at = start;
    while let Some(found) = find_script_mark(bytes, at, escaped) {
        at = found + 1;
        let rest = &bytes[found..];
        if rest[0] == b'>' {
            if bytes[start..found].ends_with(b"--") {
                (escaped, nested) = (false, false);
            }
        } else if !escaped && rest.starts_with(b"<!--") {
            escaped = true;
            // The two dashes may also belong to `-->`.
            at = found + 2;
        } else if rest.get(1) == Some(&b'/') && is_name_at(bytes, found + 2, b"script") {
            if !nested {
                return found;
            }
            nested = false;
        } else if escaped && !nested && is_name_at(bytes, found + 1, b"script") {
            nested = true;
        }
    }
    bytes.len()
}

fn find_script_mark(bytes: &[u8], at: usize, escaped: bool) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let found = if escaped { memchr::memchr2(b'<', b'>', rest) } else { memchr::memchr(b'<', rest) };
    found.map(|found| at + found)
}
