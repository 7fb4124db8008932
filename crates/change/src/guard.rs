//! Detects responses that are not the page at all: an error, a consent wall or a login served with status 200. English
//! phrases recognise one by itself. A text that replaces many pages is recognised in any language ([`crate::walls`]).

use crate::version::Version;

/// After this many suspect versions in a row, the next one is accepted as the page.
pub(crate) const MAX_HELD_VERSIONS: u8 = 3;
/// A version with less than this share of the earlier text is suspect if it also reads like an error.
const SHRUNK_SHARE: f64 = 0.7;
/// Error pages are shorter than this.
pub(crate) const MAX_ERROR_PAGE_BYTES: usize = 3_000;
const ERRORS: &[&str] = &[
    "access denied",
    "just a moment",
    "verify you are",
    "captcha",
    "not found",
    "error 4",
    "error 5",
    "service unavailable",
    "temporarily unavailable",
    "something went wrong",
    "an error occurred",
    "redirected",
    "unusual traffic",
    "sign in to continue",
    "enable javascript",
    "forbidden",
    "too many requests",
];

/// Whether a version looks like something served in the page's place. It is suspect if it is empty where there was
/// text, or if it is much shorter, short, and worded like an error. A page replaced by another text is not suspect:
/// that is news. Where parts of the page are watched, it is suspect if none of them is there. Their wording does not
/// matter: "temporarily unavailable" may be the watched text.
pub(crate) fn is_suspect(version: &Version<'_>, reference_bytes: usize) -> bool {
    let bytes = version.region_bytes;
    let shrunk = (bytes as f64) < SHRUNK_SHARE * reference_bytes as f64;
    let sounds_like_an_error = |text: &str| {
        let text = text.to_lowercase();
        ERRORS.iter().any(|error| text.contains(error))
    };
    shrunk
        && (bytes == 0
            || (!version.is_watched()
                && bytes < MAX_ERROR_PAGE_BYTES
                && version.region_texts().any(sounds_like_an_error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_errors_in_the_place_of_a_page_are_suspect() {
        let check = |html: &str, suspect| {
            let urls = page::UrlRules::none();
            let version = Version::new(html.as_bytes(), Some("text/html"), None, &urls);
            assert_eq!(is_suspect(&version, 2_000), suspect, "{html}");
        };
        check("<h1>Just a moment...</h1>", true);
        check("", true);
        check("<p>We have moved to our new address.", false);
        check(&format!("<p>Not found what you need? {}", "Ask us. ".repeat(200)), false);
    }
}
