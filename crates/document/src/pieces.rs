//! Cuts formats other than HTML into blocks: JSON by values, feeds by items, other XML by elements, text by lines.

use crate::blocks::Blocks;
use crate::entities;
use crate::hash::{splitmix64, text_hash};
use crate::html::{attribute, tag_length};
use memchr::{memchr, memmem};
use serde_json::Value;

/// JSON: every value that is not a list or object, with the keys that lead to it. Positions in lists do not count; an
/// element of a list goes by its id or name, if it has one.
/// Invalid JSON is read as lines.
pub(crate) fn json(text: &str) -> Blocks {
    let mut pieces = Vec::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => json_values(&value, &mut String::new(), &mut pieces),
        Err(_) => return lines(text),
    }
    Blocks::of_pieces(pieces.iter().map(|(path, text)| (Some(*path), text.as_str())))
}

fn json_values(value: &Value, keys: &mut String, pieces: &mut Vec<(u64, String)>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let length = keys.len();
                keys.push_str(key);
                keys.push_str(": ");
                json_values(value, keys, pieces);
                keys.truncate(length);
            }
        }
        Value::Array(values) => {
            for value in values {
                let length = keys.len();
                if let Some(name) = element_name(value) {
                    keys.push_str(&name);
                    keys.push_str(": ");
                }
                json_values(value, keys, pieces);
                keys.truncate(length);
            }
        }
        Value::String(text) => pieces.push((text_hash(keys.as_bytes()), format!("{keys}{text}"))),
        other => pieces.push((text_hash(keys.as_bytes()), format!("{keys}{other}"))),
    }
}

/// The keys that tell one element of a list from the others.
const ELEMENT_NAMES: &[&str] = &["id", "name", "key", "code", "sku", "slug", "title", "url"];
/// Longer names are texts, or ids made for one answer.
const MAX_ELEMENT_NAME_BYTES: usize = 64;

fn element_name(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let is_random = |name: &str| name.len() >= 16 && name.bytes().any(|byte| byte.is_ascii_digit()) && !name.contains(' ');
    ELEMENT_NAMES.iter().find_map(|name| match members.get(*name)? {
        Value::String(name) if name.len() <= MAX_ELEMENT_NAME_BYTES && !is_random(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// Text: one block per line.
pub(crate) fn lines(text: &str) -> Blocks {
    Blocks::of_pieces(text.lines().map(|line| (None, line)))
}

/// Bodies that are not text: one block with the digest spelled in letters, so that it is not taken for an id.
pub(crate) fn opaque(digest: &[u8]) -> Blocks {
    let letters: String =
        digest.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|four| char::from(b'a' + four)).collect();
    Blocks::of_pieces([(None, letters.as_str())])
}

/// Feed elements about when, by what, or for how long the feed was made.
const FEED_CLOCKWORK: &[&str] = &[
    "lastBuildDate",
    "pubDate",
    "updated",
    "published",
    "modified",
    "date",
    "ttl",
    "generator",
    "updatePeriod",
    "updateFrequency",
    "updateBase",
    "skipHours",
    "skipDays",
    "docs",
    "cloud",
];

/// XML. For items of RSS and Atom feeds: the title and the link, or the text if there is no title. For other XML: the
/// text of every element.
pub(crate) fn xml(text: &str) -> Blocks {
    let elements = elements(text);
    let is_feed = elements.iter().take(8).any(|element| matches!(element.name, "rss" | "feed" | "RDF" | "channel"));
    if !is_feed {
        let of = |element: &Element<'_>| (None, element.text.clone());
        let pieces: Vec<(Option<u64>, String)> = elements.iter().map(of).collect();
        return Blocks::of_pieces(pieces.iter().map(|(path, text)| (*path, text.as_str())));
    }
    let pieces = feed(&elements);
    Blocks::of_pieces(pieces.iter().map(|(path, text)| (Some(*path), text.as_str())))
}

/// An element up to its first child: its local name, and the text after its tag. For a link, the text begins with its
/// `href`.
struct Element<'a> {
    name: &'a str,
    /// Whether the element is inside an item, or begins one.
    item: bool,
    text: String,
}

fn elements(xml: &str) -> Vec<Element<'_>> {
    let mut list: Vec<Element<'_>> = Vec::new();
    let mut item = false;
    let mut rest = xml;
    while let Some(start) = memchr(b'<', rest.as_bytes()) {
        add_text(&mut list, &entities::decode(&rest[..start]));
        rest = &rest[start..];
        let length = if let Some(data) = rest.strip_prefix("<![CDATA[") {
            let length = memmem::find(data.as_bytes(), b"]]>").unwrap_or(data.len());
            add_text(&mut list, &data[..length]);
            (9 + length + 3).min(rest.len())
        } else if rest.starts_with("<!--") {
            memmem::find(rest.as_bytes(), b"-->").map_or(rest.len(), |at| at + 3)
        } else {
            tag_length(rest.as_bytes()).unwrap_or(rest.len())
        };
        let tag = &rest[..length];
        rest = &rest[length..];
        let Some(inside) = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')) else { continue };
        let closing = inside.starts_with('/');
        if !closing && !inside.starts_with(|letter: char| letter.is_alphabetic()) {
            continue;
        }
        let inside = inside.trim_start_matches('/');
        let end = inside.find(|letter: char| letter.is_ascii_whitespace() || letter == '/').unwrap_or(inside.len());
        let name = inside[..end].rsplit(':').next().unwrap_or_default();
        if matches!(name, "item" | "entry") {
            item = !closing;
        }
        if !closing {
            let text =
                if name == "link" { attribute(&inside[end..], "href").unwrap_or_default() } else { String::new() };
            list.push(Element { name, item, text });
        }
    }
    list
}

fn add_text(list: &mut [Element<'_>], text: &str) {
    if let Some(element) = list.last_mut()
        && !text.trim().is_empty()
    {
        element.text.push_str(text);
    }
}

/// Items as `title` at the place `link`; other elements of the feed at the place of their name.
fn feed(elements: &[Element<'_>]) -> Vec<(u64, String)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < elements.len() {
        let element = &elements[start];
        let is_item = element.item && matches!(element.name, "item" | "entry");
        if !is_item {
            if !element.text.trim().is_empty() && !FEED_CLOCKWORK.contains(&element.name) {
                pieces.push((text_hash(element.name.as_bytes()), element.text.clone()));
            }
            start += 1;
            continue;
        }
        let next = |element: &Element<'_>| !element.item || matches!(element.name, "item" | "entry");
        let length = elements[start + 1..].iter().position(next).unwrap_or(elements.len() - start - 1);
        pieces.extend(item(&elements[start + 1..start + 1 + length]));
        start += 1 + length;
    }
    pieces
}

fn item(fields: &[Element<'_>]) -> Option<(u64, String)> {
    let text = |names: &[&str]| {
        fields
            .iter()
            .find(|field| names.contains(&field.name) && !field.text.trim().is_empty())
            .map(|field| field.text.trim())
    };
    let title = text(&["title"]).or_else(|| text(&["description", "summary", "content", "encoded"]))?;
    // An item that is retitled repeatedly keeps one slot; each new item gets its own.
    let link = text(&["link", "guid", "id"]).unwrap_or_default();
    Some((splitmix64(text_hash(link.as_bytes())), title.to_owned()))
}
