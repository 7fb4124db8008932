//! Addresses that are plain: nearly all of those that records hold and pages link to.
//!
//! Reading one by the whole of the URL standard takes a microsecond, and a page has a hundred. What is recognised here
//! stays as it is under the standard and under our own spelling; whatever is not recognised goes to the parser.

/// How a reference that leads to a page of the same or another host is resolved, if it and the result are plain.
///
/// `base` is a canonical address.
pub(crate) fn join(base: &str, reference: &str) -> Option<String> {
    let reference = reference.split('#').next().unwrap_or_default();
    let origin = origin_length(base)?;
    let joined = match reference.as_bytes() {
        [] | [b'?', ..] | [b'/', b'/', ..] => return None,
        [b'/', ..] => [&base[..origin], reference].concat(),
        _ if reference.starts_with("https://") || reference.starts_with("http://") => reference.to_owned(),
        _ => {
            let path = base.split('?').next().unwrap_or_default();
            let mut directory = &path[..path.rfind('/')? + 1];
            let mut rest = reference.strip_prefix("./").unwrap_or(reference);
            while let Some(behind) = rest.strip_prefix("../") {
                let above = directory.strip_suffix('/').filter(|above| above.len() > origin).and_then(|d| d.rfind('/'));
                directory = above.map_or(directory, |slash| &directory[..slash + 1]);
                rest = behind;
            }
            // What has a colon before any slash may have a scheme.
            if rest.split('/').next().unwrap_or_default().contains(':') {
                return None;
            }
            [directory, rest].concat()
        }
    };
    is_canonical(&joined).then_some(joined)
}

/// Whether a text is certainly a canonical address. Some that are one are not recognised.
pub(crate) fn is_canonical(text: &str) -> bool {
    let Some(origin) = origin_length(text) else { return false };
    let (path, query) = match text[origin..].split_once('?') {
        Some((_, "")) => return false,
        Some((path, query)) => (path, query),
        None => (&text[origin..], ""),
    };
    // Dot segments go when an address is parsed; hardly any other segment begins with a dot.
    let is_plain_path = !path.contains("/.") && path.bytes().all(|byte| KINDS[usize::from(byte)] & PATH != 0);
    is_plain_path && query.bytes().all(|byte| KINDS[usize::from(byte)] & QUERY != 0)
}

/// The length of scheme and authority, if they are plain and a path follows.
fn origin_length(text: &str) -> Option<usize> {
    let (scheme, own_port) = match text.as_bytes() {
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => ("http://".len(), "80"),
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => ("https://".len(), "443"),
        _ => return None,
    };
    let length = text[scheme..].find('/')?;
    let authority = &text[scheme..scheme + length];
    let (name, port) = match authority.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (authority, None),
    };
    let is_port = |port: &str| port != own_port && port.parse::<u16>().is_ok() && is_number(port);
    (is_plain_host(name) && port.is_none_or(is_port)).then_some(scheme + length)
}

fn is_plain_host(name: &str) -> bool {
    let is_label = |label: &str| !label.is_empty() && !label.starts_with("xn--");
    let is_plain = name.bytes().all(|byte| KINDS[usize::from(byte)] & HOST != 0) && name.split('.').all(is_label);
    // What ends in a number is an address, however it is written.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_name = last.starts_with(|first: char| first.is_ascii_lowercase());
    is_plain && (is_name || is_plain_address(name))
}

/// Four numbers as they are usually written.
fn is_plain_address(name: &str) -> bool {
    let is_byte = |part: &str| is_number(part) && part.parse::<u8>().is_ok();
    name.split('.').count() == 4 && name.split('.').all(is_byte)
}

/// Decimal digits without a sign, and without a zero before others.
fn is_number(text: &str) -> bool {
    text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()))
}

const HOST: u8 = 1;
const PATH: u8 = 2;
const QUERY: u8 = 4;

/// What each byte may stand in and stay as it is. Left out are those that mean something to some parser (`%`, `\`), and
/// those that are written otherwise in one place and not in the other.
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
        let check =
            |reference, expected: &str| assert_eq!(join(base, reference).as_deref(), Some(expected), "{reference}");
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
            base in "https?://(a\\.test|127\\.0\\.0\\.1:81)(/|/b|/b/|/b/c\\.html|/b//c/d)(\\?e=/f/g)?",
            reference in "(https?:|https?://[ab]|//|mailto:|[.]/|\\.\\./){0,3}([a-c:?=/.%#@]|\\.\\.|x\\.html| |\t|é|\\\\){0,6}",
        ) {
            if let Some(joined) = join(&base, reference.trim()) {
                prop_assert_eq!(CanonicalUrl::by_parser(&reference, Some(&base)).map(String::from), Ok(joined));
            }
        }
    }
}
