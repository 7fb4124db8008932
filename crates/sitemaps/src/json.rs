//! JSON feeds, versions 1 and 1.1.

use crate::dates;
use crate::sitemap::{Sitemap, SitemapEntry, SitemapKind};
use serde_json::Value;

pub(crate) fn read(text: &str, sitemap: &mut Sitemap) {
    let feed: Value = match serde_json::from_str(text) {
        Ok(feed) => feed,
        Err(error) => return sitemap.problem(format!("JSON: {error}")),
    };
    let Some(items) = feed.get("items").and_then(Value::as_array) else {
        return sitemap.problem("JSON without items is not a feed".to_owned());
    };
    sitemap.kind = Some(SitemapKind::JsonFeed);
    for (number, item) in items.iter().enumerate() {
        let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        // The id is often the URL.
        let id = text("id").filter(|id| id.starts_with("http://") || id.starts_with("https://"));
        let Some(url) = text("url").or_else(|| text("external_url")).or(id) else {
            sitemap.problem(format!("item {} has no url", number + 1));
            continue;
        };
        let date = text("date_modified").or_else(|| text("date_published"));
        let mut entry = SitemapEntry { url: url.to_owned(), ..SitemapEntry::default() };
        entry.set_date(date.and_then(dates::read));
        if let (Some(date), None) = (date, &entry.last_modified) {
            sitemap.problem(format!("{url}: {date:?} is not a date"));
        }
        sitemap.push(entry);
    }
}
