//! A page of HTML cut into blocks: the smallest pieces that are laid out on their own, each with its text, its links, its
//! place in the tree, and the part of the page it stands in.
//!
//! One pass, no tree: only the open elements are kept, of those that begin a block or hide what is in them. What browsers
//! do with wrongly nested markup is followed as far as it moves text from one block to another, and no further.

use crate::attributes::{attribute, values_of};
use crate::entities;
use crate::hash::{fnv1a64, splitmix64};
use crate::markup::{Tag, TakeTokens, TextKind, hand_tokens};
use crate::tag_name::{PerName, TagName, per_name};
use crate::text::{References, TextBuilder};
use crate::wide::Wide;
use std::ops::Range;

/// The most text read of a page, in bytes.
const MAX_TEXT_BYTES: usize = crate::extract::MAX_TEXT_BYTES;
/// The most blocks read of a page.
const MAX_BLOCKS: usize = 50_000;
/// The most links read of a page.
const MAX_LINKS: usize = crate::extract::MAX_LINKS;
/// Open elements beyond this depth are not told apart, and no end tag looks further for its beginning: linear time.
const MAX_DEPTH: usize = 256;
/// A `summary` up to this length is a control ("Show details"); a longer one says what is in its details.
const CONTROL_BYTES: usize = 24;

/// A page's blocks in reading order, over one text.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    text: String,
    /// Link targets as written, references decoded, one behind the other.
    hrefs: String,
    /// Where each of them ends.
    href_ends: Vec<usize>,
    /// The blocks.
    pub(crate) list: Vec<Block>,
    /// The block elements in the order in which they begin, so that parents come before their children.
    pub(crate) nodes: Vec<Node>,
    /// The first `<base href>`.
    pub(crate) base: Option<String>,
    /// The first `<link rel=canonical>`.
    pub(crate) canonical: Option<String>,
}

/// A piece of a page.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    text: Range<usize>,
    links: Range<usize>,
    /// How many bytes of the text are inside links to other pages.
    pub(crate) anchor_bytes: usize,
    /// Hash of the names of the elements it stands in.
    pub(crate) path: u64,
    /// Index of its element.
    pub(crate) node: usize,
    /// The part of the page it stands in.
    pub(crate) part: Part,
    /// Whether its place has a name of its own, such as a key of JSON, and does not need its first words to be found again.
    pub(crate) is_named: bool,
    in_table: bool,
}

/// What a block is for, as its element and those around it say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Inside `nav`, `footer`, `header`, `aside`, their roles, or a control.
    pub(crate) chrome: bool,
    /// Inside `main`, `article` or the role `main`.
    pub(crate) main: bool,
}

/// A block element.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Index of the block element around it; its own at the root.
    pub(crate) parent: usize,
    /// Whether it holds text of its own rather than other blocks: `p`, `li`, cells and rows.
    pub(crate) is_paragraph: bool,
}

impl Blocks {
    /// A block's text, white space folded.
    pub(crate) fn text(&self, block: &Block) -> &str {
        &self.text[block.text.clone()]
    }

    /// The texts of all blocks, each on a line of its own.
    pub(crate) fn all_text(&self) -> &str {
        &self.text
    }

    /// A block's links, by number.
    pub(crate) fn links(&self, block: &Block) -> Range<usize> {
        block.links.clone()
    }

    /// How many links there are.
    pub(crate) fn link_count(&self) -> usize {
        self.href_ends.len()
    }

    /// Where a link leads.
    pub(crate) fn href(&self, link: usize) -> &str {
        let start = link.checked_sub(1).map_or(0, |before| self.href_ends[before]);
        &self.hrefs[start..self.href_ends[link]]
    }

    /// Reads a page.
    pub(crate) fn of_html(html: &str) -> Self {
        let mut reader = Reader::new(html);
        hand_tokens(html, &mut reader);
        reader.finish()
    }

    /// Pieces of text that stand beside each other, each with the name of its place, if it has one; for formats that are not HTML.
    pub(crate) fn of_pieces<'a>(pieces: impl IntoIterator<Item = (Option<u64>, &'a str)>) -> Self {
        let mut reader = Reader::new("");
        for (path, text) in pieces {
            reader.path = path.unwrap_or_default();
            reader.is_named = path.is_some();
            reader.text.push(text);
            reader.flush();
        }
        reader.finish()
    }
}

impl Block {
    /// Whether it is there to lead elsewhere: at least four fifths of its text is in links to other pages. Not so in a
    /// table, where the links are what it lists.
    pub(crate) fn is_links(&self) -> bool {
        let has_links = self.anchor_bytes > 0 || !self.links.is_empty();
        !self.in_table && has_links && 5 * self.anchor_bytes >= 4 * self.text.len()
    }

    /// The length of its text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Where its text stands among those of all blocks.
    pub(crate) fn place(&self) -> Range<usize> {
        self.text.clone()
    }
}

/// An open element.
struct Open {
    name: TagName,
    path: u64,
    node: usize,
    part: Part,
    hidden: bool,
}

struct Reader<'a> {
    html: &'a str,
    text: TextBuilder,
    blocks: Blocks,
    open: Vec<Open>,
    /// Where the block being read begins.
    text_start: usize,
    links_start: usize,
    anchor_bytes: usize,
    in_link: bool,
    /// Of the innermost open element.
    path: u64,
    node: usize,
    part: Part,
    hidden: bool,
    is_named: bool,
}

impl<'a> TakeTokens<'a> for Reader<'a> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        // Titles and what was typed into a form are no text of the page.
        if self.hidden || kind != TextKind::Data {
            return;
        }
        let before = self.text.len();
        self.text.push_within(wide, self.html, place.start, place.end, References::Decoded);
        if self.in_link {
            self.anchor_bytes += self.text.len() - before;
        }
    }

    #[inline(always)]
    fn start(&mut self, tag: &Tag<'a>) {
        let kind = KINDS.of(tag.name);
        if matches!(kind, Kind::Inline) {
            // Nothing else opens an element that could hide text, and most tags have no attribute that could.
            if !self.hidden && !mentions_hiding(tag.attributes) {
                return;
            }
        }
        self.begin(tag, kind);
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        if name.as_bytes() == b"a" {
            self.in_link = false;
        }
        if matches!(KINDS.of(name), Kind::Block) {
            self.flush();
        }
        if let Some(index) = self.open.iter().rposition(|open| open.name == name) {
            self.pop_to(index);
        }
    }
}

impl<'a> Reader<'a> {
    fn new(html: &'a str) -> Self {
        let text = TextBuilder::with_room(MAX_TEXT_BYTES, html.len());
        Self {
            html,
            text,
            blocks: Blocks { nodes: vec![Node { parent: 0, is_paragraph: false }], ..Blocks::default() },
            open: Vec::new(),
            text_start: 0,
            links_start: 0,
            anchor_bytes: 0,
            in_link: false,
            path: 0,
            node: 0,
            part: Part::default(),
            hidden: false,
            is_named: false,
        }
    }

    fn finish(mut self) -> Blocks {
        self.flush();
        Blocks { text: self.text.finish().0, ..self.blocks }
    }

    fn begin(&mut self, tag: &Tag<'_>, kind: Kind) {
        match kind {
            Kind::Raw | Kind::Void => {}
            Kind::Break => self.flush(),
            Kind::Head => self.head(tag),
            Kind::Link => self.begin_link(tag.attributes),
            Kind::Block | Kind::Dropped | Kind::Inline => {
                let is_block = matches!(kind, Kind::Block);
                let hidden =
                    matches!(kind, Kind::Dropped) || (mentions_hiding(tag.attributes) && is_hidden(tag.attributes));
                if is_block || hidden || self.hidden {
                    self.open(tag.name, is_block, hidden, tag.attributes);
                }
            }
        }
    }

    fn head(&mut self, tag: &Tag<'_>) {
        match tag.name.as_bytes() {
            b"base" if self.blocks.base.is_none() => self.blocks.base = attribute(tag.attributes, "href"),
            b"link" if self.blocks.canonical.is_none() && is_canonical(tag.attributes) => {
                self.blocks.canonical = attribute(tag.attributes, "href");
            }
            _ => {}
        }
    }

    fn open(&mut self, name: TagName, is_block: bool, hidden: bool, attributes: &str) {
        if is_block {
            self.flush();
            self.close_implied(name);
        }
        if self.open.len() >= MAX_DEPTH {
            return;
        }
        let (mut path, mut node, mut part) = (self.path, self.node, self.part);
        if is_block {
            path = splitmix64(path ^ NAME_HASHES.of(name));
            self.blocks.nodes.push(Node { parent: self.node, is_paragraph: IS_PARAGRAPH.of(name) });
            node = self.blocks.nodes.len() - 1;
            part = part_of(name, attributes, part);
        }
        self.open.push(Open { name, path, node, part, hidden: self.hidden || hidden });
        self.settle();
    }

    /// Closes what an opening tag ends without saying so.
    fn close_implied(&mut self, name: TagName) {
        let (ends, up_to): (&[&[u8]], &[&[u8]]) = match name.as_bytes() {
            b"li" => (&[b"li"], &[b"ul", b"ol", b"menu"]),
            b"dt" | b"dd" => (&[b"dt", b"dd"], &[b"dl"]),
            b"td" | b"th" => (&[b"td", b"th"], &[b"tr", b"table"]),
            b"tr" => (&[b"tr"], &[b"table"]),
            b"thead" | b"tbody" | b"tfoot" => (&[b"thead", b"tbody", b"tfoot"], &[b"table"]),
            b"option" => (&[b"option"], &[b"select"]),
            _ => (&[b"p"], &[]),
        };
        if up_to.is_empty() {
            if self.open.last().is_some_and(|open| open.name.as_bytes() == b"p") {
                self.pop_to(self.open.len() - 1);
            }
            return;
        }
        for index in (0..self.open.len()).rev() {
            let open = self.open[index].name.as_bytes();
            if up_to.contains(&open) {
                return;
            }
            if ends.contains(&open) {
                return self.pop_to(index);
            }
        }
    }

    fn pop_to(&mut self, depth: usize) {
        self.open.truncate(depth);
        self.settle();
    }

    fn settle(&mut self) {
        (self.path, self.node, self.part, self.hidden) = match self.open.last() {
            Some(open) => (open.path, open.node, open.part, open.hidden),
            None => (0, 0, Part::default(), false),
        };
    }

    fn begin_link(&mut self, attributes: &str) {
        let [Some(href)] = values_of(attributes, ["href"]) else { return };
        if self.hidden || self.blocks.href_ends.len() >= MAX_LINKS {
            return;
        }
        let start = self.blocks.hrefs.len();
        self.blocks.hrefs.push_str(&entities::decode_attribute(href));
        self.blocks.href_ends.push(self.blocks.hrefs.len());
        // A heading that links to itself is still a heading.
        self.in_link = !self.blocks.hrefs[start..].starts_with('#');
    }

    /// Ends a block.
    fn flush(&mut self) {
        let text = self.text_start..self.text.len();
        let links = self.links_start..self.blocks.href_ends.len();
        if (!text.is_empty() || !links.is_empty()) && self.blocks.list.len() < MAX_BLOCKS {
            let in_table = self.open.iter().any(|open| open.name.as_bytes() == b"td");
            let &mut Self { anchor_bytes, path, node, mut part, is_named, .. } = self;
            let is_summary = self.open.last().is_some_and(|open| open.name.as_bytes() == b"summary");
            part.chrome |= is_summary && text.len() <= CONTROL_BYTES;
            self.blocks.list.push(Block { text, links, anchor_bytes, path, node, part, is_named, in_table });
        }
        self.links_start = self.blocks.href_ends.len();
        self.anchor_bytes = 0;
        self.text.begin_line();
        self.text_start = self.text.len();
    }
}

/// What a start tag does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Block,
    Link,
    /// `<br>`, `<hr>`.
    Break,
    /// `<base>`, `<link>`.
    Head,
    /// An element whose text nobody sees, or which is not the page's.
    Dropped,
    /// An element whose content is not markup; none of them is text of the page.
    Raw,
    /// An element without content.
    Void,
    Inline,
}

static KINDS: PerName<Kind> = per_name!(kind_of);
static IS_PARAGRAPH: PerName<bool> = per_name!(is_paragraph);
static NAME_HASHES: PerName<u64> = per_name!(fnv1a64);

const fn kind_of(name: &[u8]) -> Kind {
    match name {
        b"div" | b"p" | b"li" | b"td" | b"th" | b"tr" | b"ul" | b"ol" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5"
        | b"h6" | b"section" | b"article" | b"main" | b"nav" | b"footer" | b"header" | b"aside" | b"dl" | b"dt"
        | b"dd" | b"table" | b"tbody" | b"thead" | b"tfoot" | b"blockquote" | b"pre" | b"form" | b"figure"
        | b"figcaption" | b"details" | b"summary" | b"fieldset" | b"address" | b"body" | b"button" | b"label"
        | b"dialog" | b"menu" | b"option" => Kind::Block,
        b"a" => Kind::Link,
        b"br" | b"hr" => Kind::Break,
        b"base" | b"link" => Kind::Head,
        b"template" | b"svg" | b"object" | b"canvas" | b"select" | b"datalist" => Kind::Dropped,
        b"script" | b"style" | b"noscript" | b"iframe" | b"textarea" | b"title" | b"noframes" | b"noembed" | b"xmp" => {
            Kind::Raw
        }
        b"img" | b"input" | b"meta" | b"area" | b"col" | b"embed" | b"source" | b"track" | b"wbr" | b"param"
        | b"path" | b"use" | b"rect" | b"circle" | b"line" | b"polygon" => Kind::Void,
        _ => Kind::Inline,
    }
}

const fn is_paragraph(name: &[u8]) -> bool {
    matches!(name, b"p" | b"li" | b"td" | b"th" | b"tr")
}

fn is_canonical(attributes: &str) -> bool {
    attribute(attributes, "rel").is_some_and(|rel| rel.trim().eq_ignore_ascii_case("canonical"))
}

/// Whether attributes can hide their element: a cheap question first, because nearly none can.
fn mentions_hiding(attributes: &str) -> bool {
    attributes.len() > 6
        && has_pair(attributes, [*b"dd", *b"on"])
        && attributes.as_bytes().windows(4).any(|four| four == b"hidd" || four == b"none")
}

/// Whether two letters stand side by side, without a decision at every byte.
fn has_pair(text: &str, pairs: [[u8; 2]; 2]) -> bool {
    let bytes = text.as_bytes();
    let beside = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    beside.fold(false, |has, (&one, &two)| {
        has | (one == pairs[0][0]) & (two == pairs[0][1]) | (one == pairs[1][0]) & (two == pairs[1][1])
    })
}

fn is_hidden(attributes: &str) -> bool {
    attribute(attributes, "hidden").is_some()
        || attribute(attributes, "style").is_some_and(|style| style.replace(' ', "").contains("display:none"))
}

fn part_of(name: TagName, attributes: &str, outer: Part) -> Part {
    let mentions_role = has_pair(attributes, [*b"ol"; 2]) && attributes.contains("role");
    let role = match mentions_role {
        true => attribute(attributes, "role").unwrap_or_default(),
        false => String::new(),
    };
    let name = name.as_bytes();
    let is_chrome = matches!(name, b"nav" | b"footer" | b"header" | b"aside" | b"dialog" | b"button")
        || matches!(
            role.as_str(),
            "navigation" | "banner" | "contentinfo" | "search" | "dialog" | "alertdialog" | "complementary" | "button"
        );
    if matches!(name, b"main" | b"article") || role == "main" {
        return Part { chrome: false, main: true };
    }
    Part { chrome: outer.chrome || is_chrome, main: outer.main }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str) -> Vec<String> {
        let blocks = Blocks::of_html(html);
        blocks.list.iter().map(|block| blocks.text(block).to_owned()).collect()
    }

    #[test]
    fn blocks_are_what_is_laid_out_on_its_own() {
        let check = |html, expected: &[&str]| assert_eq!(texts(html), expected, "{html}");
        check("<p>a <b>b</b>c<p>d<br>e<div>f</div>g", &["a bc", "d", "e", "f", "g"]);
        check("<ul><li>a<li>b<ul><li>c</ul>d</ul>", &["a", "b", "c", "d"]);
        check("<table><tr><td>a<td>b<tr><td>c</table>", &["a", "b", "c"]);
        check("a<script>'<p>no'</script>b<!-- <p>no --><style>no</style> c", &["ab c"]);
        check("<div hidden>no<p>no</div>a<span style='display: none'>no</span>b", &["ab"]);
        check("<svg><title>no</title><text>no</text></svg><select><option>no</select>1 &lt; 2 <3", &["1 < 2 <3"]);
        check("", &[]);
    }

    #[test]
    fn blocks_know_their_links_and_their_part_of_the_page() {
        let blocks = Blocks::of_html(
            "<base href=/b/><nav><a href=/n>N</a></nav><main><p>See <a href='/x?a=1&amp;b=2'>this</a>.\
             <h2><a href=#h>Head</a></h2><aside>x</aside></main>",
        );
        let told: Vec<_> = blocks
            .list
            .iter()
            .map(|block| {
                (
                    blocks.links(block).map(|link| blocks.href(link)).collect(),
                    block.is_links(),
                    block.part.main,
                    block.part.chrome,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("/n".to_owned(), true, false, true),
                ("/x?a=1&b=2".to_owned(), false, true, false),
                ("#h".to_owned(), false, true, false),
                (String::new(), false, true, true),
            ]
        );
        assert_eq!(blocks.base.as_deref(), Some("/b/"));
    }

    #[test]
    fn deep_and_unclosed_markup_ends() {
        assert_eq!(texts(&format!("{}x", "<div>".repeat(100_000))), ["x"]);
        assert_eq!(texts(&format!("{}x", "<p hidden>".repeat(10_000))).len(), 0);
        assert_eq!(texts(&"<!-- ".repeat(20_000)).len(), 0);
        assert_eq!(texts(&format!("{}x", "</div>".repeat(100_000))), ["x"]);
    }
}
