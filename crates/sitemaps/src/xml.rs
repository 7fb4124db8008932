//! Sitemaps, RSS and Atom. Elements are matched by local name, because namespaces and prefixes are often wrong or
//! missing.

use crate::bases::Bases;
use crate::dates;
use crate::sitemap::{Sitemap, SitemapEntry, SitemapKind};
use page::CanonicalUrl;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

const MAX_DEPTH: usize = 64;
/// Longest text kept of an element, in bytes. URLs and dates are shorter.
const MAX_TEXT_BYTES: usize = 8_192;

pub(crate) fn read(text: &str, address: Option<&CanonicalUrl>, sitemap: &mut Sitemap) {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let bases = Bases::new(address, text.len());
    let mut document = Document { sitemap, path: Vec::new(), item: None, text: String::new(), bases };
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
    bases: Bases,
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
    /// Whether the feed says that its id is no address.
    is_id_no_link: bool,
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
        if let Some(base) = attribute(tag, b"xml:base") {
            self.bases.open(self.path.len(), base.trim());
        }
        if let Some(depth) = self.begins_item(&name) {
            // An unclosed item ends where the next one begins.
            self.end_item();
            if self.sitemap.is_full() {
                self.sitemap.problem("too many entries; the rest is ignored".to_owned());
                return false;
            }
            let is_sitemap = name == "sitemap" || name == "loc" && self.sitemap.kind == Some(SitemapKind::Index);
            let entry = SitemapEntry { is_sitemap, ..SitemapEntry::default() };
            self.item = Some(XmlItem { depth, entry, ..XmlItem::default() });
        } else if name == "link" && self.is_feed() {
            self.atom_link(tag);
        } else if let (Some(item), "guid") = (&mut self.item, name.as_str()) {
            item.is_id_no_link =
                attribute(tag, b"isPermaLink").is_some_and(|word| word.trim().eq_ignore_ascii_case("false"));
        }
        self.path.push(name);
        true
    }

    fn is_feed(&self) -> bool {
        matches!(self.sitemap.kind, Some(SitemapKind::Rss | SitemapKind::Atom))
    }

    /// Whether an element begins an entry: the number of elements around it. Each kind of entry counts in each kind of list, and
    /// an address without an entry around it is one.
    fn begins_item(&self, name: &str) -> Option<usize> {
        let depth = self.path.len();
        let is_wrapper = match self.sitemap.kind? {
            SitemapKind::Urlset | SitemapKind::Index => matches!(name, "url" | "sitemap"),
            _ => matches!(name, "item" | "entry"),
        };
        if is_wrapper {
            return (depth > 0).then_some(depth);
        }
        let is_bare = match &self.item {
            None => !matches!(self.path.last().map(String::as_str), Some("image" | "video" | "news") | None),
            // It follows another without an entry around it.
            Some(item) => item.depth + 1 == depth && !item.entry.url.is_empty() && self.is_in_no_wrapper(item.depth),
        };
        (name == "loc" && !self.is_feed() && is_bare).then(|| depth - 1)
    }

    /// Whether the element at this depth, in which an entry is, is no element of an entry.
    fn is_in_no_wrapper(&self, depth: usize) -> bool {
        self.path.get(depth).is_some_and(|name| !matches!(name.as_str(), "url" | "sitemap"))
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
        let Some(target) = attribute(tag, b"href").map(|target| self.bases.resolve(target.trim())) else { return };
        match attribute(tag, b"rel").as_deref() {
            None | Some("alternate") if item.entry.url.is_empty() => item.entry.url = target,
            // An item of RSS has its address in an element of its own; other links belong to others.
            _ if self.sitemap.kind == Some(SitemapKind::Rss) => {}
            _ => item.second_url = item.second_url.take().or(Some(target)),
        }
    }

    fn close(&mut self) -> bool {
        let Some(name) = self.path.pop() else { return true };
        let text = std::mem::take(&mut self.text);
        let parent = self.path.last().map_or("", String::as_str);
        match &mut self.item {
            Some(item) if item.depth == self.path.len() => {
                // Some files put the URL here because `<loc>` was forgotten.
                if is_address(text.trim()) && item.second_url.is_none() {
                    item.second_url = Some(text.trim().to_owned());
                }
                self.end_item();
            }
            // Only direct children count: images and videos have URLs and dates one level deeper. News have their date there.
            Some(item) if item.depth + 1 == self.path.len() || name == "publication_date" && parent == "news" => {
                self.field(&name, text.trim());
            }
            _ => {}
        }
        self.bases.close(self.path.len());
        true
    }

    fn field(&mut self, name: &str, text: &str) {
        let (Some(item), Some(kind)) = (&mut self.item, self.sitemap.kind) else { return };
        if text.is_empty() {
            return;
        }
        let entry = &mut item.entry;
        let is_feed = matches!(kind, SitemapKind::Rss | SitemapKind::Atom);
        match (is_feed, name) {
            (false, "loc") | (true, "link") if entry.url.is_empty() => entry.url = self.bases.resolve(text),
            (true, "guid" | "id") if is_address(text) && !item.is_id_no_link => {
                item.second_url = Some(text.to_owned());
            }
            (false, "lastmod") | (true, "pubdate" | "date" | "updated" | "modified") => {
                entry.last_modified = Some(text.to_owned());
            }
            (true, "published" | "issued") | (false, "publication_date") => {
                item.second_date = Some(text.to_owned());
            }
            (false, "changefreq") => self.frequency(text),
            (false, "priority") => self.priority(text),
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

/// The value of an attribute; the prefix of its name counts if one is asked for.
fn attribute(tag: &BytesStart<'_>, name: &[u8]) -> Option<String> {
    let mut attributes = tag.attributes();
    let mut found = attributes.with_checks(false).flatten();
    let has_prefix = name.contains(&b':');
    let found = found.find(|attribute| match has_prefix {
        true => attribute.key.as_ref() == name,
        false => attribute.key.local_name().as_ref() == name,
    });
    found.map(|attribute| unescape(&String::from_utf8_lossy(&attribute.value)))
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
