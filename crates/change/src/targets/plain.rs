//! Links that need no more of the URL standard than putting parts together: nearly all within a site, and most that lead
//! to another.

use crate::hash::{FNV_START, fnv1a64, fnv1a64_step};
use url::{Position, Url};

/// The parts of a base that a plain link is resolved with.
#[derive(Clone, Debug)]
pub(super) struct PlainBase {
    /// Scheme, host and port.
    origin: String,
    /// The path up to its last `/`.
    directory: String,
    /// The page itself, up to its query; empty when it is not known.
    own: String,
    /// Whether the base is the page itself.
    base_is_own: bool,
    /// FNV-1a of the origin, and of the origin and the directory.
    origin_hash: u64,
    directory_hash: u64,
}

/// What [`resolved`](super::Base::resolved) gives of a plain link, in parts.
struct PlainTarget<'a> {
    /// Whether it leads to the page itself.
    is_own: bool,
    /// Scheme, host and port.
    origin: &'a str,
    /// The directory that the path is relative to; nothing when it is the origin.
    directory: &'a str,
    /// Without its final slashes.
    path: &'a str,
    fragment: &'a str,
}

impl PlainBase {
    pub(super) fn new(own: Option<&Url>, base: &Url) -> Option<Self> {
        let own = own.map_or("", |own| &own[..Position::AfterQuery]).to_owned();
        let (directory, _) = base.path().rsplit_once('/')?;
        let (origin, directory) = (base[..Position::BeforePath].to_owned(), format!("{directory}/"));
        let origin_hash = fnv1a64(origin.as_bytes());
        let directory_hash = with_bytes(origin_hash, &directory);
        let base_is_own = base[..Position::AfterQuery] == own;
        let is_plain = matches!(base.scheme(), "http" | "https");
        is_plain.then_some(Self { origin, directory, own, base_is_own, origin_hash, directory_hash })
    }

    /// Takes nearly all links within a site apart: letters, digits and a few signs, without a query. `None` for all others.
    fn parts<'a>(&'a self, href: &'a str) -> Option<PlainTarget<'a>> {
        if href.starts_with("http") {
            return self.absolute_parts(href);
        }
        let origin = self.origin.as_str();
        let mut directory = self.directory.as_str();
        let mut below = href;
        while let Some(rest) = below.strip_prefix("../") {
            // Above the first directory is the first directory.
            let (above, _) = directory.strip_suffix('/')?.rsplit_once('/').unwrap_or_default();
            directory = &directory[..above.len() + 1];
            below = rest;
        }
        let (path, fragment) = path_and_fragment(below)?;
        if path.is_empty() {
            let is_part = self.base_is_own && !fragment.is_empty() && below.len() == href.len();
            return is_part.then_some(PlainTarget { is_own: true, origin, directory, path, fragment });
        }
        if path.starts_with('/') {
            if below.len() < href.len() {
                return None;
            }
            directory = "";
        }
        let is_own = self.own.len() == origin.len() + directory.len() + path.len()
            && self.own.ends_with(path)
            && self.own.starts_with(origin)
            && self.own[origin.len()..].starts_with(directory);
        Some(PlainTarget { is_own, origin, directory, path: path.trim_end_matches('/'), fragment })
    }

    /// The same for links with scheme and host.
    fn absolute_parts<'a>(&'a self, href: &'a str) -> Option<PlainTarget<'a>> {
        let host_start = href.split_once("://").map(|(scheme, _)| scheme.len() + 3)?;
        let is_http = matches!(&href[..host_start], "https://" | "http://");
        let host_length = href[host_start..].find(['/', '#']).unwrap_or(href.len() - host_start);
        let (origin, below) = href.split_at(host_start + host_length);
        if !is_http || !is_plain_host(&origin[host_start..]) {
            return None;
        }
        let (path, fragment) = path_and_fragment(below)?;
        let shown = if path.is_empty() { "/" } else { path };
        let is_own = self.own.strip_prefix(origin) == Some(shown);
        Some(PlainTarget { is_own, origin, directory: "", path: path.trim_end_matches('/'), fragment })
    }

    /// The whole of it.
    pub(super) fn target(&self, href: &str) -> Option<String> {
        let PlainTarget { is_own, origin, directory, path, fragment } = self.parts(href)?;
        let shown = if is_own { [""; 3] } else { [origin, directory, path] };
        let sign = if fragment.is_empty() { "" } else { "#" };
        Some(shown.into_iter().chain([sign, fragment]).collect())
    }

    /// FNV-1a of the target.
    pub(super) fn target_hash(&self, href: &str) -> Option<u64> {
        let PlainTarget { is_own, origin, directory, path, fragment } = self.parts(href)?;
        let of_origin = || if origin == self.origin { self.origin_hash } else { fnv1a64(origin.as_bytes()) };
        let shown = match directory.len() {
            _ if is_own => FNV_START,
            length if length == self.directory.len() => with_bytes(self.directory_hash, path),
            _ => with_bytes(with_bytes(of_origin(), directory), path),
        };
        Some(if fragment.is_empty() { shown } else { with_bytes(with_bytes(shown, "#"), fragment) })
    }
}

/// FNV-1a of a text more.
fn with_bytes(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| fnv1a64_step(hash, byte.into()))
}

/// What may stand in a segment of a plain path, and in a plain fragment.
static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < plain.len() {
        let letter = byte as u8;
        plain[byte] = letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_' | b'.' | b'~');
        byte += 1;
    }
    plain
};

/// Whether a host stays as it is: small letters, digits and hyphens between points, nothing encoded, and at the end a name of
/// letters, so that it is no address.
fn is_plain_host(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let mut last = "";
    for label in host.split('.') {
        if label.is_empty() || label.starts_with("xn--") || !label.bytes().all(is_plain) {
            return false;
        }
        last = label;
    }
    last.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// A path, and the fragment behind it, if both are plain.
fn path_and_fragment(href: &str) -> Option<(&str, &str)> {
    let (path, fragment) = href.split_at(plain_path_length(href)?);
    let fragment = fragment.strip_prefix('#').unwrap_or_default();
    fragment.bytes().all(|byte| PLAIN[usize::from(byte)]).then_some((path, fragment))
}

/// How long the path is that a link begins with, if it is plain and ends with the link or at a fragment. Segments that are
/// empty or begin with a dot may mean another one.
fn plain_path_length(href: &str) -> Option<usize> {
    let bytes = href.as_bytes();
    let mut at = usize::from(bytes.first() == Some(&b'/'));
    loop {
        let length = bytes[at..].iter().position(|&byte| !PLAIN[usize::from(byte)]).unwrap_or(bytes.len() - at);
        let segment = &bytes[at..at + length];
        at += length;
        let end = bytes.get(at);
        if segment.first() == Some(&b'.') || segment == b"cdn-cgi" || !matches!(end, None | Some(b'/' | b'#')) {
            return None;
        }
        match end {
            Some(b'/') if length > 0 => at += 1,
            Some(b'/') => return None,
            _ => return Some(at),
        }
    }
}
