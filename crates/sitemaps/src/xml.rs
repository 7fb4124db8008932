//! Sitemaps, RSS and Atom. Elements are matched by local name, because namespaces and prefixes are often wrong or
//! missing.

use crate::dates;
use crate::sitemap::{Sitemap, SitemapEntry, SitemapKind};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

const MAX_DEPTH: usize = 64;
/// Longest text kept of an element, in bytes. URLs and dates are shorter.
const MAX_TEXT_BYTES: usize = 8_192;

pub(crate) fn read(text: &str, sitemap: &mut Sitemap) {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut document = Document { sitemap, path: Vec::new(), item: None, text: String::new() };
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => {
                if !document.take(&event) {
                    break;
                }
            }
            // Keep the entries before the fault. The rest is unreliable.
            Err(error) => {
                let problem = format!("XML at byte {}: {error}", reader.error_position());
                document.sitemap.problem(problem);
                break;
            }
        }
    }
    document.finish();
}

/// Parser state of a document.
struct Document<'a> {
    sitemap: &'a mut Sitemap,
    /// Local names of the open elements.
    path: Vec<String>,
    item: Option<XmlItem>,
    /// Text of the innermost element.
    text: String,
}

/// Parser state of an item.
#[derive(Default)]
struct XmlItem {
    /// Number of open elements when the item began.
    depth: usize,
    entry: SitemapEntry,
    /// Fallbacks for a missing URL or date.
    second_url: Option<String>,
    second_date: Option<String>,
}

impl Document<'_> {
    /// Handles an event. Returns false when enough was read.
    fn take(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Start(tag) => return self.open(tag),
            Event::Empty(tag) => {
                if !self.open(tag) {
                    return false;
                }
                return self.close();
            }
            Event::End(_) => return self.close(),
            Event::Text(text) => self.add(&String::from_utf8_lossy(text)),
            Event::CData(text) => self.add(&String::from_utf8_lossy(text)),
            Event::GeneralRef(name) => self.add(&resolve(&String::from_utf8_lossy(name))),
            _ => {}
        }
        true
    }

    fn add(&mut self, text: &str) {
        if self.item.is_some() && self.text.len() + text.len() <= MAX_TEXT_BYTES {
            self.text.push_str(text);
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> bool {
        let name = String::from_utf8_lossy(tag.local_name().as_ref()).to_ascii_lowercase();
        if self.path.is_empty() && !self.root(&name) {
            return false;
        }
        if self.path.len() == MAX_DEPTH {
            self.sitemap.problem(format!("elements are nested more than {MAX_DEPTH} levels deep"));
            return false;
        }
        self.text.clear();
        let is_item = match self.sitemap.kind {
            Some(SitemapKind::Urlset) => name == "url",
            Some(SitemapKind::Index) => name == "sitemap",
            Some(SitemapKind::Rss) => name == "item",
            Some(SitemapKind::Atom) => name == "entry",
            _ => false,
        };
        if is_item {
            // An unclosed item ends where the next one begins.
            self.end_item();
            if self.sitemap.is_full() {
                self.sitemap.problem("too many entries; the rest is ignored".to_owned());
                return false;
            }
            self.item = Some(XmlItem { depth: self.path.len(), ..XmlItem::default() });
        } else if name == "link" && self.sitemap.kind == Some(SitemapKind::Atom) {
            self.atom_link(tag);
        }
        self.path.push(name);
        true
    }

    /// The root element gives the format.
    fn root(&mut self, name: &str) -> bool {
        self.sitemap.kind = match name {
            "urlset" => Some(SitemapKind::Urlset),
            "sitemapindex" => Some(SitemapKind::Index),
            "rss" | "rdf" => Some(SitemapKind::Rss),
            "feed" => Some(SitemapKind::Atom),
            _ => None,
        };
        if self.sitemap.kind.is_none() {
            self.sitemap.problem(format!("<{name}> is neither a sitemap nor a feed"));
        }
        self.sitemap.kind.is_some()
    }

    fn atom_link(&mut self, tag: &BytesStart<'_>) {
        let Some(item) = &mut self.item else { return };
        let attribute = |name: &str| {
            let mut attributes = tag.attributes();
            let mut found = attributes.with_checks(false).flatten();
            let found = found.find(|attribute| attribute.key.local_name().as_ref() == name.as_bytes());
            found.map(|attribute| unescape(&String::from_utf8_lossy(&attribute.value)))
        };
        let Some(target) = attribute("href").map(|target| target.trim().to_owned()) else { return };
        match attribute("rel").as_deref() {
            None | Some("alternate") if item.entry.url.is_empty() => item.entry.url = target,
            _ => item.second_url = item.second_url.take().or(Some(target)),
        }
    }

    fn close(&mut self) -> bool {
        let Some(name) = self.path.pop() else { return true };
        let text = std::mem::take(&mut self.text);
        match &mut self.item {
            Some(item) if item.depth == self.path.len() => {
                // Some files put the URL here because `<loc>` was forgotten.
                if is_address(text.trim()) && item.second_url.is_none() {
                    item.second_url = Some(text.trim().to_owned());
                }
                self.end_item();
            }
            // Only direct children count: images and videos have URLs one level deeper. News have their date there.
            Some(item) if item.depth + 1 == self.path.len() || name == "publication_date" => {
                self.field(&name, text.trim());
            }
            _ => {}
        }
        true
    }

    fn field(&mut self, name: &str, text: &str) {
        let (Some(item), Some(kind)) = (&mut self.item, self.sitemap.kind) else { return };
        if text.is_empty() {
            return;
        }
        let entry = &mut item.entry;
        match (kind, name) {
            (SitemapKind::Urlset | SitemapKind::Index, "loc") | (SitemapKind::Rss, "link") if entry.url.is_empty() => {
                entry.url = text.to_owned();
            }
            (SitemapKind::Rss, "guid") | (SitemapKind::Atom, "id") if is_address(text) => {
                item.second_url = Some(text.to_owned())
            }
            (SitemapKind::Urlset | SitemapKind::Index, "lastmod")
            | (SitemapKind::Rss, "pubdate" | "date")
            | (SitemapKind::Atom, "updated" | "modified") => entry.last_modified = Some(text.to_owned()),
            (SitemapKind::Atom, "published" | "issued") | (SitemapKind::Urlset, "publication_date") => {
                item.second_date = Some(text.to_owned());
            }
            (SitemapKind::Urlset, "changefreq") => self.frequency(text),
            (SitemapKind::Urlset, "priority") => self.priority(text),
            _ => {}
        }
    }

    fn frequency(&mut self, text: &str) {
        const KNOWN: [&str; 7] = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"];
        let word = text.to_ascii_lowercase();
        match (&mut self.item, KNOWN.contains(&word.as_str())) {
            (Some(item), true) => item.entry.change_frequency = Some(word),
            _ => self.sitemap.problem(format!("changefreq {text:?} is not one of {}", KNOWN.join(", "))),
        }
    }

    fn priority(&mut self, text: &str) {
        match (&mut self.item, text.parse::<f64>()) {
            (Some(item), Ok(priority)) if (0.0..=1.0).contains(&priority) => item.entry.priority = Some(priority),
            _ => self.sitemap.problem(format!("priority {text:?} is not between 0 and 1")),
        }
    }

    fn end_item(&mut self) {
        let Some(XmlItem { mut entry, second_url, second_date, .. }) = self.item.take() else { return };
        if entry.url.is_empty() {
            entry.url = second_url.unwrap_or_default();
        }
        if entry.url.is_empty() {
            return self.sitemap.problem("an entry has no URL".to_owned());
        }
        if let Some(written) = entry.last_modified.take().or(second_date) {
            entry.set_date(dates::read(&written));
            if entry.last_modified.is_none() {
                let shown: String = written.chars().take(60).collect();
                self.sitemap.problem(format!("{}: {shown:?} is not a date", entry.url));
            }
        }
        self.sitemap.push(entry);
    }

    /// A document that ends inside an item was cut, so the item is dropped.
    fn finish(self) {
        if self.item.is_some() {
            self.sitemap.problem("the document ends within an entry".to_owned());
        } else if self.sitemap.kind.is_none() && self.sitemap.problems.is_empty() {
            self.sitemap.problem("the XML has no element".to_owned());
        }
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Resolves an entity. An unknown one stays as it is, as in URLs with a bare ampersand.
fn resolve(name: &str) -> String {
    let character = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => name.strip_prefix('#').and_then(|number| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => number.parse().ok(),
            };
            code.and_then(char::from_u32)
        }),
    };
    character.map_or_else(|| format!("&{name};"), String::from)
}

fn unescape(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(';') {
            Some((name, rest)) => {
                out.push_str(&resolve(name));
                out.push_str(rest);
            }
            None => {
                out.push('&');
                out.push_str(part);
            }
        }
    }
    out
}
