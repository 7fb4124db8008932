//! Where comments, scripts and other texts end that are not markup (HTML standard, section 13.2.5).

/// Whether a byte ends the name of a tag.
#[inline(always)]
pub(crate) fn ends_name(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/' | b'>')
}

/// How many of eight bytes, from the lowest on, have a bit that all letters have, and nothing has that ends a name.
#[inline(always)]
pub(crate) fn letters(word: u64) -> usize {
    (!word & 0x4040_4040_4040_4040).trailing_zeros() as usize / 8
}

/// Where a comment ends, given where its content starts. The end of the page ends it too.
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

/// Where the end tag `</name` begins, or the end of the page.
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

/// Where a script ends. Within `<!--` a `<script>` opens another, whose end tag is not the end ("script data double
/// escaped" in the standard).
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
            // The two dashes may already be those of `-->`.
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
