//! Reads `X-Robots-Tag`, by which a server says of any page what HTML says in `<meta name=robots>`.

use hyper::header::{HeaderMap, HeaderName};

pub(crate) const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// Directives that have a value behind a colon, which is no directive.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Whether the headers forbid this crawler to index the page, and to follow its links. Directives behind the name of another
/// crawler, up to the next name, do not count.
pub(crate) fn robots_tag(headers: &HeaderMap, product_token: &str) -> (bool, bool) {
    let (mut noindex, mut nofollow) = (false, false);
    for value in headers.get_all(X_ROBOTS_TAG) {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        let mut is_for_us = true;
        for part in value.split(',') {
            let (name, directive) = part.split_once(':').map_or(("", part), |(name, rest)| (name.trim(), rest));
            if WITH_VALUE.contains(&name) || name.contains(char::is_whitespace) {
                continue;
            }
            if !name.is_empty() {
                is_for_us = name == "*" || name == "robots" || name.eq_ignore_ascii_case(product_token);
            }
            let directive = directive.trim();
            noindex |= is_for_us && matches!(directive, "none" | "noindex");
            nofollow |= is_for_us && matches!(directive, "none" | "nofollow");
        }
    }
    (noindex, nofollow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn directives_for_all_and_for_this_crawler_count() {
        let check = |values: &[&'static str], expected| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(X_ROBOTS_TAG, HeaderValue::from_static(value));
            }
            assert_eq!(robots_tag(&headers, "OurBot"), expected, "{values:?}");
        };
        check(&[], (false, false));
        check(&["nofollow"], (false, true));
        check(&["NoIndex, noarchive"], (true, false));
        check(&["none"], (true, true));
        check(&["noarchive", "nofollow"], (false, true));
        check(&["otherbot: noindex, nofollow"], (false, false));
        check(&["otherbot: noindex, ourbot: nofollow"], (false, true));
        check(&["ourbot: none"], (true, true));
        check(&["unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nofollow"], (false, true));
        check(&["max-snippet: 0, otherbot: none"], (false, false));
        check(&["nofollowing, index"], (false, false));
    }
}
