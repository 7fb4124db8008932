//! Keys of addresses in the indexes of archives: the host reversed, so that a domain and its subdomains stand together.

use std::borrow::Cow;

/// The key under which replay tools look an address up: `https://www.Example.com/A/?b=1&a=2` is `com,example)/a?a=2&b=1`. An address
/// without a host is its own key.
///
/// The rules are those of the package `surt` of PyPI (version 0.3.1, default canonicalizer), which pywb, cdxj-indexer and the
/// Internet Archive use: `www.`, default ports, user names, session ids and the fragment are left out, upper case is lowered, and
/// the parameters are sorted. Several addresses may have one key: it finds candidates and names no page.
pub fn surt(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let (host, port) = host_and_port(authority);
    let default_port = match scheme {
        "http" => "80",
        "https" => "443",
        _ => "",
    };
    let mut key = reversed(&host_of_key(host));
    if !port.is_empty() && port != default_port {
        key.push(':');
        key.push_str(port);
    }
    key.push(')');
    key.push_str(&path_of_key(path));
    if let Some(query) = query.map(query_of_key).filter(|query| !query.is_empty()) {
        key.push('?');
        key.push_str(&query);
    }
    key
}

/// The host, without the brackets of an IPv6 address, and the port, which may be empty.
fn host_and_port(authority: &str) -> (&str, &str) {
    let place = authority.rsplit_once('@').map_or(authority, |(_user, place)| place);
    match place.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((host, port)) => (host, port.trim_start_matches(':')),
        None => place.rsplit_once(':').unwrap_or((place, "")),
    }
}

fn host_of_key(host: &str) -> String {
    let host = String::from_utf8_lossy(&unescaped(host)).replace("..", ".");
    let host = escaped(host.trim_matches('.').as_bytes());
    let without_www =
        host.strip_prefix("www").map(|rest| rest.trim_start_matches(|character: char| character.is_ascii_digit()));
    without_www.and_then(|rest| rest.strip_prefix('.')).map(str::to_owned).unwrap_or(host)
}

fn reversed(host: &str) -> String {
    host.rsplit('.').collect::<Vec<_>>().join(",")
}

fn path_of_key(path: &str) -> String {
    let path = escaped(&normalized(&unescaped(path)));
    let path = [session_directories as fn(&str) -> Option<usize>, session_directory]
        .into_iter()
        .fold(path, |path, session| without_directory(&path, session).unwrap_or(path));
    match path.strip_suffix('/') {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => path,
    }
}

/// A path without `.`, `..` and empty parts. The last part may be empty.
fn normalized(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/').skip(1) {
        match part {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    let last = kept.pop().unwrap_or_default();
    let directories = kept.into_iter().filter(|part| !part.is_empty()).flat_map(|part| [part, b"/"]);
    [&b"/"[..]].into_iter().chain(directories).chain([last]).flatten().copied().collect()
}

/// A path without the last directory in which ASP.NET keeps a session, before an `.aspx`. `session` measures such a directory.
fn without_directory(path: &str, session: fn(&str) -> Option<usize>) -> Option<String> {
    path.rmatch_indices("/(").find_map(|(slash, _)| {
        let (before, rest) = path.split_at(slash + 1);
        let after = &rest[session(rest)?..];
        let document = after.split('?').next().unwrap_or_default();
        (document.rfind(".aspx")? > 0).then(|| [before, after].concat())
    })
}

/// The length of `(a(…)b(…))/` with 24 alphanumeric characters in each.
fn session_directories(path: &str) -> Option<usize> {
    let mut rest = path.strip_prefix('(')?;
    let first = rest.len();
    while let Some(after) = rest.strip_prefix(|character: char| character.is_ascii_alphabetic()).and_then(session_id) {
        rest = after;
    }
    let end = rest.strip_prefix(")/").filter(|_| rest.len() < first)?;
    Some(path.len() - end.len())
}

/// The length of `(…)/` with 24 alphanumeric characters.
fn session_directory(path: &str) -> Option<usize> {
    let end = session_id(path)?.strip_prefix('/')?;
    Some(path.len() - end.len())
}

/// The rest behind 24 alphanumeric characters in parentheses.
fn session_id(text: &str) -> Option<&str> {
    after_run(text.strip_prefix('(')?, 24, u8::is_ascii_alphanumeric)?.strip_prefix(')')
}

/// The rest of a text that begins with `length` characters of a kind.
fn after_run(text: &str, length: usize, is_of_kind: fn(&u8) -> bool) -> Option<&str> {
    let (run, rest) = text.split_at_checked(length)?;
    run.as_bytes().iter().all(is_of_kind).then_some(rest)
}

fn query_of_key(query: &str) -> String {
    let query = escaped(&unescaped(query));
    let sessions: [fn(&str) -> Option<&str>; 5] = [
        |text| after_run(text.strip_prefix("jsessionid=")?, 32, u8::is_ascii_alphanumeric),
        |text| after_run(text.strip_prefix("phpsessid=")?, 32, u8::is_ascii_alphanumeric),
        |text| after_run(text.strip_prefix("sid=")?, 32, u8::is_ascii_alphanumeric),
        |text| {
            let named = after_run(text.strip_prefix("aspsessionid")?, 8, u8::is_ascii_alphabetic)?;
            after_run(named.strip_prefix('=')?, 24, u8::is_ascii_alphabetic)
        },
        |text| after_value(after_value(text.strip_prefix("cfid=")?)?.strip_prefix("&cftoken=")?),
    ];
    let query = sessions.into_iter().fold(query, |query, session| without_session(&query, session).unwrap_or(query));
    let mut parameters: Vec<_> = query.split('&').map(name_and_value).collect();
    parameters.sort_unstable();
    let text = |(name, value): (&str, Option<&str>)| {
        name.to_owned() + &value.map_or(String::new(), |value| format!("={value}"))
    };
    if query.len() > 1 { parameters.into_iter().map(text).collect::<Vec<_>>().join("&") } else { query }
}

fn name_and_value(parameter: &str) -> (&str, Option<&str>) {
    parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value)))
}

/// The rest behind a value, which may not be empty.
fn after_value(text: &str) -> Option<&str> {
    let end = text.find('&').unwrap_or(text.len());
    (end > 0).then(|| &text[end..])
}

/// A query without the last session id of a kind, which ends its parameter. `session` gives the rest behind one.
fn without_session(query: &str, session: fn(&str) -> Option<&str>) -> Option<String> {
    (0..query.len()).rev().find_map(|start| {
        let (before, rest) = query.split_at_checked(start)?;
        match session(rest)? {
            "" => Some(before.to_owned()),
            after => after.strip_prefix('&').map(|after| [before, after].concat()),
        }
    })
}

/// Bytes without percent-encoding, however often they are encoded.
fn unescaped(text: &str) -> Cow<'_, [u8]> {
    let mut bytes = Cow::Borrowed(text.as_bytes());
    while let Some(once) = unescaped_once(&bytes) {
        bytes = Cow::Owned(once);
    }
    bytes
}

/// `None`: nothing is encoded.
fn unescaped_once(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut is_any = false;
    while let Some((first, rest)) = bytes.split_first() {
        let (byte, behind) = match encoded_byte(bytes) {
            Some((byte, behind)) => (byte, behind),
            None => (*first, rest),
        };
        is_any |= rest.len() > behind.len();
        plain.push(byte);
        bytes = behind;
    }
    is_any.then_some(plain)
}

/// The byte that `%` and two digits at the start stand for, and what is behind them.
fn encoded_byte(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, behind @ ..] = bytes else { return None };
    Some((digit(*high)? << 4 | digit(*low)?, behind))
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Lower-case text: everything but visible ASCII is encoded, and so are `#` and `%`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'!'..=b'~' if !matches!(byte, b'#' | b'%') => text.push(char::from(byte.to_ascii_lowercase())),
            byte => text.extend(format!("%{byte:02x}").chars()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_those_of_other_programs() {
        let lines: Vec<_> = include_str!("surt/keys.tsv").lines().skip(1).collect();
        assert!(lines.len() > 30);
        for line in lines {
            let (url, key) = line.split_once('\t').expect("an address and a key");
            assert_eq!(surt(url), key, "{url}");
        }
    }

    #[test]
    fn an_address_without_a_host_is_its_own_key() {
        assert_eq!(surt("urn:some:id"), "urn:some:id");
    }

    proptest! {
        #[test]
        fn a_key_has_no_space_and_does_not_depend_on_the_order_of_parameters(url in "\\PC{0,40}", names in "[a-z&=%25]{0,20}") {
            let key = surt(&format!("http://a.test/{url}"));
            prop_assert!(key.bytes().all(|byte| byte.is_ascii_graphic()), "{}", key);
            let turned: Vec<_> = names.split('&').rev().collect();
            let [one, other] = [&names, &turned.join("&")].map(|query| surt(&format!("http://a.test/?{query}")));
            prop_assert_eq!(one, other);
        }
    }
}
