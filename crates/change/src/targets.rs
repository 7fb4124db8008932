//! Canonical link targets: a link counts as changed when it leads elsewhere, not when it is spelled differently.

use document::{splitmix64, text_hash};
use page::{CanonicalUrl, UrlProblem, UrlRules};

/// Query parameters in which click counters carry the address they redirect to.
const REDIRECTS: &[&str] = &["u", "url", "q", "to", "target", "dest", "destination", "redirect", "redirect_url"];
/// The path with which a common protection against address harvesting replaces `mailto:` links; its key changes at
/// every fetch.
const HIDDEN_MAIL: &str = "/cdn-cgi/l/email-protection";

/// The addresses that a page's links are resolved against.
#[derive(Clone, Debug)]
pub(crate) struct LinkBase<'r> {
    /// The address of the page itself.
    own: Option<CanonicalUrl>,
    /// The address from `<base href>`, if any; links are resolved against it first.
    base: Option<CanonicalUrl>,
    rules: &'r UrlRules,
}

/// The destination of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LinkTarget<'h> {
    /// A mail address. Empty if the page hides it.
    Mail { address: &'h str },
    /// A place on the page itself.
    Own { fragment: &'h str },
    /// A page, or a place on it.
    Page { url: CanonicalUrl, fragment: &'h str },
    /// Something that is not crawled, as written.
    Other(&'h str),
}

impl<'r> LinkBase<'r> {
    /// The base of a page at an address with its `<base href>`. The rules say which addresses are one page.
    pub(crate) fn new(page: Option<&str>, base_href: Option<&str>, rules: &'r UrlRules) -> Self {
        let own = page.and_then(|page| CanonicalUrl::parse(page).ok());
        let base = base_href.and_then(|href| match &own {
            Some(own) => own.join(href).ok(),
            None => CanonicalUrl::parse(href).ok(),
        });
        Self { own: own.map(|own| rules.apply(own)), base, rules }
    }

    /// The rules that say which addresses are one page.
    pub(crate) fn rules(&self) -> &'r UrlRules {
        self.rules
    }

    /// The address of the page and that of its `<base href>`, from which [`new`](Self::new) makes this again.
    pub(crate) fn addresses(&self) -> [Option<&str>; 2] {
        [&self.own, &self.base].map(|address| address.as_ref().map(CanonicalUrl::as_str))
    }

    /// The canonical target; `None` for a link that leads nowhere. Trailing slashes of a path are dropped. A link to
    /// the page itself keeps only its `#part`.
    pub(crate) fn target(&self, href: &str) -> Option<String> {
        self.resolve(href).map(|target| target.pieces().concat())
    }

    /// A hash of the canonical target, computed from its parts.
    pub(crate) fn target_hash(&self, href: &str) -> Option<u64> {
        let with =
            |hash, piece: &str| if piece.is_empty() { hash } else { splitmix64(hash ^ text_hash(piece.as_bytes())) };
        self.resolve(href).map(|target| target.pieces().into_iter().fold(0, with))
    }

    fn resolve<'h>(&self, href: &'h str) -> Option<LinkTarget<'h>> {
        let href = href.trim();
        let scheme = |name: &str| href.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        if href.is_empty() || ["javascript:", "data:", "blob:", "about:"].into_iter().any(scheme) {
            return None;
        }
        let (reference, fragment) = match memchr::memchr(b'#', href.as_bytes()) {
            Some(at) => (&href[..at], &href[at + 1..]),
            None => (href, ""),
        };
        let base = self.base.as_ref().or(self.own.as_ref());
        if reference.is_empty() && self.base.is_none() && self.own.is_some() {
            return Some(LinkTarget::Own { fragment });
        }
        let url = match base.map_or_else(|| CanonicalUrl::parse(reference), |base| base.join(reference)) {
            Ok(url) => url,
            Err(UrlProblem::Scheme(scheme)) if scheme == "mailto" => {
                let address = href.split_once(':').map_or("", |(_, address)| address);
                return Some(LinkTarget::Mail { address });
            }
            Err(_) if href.starts_with(HIDDEN_MAIL) => return Some(LinkTarget::Mail { address: "" }),
            Err(_) => return Some(LinkTarget::Other(href.trim_end_matches('/'))),
        };
        if url.path() == HIDDEN_MAIL {
            return Some(LinkTarget::Mail { address: "" });
        }
        let (url, fragment) = match hidden_target(&url) {
            Some(hidden) => (hidden, ""),
            None => (url, fragment),
        };
        let url = self.rules.apply(url);
        Some(if self.own.as_ref() == Some(&url) {
            LinkTarget::Own { fragment }
        } else {
            LinkTarget::Page { url, fragment }
        })
    }
}

impl LinkTarget<'_> {
    /// The parts that concatenate to the canonical target.
    fn pieces(&self) -> [&str; 5] {
        let sign = |sign: &'static str, part: &str| if part.is_empty() { "" } else { sign };
        match self {
            Self::Mail { address } => ["mailto:", address, "", "", ""],
            Self::Own { fragment } => [sign("#", fragment), fragment, "", "", ""],
            Self::Other(href) => [href, "", "", "", ""],
            Self::Page { url, fragment } => {
                let query = url.query().unwrap_or_default();
                let page = url.as_str();
                let page = &page[..page.len() - query.len() - sign("?", query).len()];
                [page.trim_end_matches('/'), sign("?", query), query, sign("#", fragment), fragment]
            }
        }
    }
}

/// The target of a link through a click counter: the first redirect parameter that is an address itself.
fn hidden_target(url: &CanonicalUrl) -> Option<CanonicalUrl> {
    let pairs = form_urlencoded::parse(url.query()?.as_bytes());
    let is_address = |value: &str| value.starts_with("https://") || value.starts_with("http://");
    let mut targets = pairs.filter(|(name, value)| REDIRECTS.contains(&name.as_ref()) && is_address(value));
    targets.next().and_then(|(_, target)| CanonicalUrl::parse(&target).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> UrlRules {
        UrlRules { drop_parameters: ["utm_*", "gclid"].map(str::to_owned).to_vec(), ..UrlRules::none() }
    }

    #[test]
    fn one_place_has_one_spelling() {
        let rules = rules();
        let base = LinkBase::new(Some("https://a.test/legal/terms?x=1#top"), None, &rules);
        let check = |href, expected: &str| assert_eq!(base.target(href).as_deref().unwrap_or("-"), expected, "{href}");
        check("/privacy/", "https://a.test/privacy");
        check("https://a.test/privacy", "https://a.test/privacy");
        check("HTTP://A.test:80/privacy?utm_source=x&id=7&gclid=1", "http://a.test/privacy?id=7");
        check("../privacy#use", "https://a.test/privacy#use");
        check("https://go.test/l?u=https%3A%2F%2Fb.test%2Fx%2F&h=8f14e4", "https://b.test/x");
        check("#part", "#part");
        check("https://a.test/legal/terms?x=1#part", "#part");
        check("?gclid=7&x=1", "");
        check("/cdn-cgi/l/email-protection#8f14e45f", "mailto:");
        check("mailto:ann@a.test", "mailto:ann@a.test");
        check("tel:+123", "tel:+123");
        check(" javascript:no()", "-");
        check("https://[broken/", "https://[broken");
    }

    #[test]
    fn targets_with_one_spelling_have_one_hash_and_others_have_others() {
        let rules = rules();
        let base = LinkBase::new(Some("https://a.test/legal/terms"), None, &rules);
        let hrefs =
            ["/x?b&utm_id=1#c", "/x/?b#c", "x", "../x", "#y", "terms#y", "mailto:a@b", "mailto:c@d", "ftp://a/", "/x"];
        for (one, other) in hrefs.iter().flat_map(|one| hrefs.map(|other| (one, other))) {
            let hashes = (base.target_hash(one), base.target_hash(other));
            assert_eq!(hashes.0 == hashes.1, base.target(one) == base.target(other), "{one} {other}");
        }
    }

    #[test]
    fn the_base_element_counts_before_the_address() {
        let rules = rules();
        let target = |page, base, href| LinkBase::new(page, base, &rules).target(href).unwrap();
        assert_eq!(target(Some("https://a.test/x"), Some("/dir/"), "y"), "https://a.test/dir/y");
        assert_eq!(target(Some("https://a.test/x"), Some("/dir/"), "#y"), "https://a.test/dir#y");
        assert_eq!(target(None, Some("https://b.test/"), "y"), "https://b.test/y");
        assert_eq!(target(None, None, "y/"), "y");
    }
}
