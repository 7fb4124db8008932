//! Canonical link targets: a link counts as changed when it leads elsewhere, not when it is spelled differently.

use chance::splitmix64;
use document::passage_hash;
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

    /// The addresses of the page and of its `<base href>`. [`new`](Self::new) makes the same from them.
    pub(crate) fn addresses(&self) -> [Option<&str>; 2] {
        [&self.own, &self.base].map(|address| address.as_ref().map(CanonicalUrl::as_str))
    }

    /// The canonical target; `None` for a link that leads nowhere. Trailing slashes of a path are dropped. A link to
    /// the page itself keeps only its `#part`.
    pub(crate) fn target(&self, href: &str) -> Option<String> {
        self.resolve(href).map(|target| target.pieces().concat())
    }

    fn resolve<'h>(&self, href: &'h str) -> Option<LinkTarget<'h>> {
        let href = trimmed(href)?;
        let (reference, fragment) = split_fragment(href);
        Some(match self.destination(reference) {
            Destination::Page { page, is_counted } => {
                let fragment = if is_counted { "" } else { fragment };
                page.map_or(LinkTarget::Own { fragment }, |url| LinkTarget::Page { url, fragment })
            }
            Destination::Mail => LinkTarget::Mail { address: href.split_once(':').map_or("", |(_, address)| address) },
            Destination::HiddenMail => LinkTarget::Mail { address: "" },
            Destination::Other => LinkTarget::Other(href.trim_end_matches('/')),
        })
    }

    /// Resolves a reference without its fragment.
    fn destination(&self, reference: &str) -> Destination {
        if reference.is_empty() && self.base.is_none() && self.own.is_some() {
            return Destination::Page { page: None, is_counted: false };
        }
        let base = self.base.as_ref().or(self.own.as_ref());
        let url = match base.map_or_else(|| CanonicalUrl::parse(reference), |base| base.join(reference)) {
            Ok(url) => url,
            Err(UrlProblem::Scheme(scheme)) if scheme == "mailto" => return Destination::Mail,
            Err(_) if reference.starts_with(HIDDEN_MAIL) => return Destination::HiddenMail,
            Err(_) => return Destination::Other,
        };
        if url.path() == HIDDEN_MAIL {
            return Destination::HiddenMail;
        }
        let hidden = hidden_target(&url);
        let is_counted = hidden.is_some();
        let url = self.rules.apply(hidden.unwrap_or(url));
        Destination::Page { page: (self.own.as_ref() != Some(&url)).then_some(url), is_counted }
    }
}

/// Where a reference without its fragment leads.
enum Destination {
    /// To a page, `None` for the page itself. The fragment of a link through a click counter belongs to the counter.
    Page {
        page: Option<CanonicalUrl>,
        is_counted: bool,
    },
    Mail,
    HiddenMail,
    Other,
}

/// A link without the white space around it; `None` if it leads nowhere.
fn trimmed(href: &str) -> Option<&str> {
    let href = href.trim();
    let schemes: &[&str] = match href.as_bytes().first()? {
        b'j' | b'J' => &["javascript:"],
        b'd' | b'D' => &["data:"],
        b'b' | b'B' => &["blob:"],
        b'a' | b'A' => &["about:"],
        _ => &[],
    };
    let leads_nowhere =
        |scheme: &&str| href.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    (!schemes.iter().any(leads_nowhere)).then_some(href)
}

/// The reference and the fragment of a link.
fn split_fragment(href: &str) -> (&str, &str) {
    match wide_bytes::find_near(b'#', href.as_bytes()) {
        Some(at) => (&href[..at], &href[at + 1..]),
        None => (href, ""),
    }
}

/// The most references remembered.
const KNOWN_REFERENCES: usize = 64;

/// The hashes of the targets of one page's links. Many links differ in their fragment alone, so the hashes of some
/// references are remembered.
pub(crate) struct TargetHashes<'b, 'r, 'h> {
    base: &'b LinkBase<'r>,
    known: [Option<(&'h str, u64)>; KNOWN_REFERENCES],
}

impl<'b, 'r, 'h> TargetHashes<'b, 'r, 'h> {
    pub(crate) fn new(base: &'b LinkBase<'r>) -> Self {
        Self { base, known: [None; KNOWN_REFERENCES] }
    }

    /// A hash of the canonical target of a link; `None` for a link that leads nowhere.
    pub(crate) fn of(&mut self, href: &'h str) -> Option<u64> {
        let (reference, fragment) = split_fragment(trimmed(href)?);
        // References of one page begin alike and differ at their end.
        let end = reference.as_bytes().iter().rev().take(8);
        let place = end.fold(reference.len(), |place, byte| (5 * place).wrapping_add(usize::from(*byte)));
        let known = &mut self.known[place % KNOWN_REFERENCES];
        if let Some((_, page)) = known.filter(|(known, _)| *known == reference) {
            return Some(with_fragment(page, fragment));
        }
        let Destination::Page { page, is_counted: false } = self.base.destination(reference) else {
            // Its fragment does not count, or is a part of it.
            return self.base.resolve(href).map(|target| hash_of(0, &target.pieces()));
        };
        let page = page.map_or(0, |url| hash_of(0, &page_pieces(&url)));
        *known = Some((reference, page));
        Some(with_fragment(page, fragment))
    }
}

fn with_fragment(page: u64, fragment: &str) -> u64 {
    hash_of(page, &[sign("#", fragment), fragment])
}

fn hash_of(start: u64, pieces: &[&str]) -> u64 {
    let pieces = pieces.iter().filter(|piece| !piece.is_empty());
    pieces.fold(start, |hash, piece| splitmix64(hash ^ passage_hash(piece.as_bytes())))
}

/// The sign before a part, unless that is empty.
fn sign(sign: &'static str, part: &str) -> &'static str {
    if part.is_empty() { "" } else { sign }
}

/// The parts that concatenate to the address of a page.
fn page_pieces(url: &CanonicalUrl) -> [&str; 3] {
    let query = url.query().unwrap_or_default();
    let page = url.as_str();
    let page = &page[..page.len() - query.len() - sign("?", query).len()];
    [page.trim_end_matches('/'), sign("?", query), query]
}

impl LinkTarget<'_> {
    /// The parts that concatenate to the canonical target.
    fn pieces(&self) -> [&str; 5] {
        match self {
            Self::Mail { address } => ["mailto:", address, "", "", ""],
            Self::Own { fragment } => [sign("#", fragment), fragment, "", "", ""],
            Self::Other(href) => [href, "", "", "", ""],
            Self::Page { url, fragment } => {
                let [page, mark, query] = page_pieces(url);
                [page, mark, query, sign("#", fragment), fragment]
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

    /// A click counter that leads to the page itself; the fragment is the counter's.
    const COUNTED_OWN: &str = "https://go.test/l?u=https%3A%2F%2Fa.test%2Flegal%2Fterms#y";

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
        check("https://go.test/l?u=https%3A%2F%2Fa.test%2Flegal%2Fterms%3Fx%3D1#part", "");
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
        let hrefs = [
            "/x?b&utm_id=1#c",
            "/x/?b#c",
            "x",
            "../x",
            "#y",
            "terms#y",
            "mailto:a@b",
            "mailto:c@d",
            "ftp://a/",
            "/x",
            "x#y",
            COUNTED_OWN,
            "#",
        ];
        for (one, other) in hrefs.iter().flat_map(|one| hrefs.map(|other| (one, other))) {
            let mut known = TargetHashes::new(&base);
            let hashes = (known.of(one), known.of(other));
            assert_eq!(hashes, (known.of(one), known.of(other)), "the same when remembered: {one} {other}");
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
