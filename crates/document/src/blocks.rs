//! A page of HTML cut into blocks: the smallest pieces that are laid out on their own, each with its text, its links, its
//! place in the tree, and the part of the page it stands in.
//!
//! What browsers do with wrongly nested markup is followed as far as it moves text from one block to another, and no further.

mod kinds;
mod mentions;
mod reader;

use crate::blocks::reader::Reader;
use crate::html;
use crate::markup::hand_tokens;
use crate::page_text::PageText;
use std::ops::Range;

/// A page's blocks in reading order, over one text.
#[derive(Debug, Default)]
pub struct Blocks {
    text: String,
    /// Link targets as written, references decoded, one behind the other.
    hrefs: String,
    /// Where each of them ends.
    href_ends: Vec<usize>,
    /// The blocks.
    pub list: Vec<Block>,
    /// The block elements in the order in which they begin, so that parents come before their children.
    pub nodes: Vec<Node>,
    /// The first `<base href>`.
    pub base: Option<String>,
    /// The first `<link rel=canonical>`.
    pub canonical: Option<String>,
}

/// A piece of a page.
#[derive(Clone, Debug)]
pub struct Block {
    text: Range<usize>,
    links: Range<usize>,
    /// How many bytes of the text are inside links to other pages.
    pub anchor_bytes: usize,
    /// Hash of the names of the elements it stands in.
    pub path: u64,
    /// Index of its element.
    pub node: usize,
    /// The part of the page it stands in.
    pub part: Part,
    /// Whether its place has a name of its own, such as a key of JSON, and does not need its first words to be found again.
    pub is_named: bool,
    in_table: bool,
}

/// What a block is for, as its element and those around it say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Inside `nav`, `footer`, `header`, `aside`, their roles, or a control.
    pub chrome: bool,
    /// Inside `main`, `article` or the role `main`.
    pub main: bool,
}

/// A block element.
#[derive(Clone, Debug)]
pub struct Node {
    /// Index of the block element around it; its own at the root.
    pub parent: usize,
    /// Whether it holds text of its own rather than other blocks: `p`, `li`, cells and rows.
    pub is_paragraph: bool,
}

impl Blocks {
    /// A block's text, white space folded.
    pub fn text(&self, block: &Block) -> &str {
        &self.text[block.text.clone()]
    }

    /// The texts of all blocks, each on a line of its own.
    pub fn all_text(&self) -> &str {
        &self.text
    }

    /// A block's links, by number.
    pub fn links(&self, block: &Block) -> Range<usize> {
        block.links.clone()
    }

    /// How many links there are.
    pub fn link_count(&self) -> usize {
        self.href_ends.len()
    }

    /// Where a link leads.
    pub fn href(&self, link: usize) -> &str {
        let start = link.checked_sub(1).map_or(0, |before| self.href_ends[before]);
        &self.hrefs[start..self.href_ends[link]]
    }

    /// None, with room for what a page of so many bytes usually has.
    fn with_room(bytes: usize) -> Self {
        let mut nodes = Vec::with_capacity(1 + bytes / 64);
        nodes.push(Node { parent: 0, is_paragraph: false });
        Self {
            hrefs: String::with_capacity(bytes / 16),
            href_ends: Vec::with_capacity(bytes / 256),
            list: Vec::with_capacity(bytes / 64),
            nodes,
            ..Self::default()
        }
    }

    /// Reads a page.
    pub fn of_html(html: &str) -> Self {
        let mut reader = Reader::new(html);
        hand_tokens(html, &mut reader);
        reader.finish()
    }

    /// Reads a page, and what it says and points to with it.
    pub fn and_text_of_html(html: &str) -> (Self, PageText) {
        let mut readers = (Reader::new(html), html::Reader::new(html));
        hand_tokens(html, &mut readers);
        (readers.0.finish(), readers.1.finish().page)
    }

    /// Pieces of text that stand beside each other, each with the name of its place, if it has one; for formats that are not HTML.
    pub fn of_pieces<'a>(pieces: impl IntoIterator<Item = (Option<u64>, &'a str)>) -> Self {
        let mut reader = Reader::new("");
        for (path, text) in pieces {
            reader.piece(path, text);
        }
        reader.finish()
    }
}

impl Block {
    /// Whether it is there to lead elsewhere: at least four fifths of its text is in links to other pages. Not so in a
    /// table, where the links are what it lists.
    pub fn is_links(&self) -> bool {
        let has_links = self.anchor_bytes > 0 || !self.links.is_empty();
        !self.in_table && has_links && 5 * self.anchor_bytes >= 4 * self.text.len()
    }

    /// The length of its text in bytes.
    pub fn byte_length(&self) -> usize {
        self.text.len()
    }

    /// Where its text stands among those of all blocks.
    pub fn place(&self) -> Range<usize> {
        self.text.clone()
    }
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
