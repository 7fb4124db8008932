//! URLs of any bytes: refused, or one canonical spelling that stays.
//!
//! Input: a line with a page's URL, then a reference found on the page.
#![no_main]

use libfuzzer_sys::fuzz_target;
use page::{CanonicalUrl, UrlRules, whatwg_href};

const MAX_URL_BYTES: usize = 2_048;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (page, reference) = text.split_once('\n').unwrap_or((&text, ""));
    let Ok(page) = CanonicalUrl::parse(page) else { return };
    is_sound(&page);
    let joined = page.join(reference);
    joined.as_ref().into_iter().for_each(is_sound);
    // The short cuts for plain references give what the parser gives.
    let parsed = whatwg_href(reference.trim(), Some(page.as_str())).and_then(|href| CanonicalUrl::parse(&href));
    assert_eq!(joined.ok(), parsed.ok());
});

fn is_sound(url: &CanonicalUrl) {
    assert!(url.as_str().len() <= MAX_URL_BYTES);
    assert!(url.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
    assert_eq!(CanonicalUrl::parse(url.as_str()).as_ref(), Ok(url));
    let port = format!(":{}", url.port());
    let authority = url.host();
    assert_eq!(format!("{}://{}{}", url.scheme(), authority.as_str(), url.path_and_query()), url.as_str());
    assert!(!url.host_name().is_empty() && url.path().starts_with('/'), "{url}");
    assert!(authority.as_str().ends_with(&port) || ["http:80", "https:443"].contains(&format!("{}{port}", url.scheme()).as_str()));
    assert!(!url.site_key().as_str().is_empty(), "{url}");
    let rules = UrlRules {
        drop_parameters: vec!["utm_*".to_owned(), "sid".to_owned()],
        sort_parameters: true,
        merge_slashes: true,
        max_parameters: 8,
        max_repeated_segments: 2,
    };
    let applied = rules.apply(url.clone());
    let _ = rules.check(&applied);
    assert_eq!(rules.apply(applied.clone()), applied, "of {url}");
}
