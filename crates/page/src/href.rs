//! Addresses of links by the URL standard, without our own normalisation.

use crate::url::UrlProblem;

/// The `href` of a URL of any scheme according to the WHATWG URL standard, without our own normalisation.
pub fn whatwg_href(text: &str, base: Option<&str>) -> Result<String, UrlProblem> {
    ada_url::Url::parse(text, base).map(|url| url.href().to_owned()).map_err(|_| UrlProblem::Malformed)
}

/// The address that the links of a page are resolved against, by the page's own and its `<base href>`. `None` if neither
/// is one. A base that is data or a script is none (HTML standard, "set the frozen base URL").
pub fn base_href(url: Option<&str>, base: Option<&str>) -> Option<String> {
    let address = url.and_then(|url| whatwg_href(url, None).ok());
    let is_place = |base: &String| !base.starts_with("data:") && !base.starts_with("javascript:");
    base.and_then(|base| whatwg_href(base, address.as_deref()).ok()).filter(is_place).or(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_that_is_no_place_is_ignored() {
        let page = Some("http://a.test/d/p");
        for base in ["data:,x", " DATA:text/html,y", "javascript:0", "http://", "http://["] {
            assert_eq!(base_href(page, Some(base)).as_deref(), page, "{base}");
        }
        assert_eq!(base_href(page, Some("/e/")).as_deref(), Some("http://a.test/e/"));
        assert_eq!(base_href(None, Some("data:,x")), None);
    }
}
