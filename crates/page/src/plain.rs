//! A fast path for plain URLs, which are nearly all URLs in records and links.
//!
//! A full parse takes a microsecond, and a page has a hundred links. A URL recognised here is unchanged by the URL
//! standard and by our normalisation. All others go to the parser.

use wide_bytes::find_near;

/// Resolves a reference against the page's scheme and authority, and its path. `None` unless the reference and the
/// result are plain.
pub(crate) fn join(origin: &str, path: &str, reference: &str) -> Option<String> {
    let fragment = find_near(b'#', reference.as_bytes());
    let reference = &reference[..fragment.unwrap_or(reference.len())];
    let (directory, rest) = match reference.as_bytes() {
        [] | [b'?', ..] | [b'/', b'/', ..] => return None,
        [b'/', ..] => ("", reference),
        [b'h', b't', b't', b'p', b':' | b's', ..] => {
            // Most links of a page stay on its host, whose name is known to be plain.
            let is_plain = match reference.strip_prefix(origin).filter(|tail| tail.starts_with('/')) {
                Some(tail) => is_plain_tail(tail),
                None => is_canonical(reference),
            };
            return is_plain.then(|| reference.to_owned());
        }
        _ => above(path, reference)?,
    };
    let joined = [origin, directory, rest].concat();
    is_plain_tail(&joined[origin.len()..]).then_some(joined)
}

/// The directory that a relative reference starts from, and the rest of the reference after `./` and `../`.
fn above<'a>(path: &'a str, reference: &'a str) -> Option<(&'a str, &'a str)> {
    let parent = |path: &'a str| path.bytes().rposition(|byte| byte == b'/').map(|slash| &path[..slash + 1]);
    let mut directory = parent(path)?;
    let mut rest = reference.strip_prefix("./").unwrap_or(reference);
    while let Some(behind) = rest.strip_prefix("../") {
        directory = parent(&directory[..directory.len() - 1]).unwrap_or(directory);
        rest = behind;
    }
    // A colon before any slash may end a scheme.
    let may_have_scheme = rest.bytes().find(|byte| matches!(byte, b':' | b'/')) == Some(b':');
    (!may_have_scheme).then_some((directory, rest))
}

/// Whether a text is certainly a canonical URL. False for some that are.
pub(crate) fn is_canonical(text: &str) -> bool {
    origin_length(text).is_some_and(|origin| is_plain_tail(&text[origin..]))
}

/// Whether normalisation leaves a path with its optional query unchanged.
fn is_plain_tail(tail: &str) -> bool {
    let (path, query) = tail.split_at(find_near(b'?', tail.as_bytes()).unwrap_or(tail.len()));
    let is = |byte: u8, kind: u8| KINDS[usize::from(byte)] & kind != 0;
    // Dot segments are removed by the parser; hardly any other segment starts with a dot.
    let (mut plain, mut before) = (true, 0);
    for byte in path.bytes() {
        plain &= is(byte, PATH) & !(before == b'/' && byte == b'.');
        before = byte;
    }
    // An empty query is dropped.
    plain && query != "?" && query.bytes().all(|byte| is(byte, QUERY))
}

/// Length of the scheme and authority, if they are plain and a path follows.
fn origin_length(text: &str) -> Option<usize> {
    let (scheme, own_port) = match text.as_bytes() {
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => ("http://".len(), "80"),
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => ("https://".len(), "443"),
        _ => return None,
    };
    let length = find_near(b'/', &text.as_bytes()[scheme..])?;
    let authority = &text[scheme..scheme + length];
    let (name, port) = match find_near(b':', authority.as_bytes()) {
        Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
        None => (authority, None),
    };
    let is_port = |port: &str| port != own_port && port.parse::<u16>().is_ok() && is_number(port);
    (is_plain_host(name) && port.is_none_or(is_port)).then_some(scheme + length)
}

fn is_plain_host(name: &str) -> bool {
    let is_label = |label: &[u8]| !label.is_empty() && !label.starts_with(b"xn--");
    let mut labels = name.as_bytes().split(|byte| *byte == b'.');
    let is_plain = name.bytes().all(|byte| KINDS[usize::from(byte)] & HOST != 0) && labels.clone().all(is_label);
    // A name whose last label is a number is an IP address, in whatever notation.
    let is_name = labels.next_back().and_then(<[u8]>::first).is_some_and(u8::is_ascii_lowercase);
    is_plain && (is_name || is_plain_address(name))
}

/// An IPv4 address in the usual notation.
fn is_plain_address(name: &str) -> bool {
    let is_byte = |part: &str| is_number(part) && part.parse::<u8>().is_ok();
    name.split('.').count() == 4 && name.split('.').all(is_byte)
}

/// Decimal digits without a sign or leading zeros.
fn is_number(text: &str) -> bool {
    text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()))
}

const HOST: u8 = 1;
const PATH: u8 = 2;
const QUERY: u8 = 4;

/// The URL parts in which each byte is left unchanged. Bytes that are special to some parser (`%`, `\`) are missing,
/// and so are bytes that are encoded in one part and not in another.
static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' => HOST | PATH | QUERY,
            b'A'..=b'Z'
            | b'_'
            | b'~'
            | b'/'
            | b','
            | b';'
            | b'='
            | b'&'
            | b'+'
            | b':'
            | b'@'
            | b'!'
            | b'$'
            | b'('
            | b')'
            | b'*' => PATH | QUERY,
            b'?' => QUERY,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CanonicalUrl;
    use proptest::prelude::*;

    #[test]
    fn long_names_are_names_to_the_parser_too() {
        let text = format!("http://{}.{}.test/", "a".repeat(70), "b.".repeat(120) + "c");
        assert!(is_canonical(&text));
        assert_eq!(CanonicalUrl::by_parser(&text, None).unwrap().as_str(), text);
    }

    #[test]
    fn what_records_and_links_are_made_of_is_plain() {
        for text in [
            "https://example.org/",
            "http://127.0.0.1:8080/a/b.html?page=2&sort=-name",
            "https://www.example.co.uk/Docs/14_x~y/index.html",
        ] {
            assert!(is_canonical(text), "{text}");
        }
        let base = "https://example.org/docs/14/index.html?q=/x";
        let base = CanonicalUrl::parse(base).unwrap();
        let check = |reference, expected: &str| {
            assert_eq!(join(base.origin(), base.path(), reference).as_deref(), Some(expected), "{reference}");
        };
        check("next.html#top", "https://example.org/docs/14/next.html");
        check("./a/b", "https://example.org/docs/14/a/b");
        check("../13/", "https://example.org/docs/13/");
        check("../../../x", "https://example.org/x");
        check("/y?z=1", "https://example.org/y?z=1");
        check("http://b.test:81/", "http://b.test:81/");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_canonical_address_is_one_to_the_parser(
            text in "https?://(([a-z0-9-]|xn--|[.]){1,6}|0x7f|1\\.2\\.3\\.0?4|300\\.1\\.1\\.1|localhost)(:(80|443|8080|080|0|65536))?(/|[a-zA-Z0-9._~?=&+:@!$()*,;-]|/\\.|%7e|'|\\||\\\\|é| |#){1,8}",
        ) {
            if is_canonical(&text) {
                prop_assert_eq!(CanonicalUrl::by_parser(&text, None).map(String::from), Ok(text));
            }
        }

        #[test]
        fn a_plain_reference_is_resolved_as_the_parser_does(
            base in "https?://(a\\.test|127\\.0\\.0\\.1:81|é\\.test|\\[::1\\]:8080)(/|/b|/b/|/b/c\\.html|/b//c/d)(\\?e=/f/g)?",
            reference in "(https?:|https?://[ab]|//|mailto:|[.]/|\\.\\./){0,3}([a-c:?=/.%#@]|\\.\\.|x\\.html| |\t|é|\\\\){0,6}",
        ) {
            let base = CanonicalUrl::parse(&base).unwrap();
            if let Some(joined) = join(base.origin(), base.path(), reference.trim()) {
                prop_assert_eq!(CanonicalUrl::by_parser(&reference, Some(base.as_str())).map(String::from), Ok(joined));
            }
        }
    }
}
