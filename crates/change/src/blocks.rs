//! A page of HTML cut into blocks: the smallest pieces that are laid out on their own, each with its text, its links, its
//! place in the tree, and the part of the page it stands in.
//!
//! One pass, no tree: only the open elements are kept, of those that begin a block or hide what is in them. What browsers
//! do with wrongly nested markup is followed as far as it moves text from one block to another, and no further.

use crate::entities;
use crate::hash::{fnv1a64, splitmix64};
use crate::html::{attribute, tag_length};
use memchr::{memchr, memchr_iter, memmem};
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
    /// Link targets as written, references decoded.
    hrefs: Vec<String>,
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

    /// A block's link targets.
    pub(crate) fn links(&self, block: &Block) -> &[String] {
        &self.hrefs[block.links.clone()]
    }

    /// Reads a page.
    pub(crate) fn of_html(html: &str) -> Self {
        let mut reader = Reader::new();
        reader.read(html);
        reader.flush();
        reader.blocks
    }

    /// Pieces of text that stand beside each other, each with the name of its place, if it has one; for formats that are not HTML.
    pub(crate) fn of_pieces<'a>(pieces: impl IntoIterator<Item = (Option<u64>, &'a str)>) -> Self {
        let mut reader = Reader::new();
        for (path, text) in pieces {
            reader.path = path.unwrap_or_default();
            reader.is_named = path.is_some();
            reader.push(text);
            reader.flush();
        }
        reader.blocks
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
}

/// An open element.
struct Open {
    name: Name,
    path: u64,
    node: usize,
    part: Part,
    hidden: bool,
}

struct Reader {
    blocks: Blocks,
    open: Vec<Open>,
    /// Where the block being read begins.
    text_start: usize,
    links_start: usize,
    anchor_bytes: usize,
    /// Whether a space stands between the text so far and what comes.
    space: bool,
    in_link: bool,
    /// Of the innermost open element.
    path: u64,
    node: usize,
    part: Part,
    hidden: bool,
    is_named: bool,
}

impl Reader {
    fn new() -> Self {
        Self {
            blocks: Blocks { nodes: vec![Node { parent: 0, is_paragraph: false }], ..Blocks::default() },
            open: Vec::new(),
            text_start: 0,
            links_start: 0,
            anchor_bytes: 0,
            space: false,
            in_link: false,
            path: 0,
            node: 0,
            part: Part::default(),
            hidden: false,
            is_named: false,
        }
    }

    fn read(&mut self, html: &str) {
        let mut at = 0;
        while let Some(found) = memchr(b'<', &html.as_bytes()[at..]) {
            let tag = at + found;
            self.text(&html[at..tag]);
            at = match self.markup(&html[tag..]) {
                Some(length) => tag + length,
                None => return,
            };
        }
        self.text(&html[at..]);
    }

    /// Takes in what begins with `<`, and says how long it is; `None` when it has no end.
    fn markup(&mut self, html: &str) -> Option<usize> {
        let bytes = html.as_bytes();
        let closing = bytes.get(1) == Some(&b'/');
        let name_start = 1 + usize::from(closing);
        match bytes.get(name_start) {
            Some(letter) if letter.is_ascii_alphabetic() => {}
            Some(b'!' | b'?') if !closing => return other_markup_length(html),
            // Not markup: a `<` in the text.
            _ if !closing => {
                self.text("<");
                return Some(1);
            }
            _ => return memchr(b'>', bytes).map(|end| end + 1),
        }
        let name_length = bytes[name_start..]
            .iter()
            .position(|&byte| byte.is_ascii_whitespace() || byte == b'>' || byte == b'/')
            .unwrap_or(bytes.len() - name_start);
        let name = Name::new(&bytes[name_start..name_start + name_length]);
        let attributes_start = name_start + name_length;
        let length = tag_length(&bytes[attributes_start..])?;
        let end = attributes_start + length;
        if closing {
            self.close(&name);
            return Some(end);
        }
        let attributes = &html[attributes_start..end];
        if name.is(RAW_TEXT) {
            return Some(end + raw_text_length(&bytes[end..], &name));
        }
        self.begin(name, attributes);
        Some(end)
    }

    fn begin(&mut self, name: Name, attributes: &str) {
        match name.as_bytes() {
            b"a" => self.begin_link(attributes),
            b"base" if self.blocks.base.is_none() => self.blocks.base = attribute(attributes, "href"),
            b"link" if self.blocks.canonical.is_none() => {
                if attribute(attributes, "rel").is_some_and(|rel| rel.trim().eq_ignore_ascii_case("canonical")) {
                    self.blocks.canonical = attribute(attributes, "href");
                }
            }
            b"br" | b"hr" => self.flush(),
            _ if name.is(VOID) => {}
            _ => {
                let is_block = name.is(BLOCKS);
                // Nothing else opens an element that could hide text, and most tags have no attribute that could.
                let hidden = name.is(DROPPED) || (mentions_hiding(attributes) && is_hidden(attributes));
                if is_block || hidden || self.hidden {
                    self.open(name, is_block, hidden, attributes);
                }
            }
        }
    }

    fn open(&mut self, name: Name, is_block: bool, hidden: bool, attributes: &str) {
        if is_block {
            self.flush();
            self.close_implied(&name);
        }
        if self.open.len() >= MAX_DEPTH {
            return;
        }
        let (mut path, mut node, mut part) = (self.path, self.node, self.part);
        if is_block {
            path = splitmix64(path ^ fnv1a64(name.as_bytes()));
            self.blocks.nodes.push(Node { parent: self.node, is_paragraph: name.is(PARAGRAPHS) });
            node = self.blocks.nodes.len() - 1;
            part = part_of(&name, attributes, part);
        }
        self.open.push(Open { name, path, node, part, hidden: self.hidden || hidden });
        self.settle();
    }

    /// Closes what an opening tag ends without saying so.
    fn close_implied(&mut self, name: &Name) {
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

    fn close(&mut self, name: &Name) {
        if name.as_bytes() == b"a" {
            self.in_link = false;
        }
        if name.is(BLOCKS) {
            self.flush();
        }
        if let Some(index) = self.open.iter().rposition(|open| open.name == *name) {
            self.pop_to(index);
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
        let Some(href) = attribute(attributes, "href") else { return };
        if self.hidden || self.blocks.hrefs.len() >= MAX_LINKS {
            return;
        }
        // A heading that links to itself is still a heading.
        self.in_link = !href.starts_with('#');
        self.blocks.hrefs.push(href);
    }

    fn text(&mut self, text: &str) {
        if !self.hidden && !text.is_empty() {
            self.push(&entities::decode(text));
        }
    }

    /// Adds text, its white space folded.
    fn push(&mut self, text: &str) {
        let before = self.blocks.text.len();
        if before + text.len() > MAX_TEXT_BYTES {
            return;
        }
        self.space |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.space && self.blocks.text.len() > self.text_start {
                self.blocks.text.push(' ');
            }
            self.blocks.text.push_str(word);
            self.space = true;
        }
        self.space &= text.ends_with(char::is_whitespace) || self.blocks.text.len() == before;
        if self.in_link {
            self.anchor_bytes += self.blocks.text.len() - before;
        }
    }

    /// Ends a block.
    fn flush(&mut self) {
        let text = self.text_start..self.blocks.text.len();
        let links = self.links_start..self.blocks.hrefs.len();
        if (!text.is_empty() || !links.is_empty()) && self.blocks.list.len() < MAX_BLOCKS {
            let in_table = self.open.iter().any(|open| open.name.as_bytes() == b"td");
            let &mut Self { anchor_bytes, path, node, mut part, is_named, .. } = self;
            let is_summary = self.open.last().is_some_and(|open| open.name.as_bytes() == b"summary");
            part.chrome |= is_summary && text.len() <= CONTROL_BYTES;
            self.blocks.list.push(Block { text, links, anchor_bytes, path, node, part, is_named, in_table });
        }
        self.text_start = self.blocks.text.len();
        self.links_start = self.blocks.hrefs.len();
        self.anchor_bytes = 0;
        self.space = false;
    }
}

/// An element's name in lower case, cut after ten bytes: none that matters here is longer.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Name {
    bytes: [u8; 10],
    length: usize,
}

impl Name {
    fn new(name: &[u8]) -> Self {
        let mut bytes = [0; 10];
        let length = name.len().min(bytes.len());
        bytes[..length].copy_from_slice(&name[..length]);
        bytes.make_ascii_lowercase();
        Self { bytes, length }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn is(&self, names: &[&[u8]]) -> bool {
        names.contains(&self.as_bytes())
    }
}

const BLOCKS: &[&[u8]] = &[
    b"div",
    b"p",
    b"li",
    b"td",
    b"th",
    b"tr",
    b"ul",
    b"ol",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"section",
    b"article",
    b"main",
    b"nav",
    b"footer",
    b"header",
    b"aside",
    b"dl",
    b"dt",
    b"dd",
    b"table",
    b"tbody",
    b"thead",
    b"tfoot",
    b"blockquote",
    b"pre",
    b"form",
    b"figure",
    b"figcaption",
    b"details",
    b"summary",
    b"fieldset",
    b"address",
    b"body",
    b"button",
    b"label",
    b"dialog",
    b"menu",
    b"option",
];
const PARAGRAPHS: &[&[u8]] = &[b"p", b"li", b"td", b"th", b"tr"];
/// Elements whose text nobody sees, or which is not the page's.
const DROPPED: &[&[u8]] = &[b"template", b"svg", b"object", b"canvas", b"select", b"datalist"];
/// Elements whose content is not markup; none of them is text of the page.
const RAW_TEXT: &[&[u8]] =
    &[b"script", b"style", b"noscript", b"iframe", b"textarea", b"title", b"noframes", b"noembed", b"xmp"];
const VOID: &[&[u8]] = &[
    b"img", b"input", b"meta", b"link", b"area", b"base", b"col", b"embed", b"source", b"track", b"wbr", b"param",
    b"path", b"use", b"rect", b"circle", b"line", b"polygon",
];

/// How long `<!…` or `<?…` is.
fn other_markup_length(html: &str) -> Option<usize> {
    let bytes = html.as_bytes();
    if html.starts_with("<!--") {
        // `<!-->` and `<!--->` are whole comments.
        let ends = |at: usize| bytes[..at].ends_with(b"--") || bytes[..at].ends_with(b"--!");
        return memchr_iter(b'>', bytes).find(|&at| at < 6 || ends(at)).filter(|&at| at >= 4).map(|at| at + 1);
    }
    if html.starts_with("<![CDATA[") {
        return memmem::find(bytes, b"]]>").map(|at| at + 3);
    }
    memchr(b'>', bytes).map(|at| at + 1)
}

/// How long the content of a raw text element is, its end tag not counted: all that is left when there is none.
fn raw_text_length(bytes: &[u8], name: &Name) -> usize {
    let name = name.as_bytes();
    memmem::find_iter(bytes, b"</")
        .find(|at| bytes[at + 2..].get(..name.len()).is_some_and(|other| other.eq_ignore_ascii_case(name)))
        .unwrap_or(bytes.len())
}

fn mentions_hiding(attributes: &str) -> bool {
    attributes.len() > 6
        && (memmem::find(attributes.as_bytes(), b"hidden").is_some()
            || memmem::find(attributes.as_bytes(), b"none").is_some())
}

fn is_hidden(attributes: &str) -> bool {
    attribute(attributes, "hidden").is_some()
        || attribute(attributes, "style").is_some_and(|style| style.replace(' ', "").contains("display:none"))
}

fn part_of(name: &Name, attributes: &str, outer: Part) -> Part {
    let role = match memmem::find(attributes.as_bytes(), b"role") {
        Some(_) => attribute(attributes, "role").unwrap_or_default(),
        None => String::new(),
    };
    let is_chrome = name.is(&[b"nav", b"footer", b"header", b"aside", b"dialog", b"button"])
        || matches!(
            role.as_str(),
            "navigation" | "banner" | "contentinfo" | "search" | "dialog" | "alertdialog" | "complementary" | "button"
        );
    if name.is(&[b"main", b"article"]) || role == "main" {
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
            .map(|block| (blocks.links(block).join(" "), block.is_links(), block.part.main, block.part.chrome))
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
