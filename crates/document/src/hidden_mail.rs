//! Mail addresses behind Cloudflare's protection against harvesters. Its key is another at each request, so the address itself is
//! what may change.

use crate::attributes::attribute;
use crate::markup::StartTag;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// The path that stands in the place of a `mailto:` link.
const PATH: &str = "/cdn-cgi/l/email-protection";
/// The attribute that has the address in hexadecimal digits.
const ATTRIBUTE: &str = "data-cfemail";
/// Built once: links and elements are many.
static FIND_PATH: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PATH));
static FIND_ATTRIBUTE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(ATTRIBUTE));
/// The longest address, twice, as it is written (RFC 5321, §4.5.3.1.3), with its key and a subject.
const MAX_HEX_BYTES: usize = 1_024;

/// The `mailto:` link that a protected one stands for: from its fragment, or from the attribute of an element without one.
/// `None` for other links.
pub(crate) fn mail_link(href: &str, attributes: &str) -> Option<String> {
    // Nearly no link has the path.
    let may_have_path = href.len() >= PATH.len() && href.starts_with(['/', 'h', 'H']);
    if !may_have_path || FIND_PATH.find(href.as_bytes()).is_none() {
        return None;
    }
    let written = match href.split_once('#') {
        Some((_, fragment)) => fragment.to_owned(),
        None => attribute(attributes, ATTRIBUTE)?,
    };
    Some(format!("mailto:{}", decoded(&written)?))
}

/// Whether an element may have a protected address as its text.
pub(crate) fn may_protect_mail(tag: StartTag<'_>) -> bool {
    tag.attributes_place().len() > ATTRIBUTE.len() && tag.name.as_bytes() == b"span"
}

/// The protected address that stands in the place of an element's text.
pub(crate) fn protected_mail(attributes: &str) -> Option<String> {
    FIND_ATTRIBUTE.find(attributes.as_bytes())?;
    decoded(&attribute(attributes, ATTRIBUTE)?)
}

/// The address of hexadecimal bytes: the first is a key, with which all others were combined.
fn decoded(hex: &str) -> Option<String> {
    let digits: Option<Vec<u8>> =
        hex.chars().take(MAX_HEX_BYTES + 1).map(|sign| sign.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() <= MAX_HEX_BYTES && digits.len() > 2)?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    let (key, rest) = bytes.split_first()?;
    String::from_utf8(rest.iter().map(|byte| byte ^ key).collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_address_is_read() {
        let hidden = |key: u8| {
            let bytes = std::iter::once(key).chain("ann@a.test".bytes().map(|byte| byte ^ key));
            bytes.map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        for key in [0, 7, 255] {
            let href = format!("{PATH}#{}", hidden(key));
            assert_eq!(mail_link(&href, "").as_deref(), Some("mailto:ann@a.test"));
            let attributes = format!(" class=__cf_email__ data-cfemail='{}'", hidden(key));
            assert_eq!(mail_link(PATH, &attributes).as_deref(), Some("mailto:ann@a.test"));
        }
        for other in ["/contact#4b2f", PATH, "/cdn-cgi/l/email-protection#4b2", "/cdn-cgi/l/email-protection#xy12"] {
            assert_eq!(mail_link(other, ""), None, "{other}");
        }
        let blocks = crate::Blocks::of_html(&format!("<a href='{PATH}#{}'>Write</a>", hidden(9)));
        assert_eq!(blocks.href(0), "mailto:ann@a.test");
        let span = format!("<p>Ask <span class=c data-cfemail={}>[email&#160;protected]</span> now", hidden(9));
        let blocks = crate::Blocks::of_html(&span);
        assert_eq!(blocks.text(&blocks.list[0]), "Ask ann@a.test now");
    }
}
