//! Lists of URLs, one per line.

use crate::sitemap::{Sitemap, SitemapEntry, SitemapKind};

pub(crate) fn read(text: &str, sitemap: &mut Sitemap) {
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let scheme = line.split_once("://").map_or("", |(scheme, _)| scheme);
        if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
            sitemap.kind = Some(SitemapKind::Text);
            sitemap.push(SitemapEntry { url: line.to_owned(), ..SitemapEntry::default() });
        } else {
            let shown: String = line.chars().take(60).collect();
            sitemap.problem(format!("line {}: {shown:?} is not a URL", number + 1));
        }
        if sitemap.is_full() {
            sitemap.problem("too many entries; the rest of the list is ignored".to_owned());
            break;
        }
    }
    if sitemap.kind.is_none() {
        sitemap.problem("not XML, not JSON and not a list of URLs".to_owned());
    }
}
