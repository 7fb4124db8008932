//! The signs that numbers are written with: digits, separators, and words for powers of ten.

/// The zeros of the scripts whose digits are read. The other nine digits of a script follow its zero.
const ZEROS: [u32; 18] = [
    0x30,   // ASCII
    0x660,  // Arabic
    0x6f0,  // Persian
    0x7c0,  // N'Ko
    0x966,  // Devanagari
    0x9e6,  // Bengali
    0xa66,  // Gurmukhi
    0xae6,  // Gujarati
    0xb66,  // Odia
    0xbe6,  // Tamil
    0xc66,  // Telugu
    0xce6,  // Kannada
    0xd66,  // Malayalam
    0xe50,  // Thai
    0xed0,  // Lao
    0x1040, // Myanmar
    0x17e0, // Khmer
    0xff10, // full width
];

/// Digits above the line, from 0 to 9.
const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// Signs behind a number that stand for a power of ten, the largest first. The rest of the number may follow them.
const MYRIADS: [(char, f64); 8] =
    [('億', 1e8), ('亿', 1e8), ('억', 1e8), ('万', 1e4), ('萬', 1e4), ('만', 1e4), ('千', 1e3), ('천', 1e3)];

/// Words behind a number that stand for a power of ten.
const MULTIPLES: [(&str, f64); 7] =
    [("lakhs", 1e5), ("lakh", 1e5), ("lacs", 1e5), ("lac", 1e5), ("crores", 1e7), ("crore", 1e7), ("लाख", 1e5)];

/// The digit that a sign is.
pub(super) fn digit(sign: char) -> Option<u8> {
    if sign.is_ascii() {
        return sign.is_ascii_digit().then(|| sign as u8 - b'0');
    }
    let zero = ZEROS.into_iter().find(|zero| (*zero..zero + 10).contains(&(sign as u32)));
    zero.map(|zero| (sign as u32 - zero) as u8)
}

/// The digit that a sign above the line is.
pub(super) fn raised_digit(sign: char) -> Option<u8> {
    RAISED.iter().position(|raised| *raised == sign).map(|digit| digit as u8)
}

/// The sign that separates the whole part of a number from its decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecimalSign {
    Dot,
    Comma,
}

/// How the groups of a number are separated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Separator {
    Dot,
    Comma,
    /// The decimal sign of Arabic scripts, which is never anything else.
    Decimal,
    /// A blank or an apostrophe, which is never a decimal sign.
    Group,
}

pub(super) fn separator(sign: char) -> Option<Separator> {
    Some(match sign {
        '.' | '．' => Separator::Dot,
        ',' | '，' | '،' => Separator::Comma,
        '٫' => Separator::Decimal,
        '\'' | '’' | '‘' | '`' | '´' | '′' | '＇' | '٬' | '_' => Separator::Group,
        ' ' | '\u{a0}' | '\u{2007}'..='\u{200a}' | '\u{202f}' => Separator::Group,
        _ => return None,
    })
}

/// The power of ten of a sign such as 万, and the length of the sign.
pub(super) fn myriad(text: &str) -> Option<(f64, usize)> {
    let sign = text.chars().next()?;
    MYRIADS.iter().find(|(known, _)| *known == sign).map(|(_, value)| (*value, sign.len_utf8()))
}

/// The power of ten of a word such as lakh behind a number, and its length with the blank before it.
pub(super) fn multiple(text: &str) -> Option<(f64, usize)> {
    let word = text.trim_start_matches([' ', '\u{a0}', '-']);
    let before = text.len() - word.len();
    let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    MULTIPLES.iter().find_map(|(known, value)| {
        let start = word.get(..known.len())?;
        (start.eq_ignore_ascii_case(known) && ends(&word[known.len()..])).then_some((*value, before + known.len()))
    })
}
