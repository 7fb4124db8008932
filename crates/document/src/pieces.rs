//! Cuts formats other than HTML and JSON into blocks: feeds by items, other XML by elements, text by lines.

use crate::attributes::attributes_of;
use crate::blocks::Blocks;
use crate::content_lines::{content_lines, is_content_lines};
use crate::entities;
use crate::hash::{passage_hash, text_hash};
use crate::html::{attribute, extract, tag_length};
use crate::xml::is_feed_root;
use chance::splitmix64;
use memchr::{memchr, memmem};
use std::collections::BTreeSet;

/// Text: one block per line, but for calendars.
pub(crate) fn lines(text: &str) -> Blocks {
    if is_content_lines(text) { content_lines(text) } else { Blocks::of_lines(text) }
}

/// Bodies that are not text: one block with media type, length and digest.
pub(crate) fn opaque(media_type: &str, length: usize, digest: &[u8]) -> Blocks {
    let digest: String = digest.iter().take(DIGEST_BYTES_REPORTED).map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{media_type} of {length} bytes, compared by its digest only: {digest}");
    let mut blocks = Blocks::of_pieces([(Some(text_hash(b"file")), text.as_str())]);
    blocks.is_opaque = true;
    blocks
}

/// The start of a digest that says which version a file is.
const DIGEST_BYTES_REPORTED: usize = 12;

/// Feed elements about the making of the feed: its time, its program, its lifetime.
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

/// Sitemap elements about when a page was changed. They are hints about the listed pages, not content of the sitemap.
const SITEMAP_CLOCKWORK: &[&str] = &["lastmod", "changefreq", "priority"];

/// The elements of an item that describe it.
const DESCRIPTIONS: &[&str] = &["description", "summary", "content", "encoded"];

/// XML. For items of RSS and Atom feeds: title with link, and the description on its own. For other XML: every element
/// that has attributes or text, with its name.
pub(crate) fn xml(text: &str) -> Blocks {
    let elements = elements(text);
    let is_feed = is_feed(&elements);
    let pieces = if is_feed { feed(&elements) } else { named_elements(&elements) };
    let mut blocks = Blocks::of_pieces(pieces.iter().map(|piece| (piece.path, piece.text.as_str())));
    // Past the limit of blocks there are none, and no piece is empty.
    for (block, piece) in blocks.list.iter_mut().zip(&pieces) {
        block.sense = piece.sense;
    }
    // An item's title is the heading of its descriptions.
    let titles: BTreeSet<u64> = pieces.iter().filter(|piece| piece.is_title).filter_map(|piece| piece.path).collect();
    for block in blocks.list.iter_mut().filter(|block| titles.contains(&block.path)) {
        block.heading_rank = 1;
    }
    blocks.is_feed = is_feed;
    blocks
}

/// Whether the document is a feed. A server's warning may stand before the root.
fn is_feed(elements: &[Element<'_>]) -> bool {
    elements.iter().take(8).any(|element| is_feed_root(element.name))
}

struct Piece {
    /// Its place, if it has a name of its own.
    path: Option<u64>,
    text: String,
    /// Whether it is the title of an item.
    is_title: bool,
    /// Hash of the text that says the same with its attributes in order, if that is another.
    sense: Option<u64>,
}

impl Piece {
    fn new(path: Option<u64>, text: String) -> Self {
        Self { path, text, is_title: false, sense: None }
    }
}

/// An element up to its first child: its local name, its attributes as written, and the text after its tag.
struct Element<'a> {
    name: &'a str,
    attributes: &'a str,
    /// Whether the element is inside an item, or begins one.
    item: bool,
    text: String,
}

/// Elements as they are written: `rate currency="USD" value="1.08"`, `status: open`. An element with attributes is
/// recognised by its name and by its values without their digits, so that a number keeps its place when it changes.
fn named_elements(elements: &[Element<'_>]) -> Vec<Piece> {
    let is_sitemap = elements.first().is_some_and(|root| matches!(root.name, "urlset" | "sitemapindex"));
    let mut pieces = Vec::new();
    for element in elements.iter().filter(|element| !is_sitemap || !SITEMAP_CLOCKWORK.contains(&element.name)) {
        let mut attributes: Vec<String> = attributes_of(element.attributes)
            .filter(|(name, value)| !name.starts_with("xmlns") && !value.trim().is_empty())
            .map(|(name, value)| format!(" {name}=\"{}\"", entities::decode_attribute(value)))
            .collect();
        let with_attributes = |attributes: &[String]| format!("{}{}", element.name, attributes.concat());
        let piece = with_attributes(&attributes);
        let is_in_order = attributes.is_sorted();
        attributes.sort_unstable();
        let ordered = with_attributes(&attributes);
        let has_attributes = !attributes.is_empty();
        let path =
            has_attributes.then(|| text_hash(ordered.replace(|sign: char| sign.is_ascii_digit(), "").as_bytes()));
        let text = match element.text.trim() {
            "" if has_attributes => String::new(),
            "" => continue,
            // The content of a sitemap is addresses.
            text if is_sitemap => {
                pieces.push(Piece::new(None, text.to_owned()));
                continue;
            }
            text => format!(": {text}"),
        };
        let in_order = || format!("{ordered}{text}").split_whitespace().collect::<Vec<_>>().join(" ");
        let sense = (!is_in_order).then(|| passage_hash(in_order().as_bytes()));
        pieces.push(Piece { sense, ..Piece::new(path, piece + &text) });
    }
    pieces
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
        if !closing && !inside.starts_with(|character: char| character.is_alphabetic()) {
            continue;
        }
        let inside = inside.trim_start_matches('/');
        let end =
            inside.find(|character: char| character.is_ascii_whitespace() || character == '/').unwrap_or(inside.len());
        let name = inside[..end].rsplit(':').next().unwrap_or_default();
        if matches!(name, "item" | "entry") {
            item = !closing;
        }
        if !closing {
            list.push(Element { name, attributes: &inside[end..], item, text: String::new() });
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

/// Items at the place of their link; other elements of the feed at the place of their name.
fn feed(elements: &[Element<'_>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < elements.len() {
        let element = &elements[start];
        let is_item = element.item && matches!(element.name, "item" | "entry");
        if !is_item {
            if !element.text.trim().is_empty() && !FEED_CLOCKWORK.contains(&element.name) {
                pieces.push(Piece::new(Some(text_hash(element.name.as_bytes())), element.text.clone()));
            }
            start += 1;
            continue;
        }
        let next = |element: &Element<'_>| !element.item || matches!(element.name, "item" | "entry");
        let length = elements[start + 1..].iter().position(next).unwrap_or(elements.len() - start - 1);
        item(&elements[start + 1..start + 1 + length], &mut pieces);
        start += 1 + length;
    }
    pieces
}

/// Whether an element of an item leads to a file that belongs to it.
fn is_enclosure(field: &Element<'_>) -> bool {
    let rel = || attribute(field.attributes, "rel");
    field.name == "enclosure" || (field.name == "link" && rel().is_some_and(|rel| rel == "enclosure"))
}

/// The title with the link, so that one title may come again, and each description on its own. An item that is retitled
/// or described anew repeatedly keeps its places; each new item gets its own.
fn item(fields: &[Element<'_>], pieces: &mut Vec<Piece>) {
    // Atom writes a link's address as an attribute.
    let value = |field: &Element<'_>| match field.text.trim() {
        "" if field.name == "link" => attribute(field.attributes, "href").unwrap_or_default(),
        text => text.to_owned(),
    };
    let text = |names: &[&str]| {
        let named = fields.iter().filter(|field| names.contains(&field.name) && !is_enclosure(field));
        named.map(value).find(|text| !text.is_empty()).unwrap_or_default()
    };
    let link = text(&["link", "guid", "id"]);
    let place = splitmix64(text_hash(link.as_bytes()));
    let named = format!("{} {link}", text(&["title"]));
    if !named.trim().is_empty() {
        pieces.push(Piece { path: Some(place), text: named, is_title: true, sense: None });
    }
    for (number, field) in fields.iter().filter(|field| is_enclosure(field)).enumerate() {
        let address = ["url", "href"].iter().find_map(|name| attribute(field.attributes, name));
        if let Some(address) = address {
            let path = splitmix64(place ^ text_hash(b"enclosure") ^ number as u64);
            pieces.push(Piece::new(Some(path), format!("enclosure: {address}")));
        }
    }
    for name in DESCRIPTIONS {
        let description = text(&[name]);
        // Feeds carry HTML as text. Its markup is no description.
        let read = if description.contains('<') { extract(&description).text } else { description };
        if !read.is_empty() {
            pieces.push(Piece::new(Some(splitmix64(place ^ text_hash(name.as_bytes()))), read));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(xml_text: &str) -> Vec<String> {
        let blocks = xml(xml_text);
        blocks.list.iter().map(|block| blocks.text(block).to_owned()).collect()
    }

    fn paths(xml_text: &str) -> Vec<u64> {
        xml(xml_text).list.iter().map(|block| block.path).collect()
    }

    #[test]
    fn an_item_is_its_title_with_its_link_and_its_description() {
        let rss = "<rss><channel><title>News</title><lastBuildDate>now</lastBuildDate><item><title>A</title>\
                   <link>/1</link><pubDate>now</pubDate><description>&lt;p>B &lt;img src=x>c</description></item>\
                   <item><description>only this</description><guid>7</guid></item></channel></rss>";
        assert_eq!(texts(rss), ["News", "A /1", "B c", "7", "only this"]);
        let atom =
            "<feed><updated>now</updated><entry><title>A</title><link href='/1'/><content>B</content></entry></feed>";
        assert_eq!(texts(atom), ["A /1", "B"]);
        let episode = "<rss><item><title>A</title><enclosure url='/a.mp3'/><link>/1</link></item></rss>";
        assert_eq!(texts(episode), ["A /1", "enclosure: /a.mp3"]);
        let entry =
            "<feed><entry><link rel='enclosure' href='/a.mp3'/><link href='/1'/><title>A</title></entry></feed>";
        assert_eq!(texts(entry), ["A /1", "enclosure: /a.mp3"]);
        assert_eq!(paths(&rss.replace(">A<", ">X<").replace("B ", "Y ")), paths(rss));
        assert!(xml(rss).is_feed && xml(atom).is_feed && !xml("<tv><channel id='1'/></tv>").is_feed);
    }

    #[test]
    fn other_elements_have_their_name_and_their_attributes() {
        let rates =
            "<c:Cube xmlns='x' time='2026-11-23'><Cube currency='USD' rate='1.08'/><note>a &amp; b</note><e/></c:Cube>";
        let reported = ["Cube time=\"2026-11-23\"", "Cube currency=\"USD\" rate=\"1.08\"", "note: a & b"];
        assert_eq!(texts(rates), reported);
        assert_eq!(paths(&rates.replace("1.08", "1.09")), paths(rates));
        assert_ne!(paths(&rates.replace("USD", "GBP")), paths(rates));
        let sitemap = "<urlset><url><loc>https://a.test/1</loc><lastmod>2026-11-23</lastmod></url></urlset>";
        assert_eq!(texts(sitemap), ["https://a.test/1"]);
    }
}
