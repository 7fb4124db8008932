//! Addresses of links by the URL standard, without our own normalisation.

use crate::url::{MAX_URL_BYTES, UrlProblem};

/// The `href` of a URL of any scheme according to the WHATWG URL standard, without our own normalisation.
pub fn whatwg_href(text: &str, base: Option<&str>) -> Result<String, UrlProblem> {
    ada_url::Url::parse(text, base).map(|url| url.href().to_owned()).map_err(|_| UrlProblem::Malformed)
}

/// Bytes of resolved links for each byte of a reference, …
const BYTES_PER_BYTE: usize = 8;
/// … bytes of a reference beside its text, …
const REFERENCE_BYTES: usize = 32;
/// … and bytes of resolved links that every page has.
const FREE_BYTES: usize = 256 << 10;

/// Resolves the links of a page against its own address and its `<base href>`, in bounded work. A page can have thousands of
/// one-byte links and a base of any length; their product is no work that it can ask for.
#[derive(Clone, Debug)]
pub struct LinkResolver {
    /// `None` if neither the page's address nor its base is one.
    base: Option<String>,
    /// Bytes that resolved links may still take.
    left: usize,
}

impl LinkResolver {
    /// For a page with this address and this `<base href>`. A base that is longer than an address may be counts as none, and so
    /// does one that is data or a script (HTML standard, "set the frozen base URL").
    pub fn new(url: Option<&str>, base: Option<&str>) -> Self {
        let is_short = |href: &String| href.len() <= MAX_URL_BYTES;
        let address = url.and_then(|url| whatwg_href(url, None).ok()).filter(is_short);
        let base = base.filter(|base| base.len() <= MAX_URL_BYTES);
        let is_place = |base: &String| is_short(base) && !base.starts_with("data:") && !base.starts_with("javascript:");
        let base = base.and_then(|base| whatwg_href(base, address.as_deref()).ok()).filter(is_place).or(address);
        Self { base, left: FREE_BYTES }
    }

    /// The target of a link.
    ///
    /// # Errors
    /// It is no address, or longer than one may be, or the resolved links of the page are far longer than what it says.
    pub fn resolve(&mut self, reference: &str) -> Result<String, UrlProblem> {
        self.left += BYTES_PER_BYTE * (reference.len() + REFERENCE_BYTES);
        let most = self.base.as_ref().map_or(0, String::len) + reference.len();
        if most > self.left {
            return Err(UrlProblem::TooLong(most));
        }
        let href = whatwg_href(reference, self.base.as_deref())?;
        self.left = self.left.saturating_sub(href.len());
        if href.len() > MAX_URL_BYTES { Err(UrlProblem::TooLong(href.len())) } else { Ok(href) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_that_is_no_place_is_ignored() {
        let page = Some("http://a.test/d/p");
        let resolved = |page, base| LinkResolver::new(page, Some(base)).resolve("x").ok();
        for base in ["data:,x", " DATA:text/html,y", "javascript:0", "http://", "http://["] {
            assert_eq!(resolved(page, base).as_deref(), Some("http://a.test/d/x"), "{base}");
        }
        assert_eq!(resolved(page, "/e/").as_deref(), Some("http://a.test/e/x"));
        assert_eq!(resolved(None, "data:,x"), None);
    }

    #[test]
    fn a_base_and_a_link_are_no_longer_than_an_address() {
        let long = format!("http://x.test/{}", "a/".repeat(2_000));
        let mut links = LinkResolver::new(Some("http://a.test/dir/page"), Some(&long));
        assert_eq!(links.resolve("b").unwrap(), "http://a.test/dir/b");
        assert!(links.resolve(&"b".repeat(2_100)).is_err());
        assert_eq!(links.resolve("http://b.test").unwrap(), "http://b.test/");
    }

    #[test]
    fn many_short_links_are_not_multiplied_by_a_long_base() {
        let base = format!("http://x.test/{}", "a/".repeat(1_000));
        let mut links = LinkResolver::new(None, Some(&base));
        let bytes: usize = (0..10_000).filter_map(|_| links.resolve("b").ok()).map(|url| url.len()).sum();
        assert!(bytes < 3_100_000, "{bytes}");
        let mut links = LinkResolver::new(None, Some(&base[..200]));
        assert!((0..10_000).all(|_| links.resolve("b").is_ok()), "an ordinary base is resolved for all links");
    }
}
