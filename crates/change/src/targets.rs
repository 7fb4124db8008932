//! Link targets in one spelling, so that a link counts as changed when it leads elsewhere, not when it is written otherwise.

mod plain;

use crate::hash::fnv1a64;
use crate::targets::plain::PlainBase;
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
            page in "(https|http|ftp)://a(:8080)?(/|/b|/b/|/b/c.html|/b/c.html\\?d=1|/b/b/c|//b/)",
            base in proptest::option::of("/|/b/|/x/y|https://b|//c/d/e"),
            href in "(https?://([abx0-9]|xn--|b.com|-|[.]){0,5}|https://a(:8080)?/?|http|(\\.\\./){0,3})(/|[a-c]|\\.|c\\.html|b/c\\.html|/b|/b/c\\.html|//|cdn-cgi/l/email-protection| |%2e|:|\\?|é){0,4}(#[a-c.]{0,3}|#%20|#)?",
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
