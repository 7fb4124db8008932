//! Link targets in one spelling, so that a link counts as changed when it leads elsewhere, not when it is written otherwise.

use crate::hash::{FNV_START, fnv1a64, fnv1a64_step};
use url::{Position, Url};

/// Parameters that say who clicked where, or when, and not what is asked for.
const TRACKING: &[&str] = &[
    "fbclid",
    "gclid",
    "dclid",
    "msclkid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "sid",
    "phpsessid",
    "jsessionid",
    "token",
    "nonce",
    "ref",
    "_ga",
    "_gl",
    "cb",
    "ts",
    "v",
    "ver",
];
/// Parameters by which counters of clicks name the page one goes on to.
const REDIRECTS: &[&str] = &["u", "url", "q", "to", "target", "dest", "destination", "redirect", "redirect_url"];
/// Path by which a widespread protection from address collectors replaces `mailto:` links, with a new key at each look.
const HIDDEN_MAIL: &str = "/cdn-cgi/l/email-protection";

/// What a page's links are relative to.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    /// The page itself, without fragment.
    own: Option<Url>,
    /// What links are resolved against.
    base: Option<Url>,
    plain: Option<PlainBase>,
}

/// The parts of a base that a plain link is resolved with.
#[derive(Clone, Debug)]
struct PlainBase {
    /// Scheme, host and port.
    origin: String,
    /// The path up to its last `/`.
    directory: String,
    /// The page itself, up to its query; empty when it is not known.
    own: String,
    /// FNV-1a of the origin, and of the origin and the directory.
    origin_hash: u64,
    directory_hash: u64,
}

/// What [`Base::resolved`] gives of a plain link, in parts.
struct PlainTarget<'a> {
    /// Whether it leads to the page itself.
    is_own: bool,
    /// Whether it is relative to the directory, not to the origin.
    is_relative: bool,
    /// Without its final slashes.
    path: &'a str,
    fragment: &'a str,
}

impl PlainBase {
    fn new(own: Option<&Url>, base: &Url) -> Option<Self> {
        let own = own.map_or("", |own| &own[..Position::AfterQuery]).to_owned();
        let (directory, _) = base.path().rsplit_once('/')?;
        let (origin, directory) = (base[..Position::BeforePath].to_owned(), format!("{directory}/"));
        let origin_hash = fnv1a64(origin.as_bytes());
        let directory_hash = with_bytes(origin_hash, &directory);
        matches!(base.scheme(), "http" | "https").then_some(Self {
            origin,
            directory,
            own,
            origin_hash,
            directory_hash,
        })
    }

    /// Takes nearly all links within a site apart: letters, digits and a few signs, without a query. `None` for all others.
    fn parts<'a>(&self, href: &'a str) -> Option<PlainTarget<'a>> {
        let path_length = plain_path_length(href)?;
        let (path, fragment) = href.split_at(path_length);
        let fragment = fragment.strip_prefix('#').unwrap_or_default();
        if !fragment.bytes().all(|byte| PLAIN[usize::from(byte)]) {
            return None;
        }
        let is_relative = !path.starts_with('/');
        let directory = if is_relative { self.directory.as_str() } else { "" };
        let is_own = self.own.len() == self.origin.len() + directory.len() + path.len()
            && self.own.ends_with(path)
            && self.own.starts_with(&self.origin)
            && self.own[self.origin.len()..].starts_with(directory);
        Some(PlainTarget { is_own, is_relative, path: path.trim_end_matches('/'), fragment })
    }

    fn target(&self, href: &str) -> Option<String> {
        let PlainTarget { is_own, is_relative, path, fragment } = self.parts(href)?;
        let directory = if is_relative { &self.directory } else { "" };
        let shown = if is_own { [""; 3] } else { [&self.origin, directory, path] };
        let sign = if fragment.is_empty() { "" } else { "#" };
        Some(shown.into_iter().chain([sign, fragment]).collect())
    }

    /// FNV-1a of the target.
    fn target_hash(&self, href: &str) -> Option<u64> {
        let PlainTarget { is_own, is_relative, path, fragment } = self.parts(href)?;
        let shown = match (is_own, is_relative) {
            (true, _) => FNV_START,
            (false, true) => with_bytes(self.directory_hash, path),
            (false, false) => with_bytes(self.origin_hash, path),
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
            _ => return (at > 0).then_some(at),
        }
    }
}

impl Base {
    /// Of a page at an address, with its `<base href>`.
    pub(crate) fn new(page: Option<&str>, base_href: Option<&str>) -> Self {
        let mut own = page.and_then(|page| Url::parse(page).ok());
        if let Some(own) = &mut own {
            own.set_fragment(None);
        }
        let base = match (base_href, &own) {
            (Some(href), Some(own)) => own.join(href).ok().or_else(|| Some(own.clone())),
            (Some(href), None) => Url::parse(href).ok(),
            (None, own) => own.clone(),
        };
        let plain = base.as_ref().and_then(|base| PlainBase::new(own.as_ref(), base));
        Self { own, base, plain }
    }

    /// A target in one spelling: resolved; parameters for tracking, sessions and caches dropped; the final slash dropped;
    /// `#part` alone for a place on the page itself; `mailto:` for every mail address, since its words tell which. `None`
    /// for what leads nowhere.
    pub(crate) fn target(&self, href: &str) -> Option<String> {
        let plain = self.plain.as_ref().and_then(|plain| plain.target(href));
        plain.or_else(|| self.resolved(href))
    }

    /// FNV-1a of the target.
    pub(crate) fn target_hash(&self, href: &str) -> Option<u64> {
        let plain = self.plain.as_ref().and_then(|plain| plain.target_hash(href));
        plain.or_else(|| self.resolved(href).map(|target| fnv1a64(target.as_bytes())))
    }

    /// The same as [`target`](Self::target) for any link, by the whole of the URL standard.
    fn resolved(&self, href: &str) -> Option<String> {
        let href = href.trim();
        let scheme = |name: &str| href.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        if href.is_empty() || ["javascript:", "data:", "blob:", "about:"].into_iter().any(scheme) {
            return None;
        }
        if scheme("mailto:") || href.contains(HIDDEN_MAIL) {
            return Some("mailto:".to_owned());
        }
        let resolved = match &self.base {
            Some(base) => base.join(href),
            None => Url::parse(href),
        };
        let Ok(url) = resolved else { return Some(href.trim_end_matches('/').to_owned()) };
        if url.cannot_be_a_base() {
            return Some(url.into());
        }
        let url = hidden_target(&url).unwrap_or(url);
        let own = self.own.as_ref().is_some_and(|own| own[..Position::AfterQuery] == url[..Position::AfterQuery]);
        let mut target = String::new();
        if !own {
            target.push_str(url[..Position::AfterPath].trim_end_matches('/'));
            push_query(&mut target, url.query().unwrap_or_default());
        }
        if let Some(fragment) = url.fragment().filter(|fragment| !fragment.is_empty()) {
            target.push('#');
            target.push_str(fragment);
        }
        Some(target)
    }
}

/// The target of a link that leads through a counter of clicks: the one parameter that is an address itself.
fn hidden_target(url: &Url) -> Option<Url> {
    let is_address = |value: &str| value.starts_with("https://") || value.starts_with("http://");
    let (_, target) =
        url.query_pairs().find(|(name, value)| REDIRECTS.contains(&name.as_ref()) && is_address(value))?;
    Url::parse(&target).ok().filter(|target| !target.cannot_be_a_base())
}

fn push_query(target: &mut String, query: &str) {
    let mut sign = '?';
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
        if TRACKING.contains(&name.as_str()) || name.starts_with("utm_") || name.starts_with("session") {
            continue;
        }
        target.push(sign);
        target.push_str(parameter);
        sign = '&';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_links_are_resolved_as_all_links_are(
            page in "(https|http|ftp)://a(:8080)?(/|/b|/b/|/b/c.html|/b/c.html\\?d=1)",
            base in proptest::option::of("/|/b/|/x/y|https://b|//c/d/e"),
            href in "(/|[a-c]|\\.|c\\.html|b/c\\.html|/b|/b/c\\.html|//|cdn-cgi/l/email-protection| |%2e|:|\\?|é){0,4}(#[a-c.]{0,3}|#%20|#)?",
        ) {
            let base = Base::new(Some(&page), base.as_deref());
            let target = base.resolved(&href);
            prop_assert_eq!(base.target_hash(&href), target.as_ref().map(|target| fnv1a64(target.as_bytes())));
            prop_assert_eq!(base.target(&href), target);
        }
    }

    #[test]
    fn one_place_has_one_spelling() {
        let base = Base::new(Some("https://a.test/legal/terms?x=1#top"), None);
        let check = |href, expected: &str| assert_eq!(base.target(href).as_deref().unwrap_or("-"), expected, "{href}");
        check("/privacy/", "https://a.test/privacy");
        check("https://a.test/privacy", "https://a.test/privacy");
        check("HTTP://A.test:80/privacy?utm_source=x&id=7&gclid=1", "http://a.test/privacy?id=7");
        check("../privacy#use", "https://a.test/privacy#use");
        check("https://go.test/l?u=https%3A%2F%2Fb.test%2Fx%2F&h=8f14e4", "https://b.test/x");
        check("#part", "#part");
        check("https://a.test/legal/terms?x=1#part", "#part");
        check("/cdn-cgi/l/email-protection#8f14e45f", "mailto:");
        check("mailto:ann@a.test", "mailto:");
        check("tel:+123", "tel:+123");
        check(" javascript:no()", "-");
        check("https://[broken/", "https://[broken");
    }

    #[test]
    fn the_base_element_counts_before_the_address() {
        assert_eq!(
            Base::new(Some("https://a.test/x"), Some("/dir/")).target("y").as_deref(),
            Some("https://a.test/dir/y")
        );
        assert_eq!(Base::new(None, Some("https://b.test/")).target("y").as_deref(), Some("https://b.test/y"));
        assert_eq!(Base::new(None, None).target("y/").as_deref(), Some("y"));
    }
}
