//! Signs that say the same: typeset quotes, dashes and ellipses for those of a keyboard, joined characters, and signs
//! that only shape their neighbours.

/// Bytes that are looked at at once.
const PIECE: usize = 64;

/// The text with plain quotes, dashes and ellipses, or `None` if it has no others. Typesetting is not another wording.
pub(crate) fn plain(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    // Most texts have only signs of a keyboard.
    if text.is_ascii() && !has_double_hyphen(bytes) {
        return None;
    }
    let mut out: Option<String> = None;
    let (mut taken, mut from) = (0, 0);
    while let Some(at) = next_typeset(bytes, from) {
        let Some((length, sign)) = plain_sign(&bytes[at..]) else {
            from = at + 1;
            continue;
        };
        let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
        out.push_str(&text[taken..at]);
        out.push_str(sign);
        taken = at + length;
        from = taken;
    }
    out.map(|out| out + &text[taken..])
}

fn has_double_hyphen(bytes: &[u8]) -> bool {
    bytes.iter().zip(bytes.iter().skip(1)).fold(false, |found, (one, next)| found | (*one == b'-' && *next == b'-'))
}

/// The next byte that may begin a typeset sign, or a dash of several hyphens.
fn next_typeset(bytes: &[u8], from: usize) -> Option<usize> {
    let begins = |byte: &u8| matches!(byte, b'-' | 0xca | 0xe2 | 0xef | 0xf3);
    let rest = bytes.get(from..)?;
    // Few pieces have one, and the compiler looks at all bytes of a piece at once.
    let is_without = |piece: &&[u8]| !piece.iter().fold(false, |found, byte| found | begins(byte));
    let passed = PIECE * rest.chunks(PIECE).take_while(is_without).count();
    rest.get(passed..)?.iter().position(begins).map(|at| from + passed + at)
}

/// The length of the typeset sign that the bytes begin with, and the plain one for it.
fn plain_sign(bytes: &[u8]) -> Option<(usize, &'static str)> {
    Some(match bytes {
        [b'-', b'-', ..] => (bytes.iter().take_while(|byte| **byte == b'-').count(), "-"),
        // ‘ ’ ‚ ‛ ′ ‵ and “ ” „ ‟ ″ ‶
        [0xe2, 0x80, 0x98..=0x9b | 0xb2 | 0xb5, ..] => (3, "'"),
        [0xe2, 0x80, 0x9c..=0x9f | 0xb3 | 0xb6, ..] => (3, "\""),
        // ‐ ‑ ‒ – — ― and the minus sign
        [0xe2, 0x80, 0x90..=0x95, ..] | [0xe2, 0x88, 0x92, ..] => (3, "-"),
        [0xe2, 0x80, 0xa6, ..] => (3, "..."),
        // Joiners, variation selectors.
        [0xe2, 0x80, 0x8c | 0x8d, ..] | [0xef, 0xb8, 0x80..=0x8f, ..] => (3, ""),
        [0xf3, 0xa0, 0x84..=0x87, _, ..] => (4, ""),
        // ʼ
        [0xca, 0xbc, ..] => (2, "'"),
        [0xef, 0xac, 0x80, ..] => (3, "ff"),
        [0xef, 0xac, 0x81, ..] => (3, "fi"),
        [0xef, 0xac, 0x82, ..] => (3, "fl"),
        [0xef, 0xac, 0x83, ..] => (3, "ffi"),
        [0xef, 0xac, 0x84, ..] => (3, "ffl"),
        [0xef, 0xac, 0x85 | 0x86, ..] => (3, "st"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_typesetters_write_is_plain() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text).as_deref().unwrap_or(text), expected, "{text}");
        check("It’s “free” – really… for 3–6.", "It's \"free\" - really... for 3-6.");
        check("really -- or --- or — or ―", "really - or - or - or -");
        check("6′ 4″ −3 ﬁne oﬃce", "6' 4\" -3 fine office");
        check("☎\u{fe0f} می\u{200c}خواهم 葛\u{e0100}", "☎ میخواهم 葛");
        check("a-b é † « » 100 € （x）", "a-b é † « » 100 € （x）");
    }

    proptest! {
        #[test]
        fn a_plain_text_is_plain(text in "[‘”–—…\u{fe0f}ﬁa -]{0,12}") {
            let once = plain(&text).unwrap_or(text);
            let twice = plain(&once).unwrap_or_else(|| once.clone());
            prop_assert_eq!(plain(&twice), None);
        }
    }
}
