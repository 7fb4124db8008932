//! Addresses of links by the URL standard, without our own normalisation.

use crate::url::UrlProblem;

/// The `href` of a URL of any scheme according to the WHATWG URL standard, without our own normalisation.
pub fn whatwg_href(text: &str, base: Option<&str>) -> Result<String, UrlProblem> {
    ada_url::Url::parse(text, base).map(|url| url.href().to_owned()).map_err(|_| UrlProblem::Malformed)
}

/// The address that the links of a page are resolved against, by the page's own and its `<base href>`. `None` if neither
/// is one.
pub fn base_href(url: Option<&str>, base: Option<&str>) -> Option<String> {
    let address = url.and_then(|url| whatwg_href(url, None).ok());
    base.and_then(|base| whatwg_href(base, address.as_deref()).ok()).or(address)
}
