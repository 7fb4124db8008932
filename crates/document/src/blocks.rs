//! Cuts an HTML page into blocks: the smallest pieces that are laid out on their own. Each has its text, its links, its
//! place in the tree, and the part of the page it is in.
//!
//! Wrongly nested markup is treated as browsers do where that moves text from one block to another, and no further.

mod facts;
mod kinds;
mod mentions;
mod microdata;
mod reader;
mod selecting;
mod tags;

use crate::blocks::reader::BlockReader;
use crate::blocks::selecting::SelectingReader;
use crate::html;
use crate::markup::hand_tokens;
use crate::page_text::PageText;
use crate::select::{Selected, Selection};
use std::ops::Range;

/// The blocks of a page in reading order, over one shared text.
#[derive(Debug, Default)]
pub struct Blocks {
    text: String,
    /// Link targets as written, references decoded, concatenated.
    hrefs: String,
    /// The end of each target in `hrefs`.
    href_ends: Vec<usize>,
    /// Which of the targets are images.
    images: Vec<bool>,
    /// The blocks, in reading order.
    pub list: Vec<Block>,
    /// The block elements by their start tags, so that parents come before their children.
    pub nodes: Vec<BlockElement>,
    /// The first `<base href>`.
    pub base: Option<String>,
    /// The first `<link rel=canonical>`.
    pub canonical: Option<String>,
    /// Whether these are the items of a feed.
    pub is_feed: bool,
    /// Whether somebody watches parts of the page, so that only those count.
    pub is_watched: bool,
    /// How many places each part of the selection selected.
    pub found: Vec<u32>,
}

/// A block of a page.
#[derive(Clone, Debug)]
pub struct Block {
    text: Range<usize>,
    links: Range<usize>,
    /// Whether one of the links is no image.
    leads_elsewhere: bool,
    /// Bytes of the text that are inside links to other pages.
    pub anchor_bytes: usize,
    /// Hash of the names of the enclosing elements.
    pub path: u64,
    /// Index of the enclosing block element in [`Blocks::nodes`].
    pub node: usize,
    /// Index of the nearest enclosing row in [`Blocks::nodes`]: a table row, a list item, or the term of a description.
    /// 0 outside rows.
    pub row: usize,
    /// The part of the page that the block is in.
    pub part: BlockRole,
    /// Whether the place has a name of its own, such as a JSON key. The first words are then not needed to recognise
    /// it.
    pub is_named: bool,
    /// Whether somebody watches it.
    pub watched: bool,
    /// The rank of a heading, from 1 to 6; 0 for other blocks.
    pub heading_rank: u8,
    in_table: bool,
}

/// The role of a block in its page, from its element and those around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRole {
    /// Inside `nav`, `footer`, `aside`, a `header` that is not that of an article, or their roles.
    pub chrome: bool,
    /// Inside `main`, `article` or the role `main`.
    pub main: bool,
    /// A button, an option or the value of a field: read as part of the page, but no sign of where its text is.
    pub control: bool,
    /// A statement about the page as a whole: its title, structured data.
    pub fact: bool,
}

/// A block element.
#[derive(Clone, Debug)]
pub struct BlockElement {
    /// Index of the enclosing block element; the root holds its own.
    pub parent: usize,
    /// Whether it holds text of its own rather than other blocks: `p`, `li`, cells and rows.
    pub is_paragraph: bool,
}

impl Blocks {
    /// The text of a block, whitespace folded.
    pub fn text(&self, block: &Block) -> &str {
        &self.text[block.text.clone()]
    }

    /// The texts of all blocks, one line each.
    pub fn all_text(&self) -> &str {
        &self.text
    }

    /// The numbers of a block's links.
    pub fn links(&self, block: &Block) -> Range<usize> {
        block.links.clone()
    }

    /// The number of links in all blocks.
    pub fn link_count(&self) -> usize {
        self.href_ends.len()
    }

    /// Whether a link is an image.
    pub fn is_image(&self, link: usize) -> bool {
        self.images[link]
    }

    /// The target of a link as written, references decoded; the address of an image.
    pub fn href(&self, link: usize) -> &str {
        let start = link.checked_sub(1).map_or(0, |before| self.href_ends[before]);
        &self.hrefs[start..self.href_ends[link]]
    }

    /// Without blocks, with room for a page of this length.
    fn with_room(bytes: usize) -> Self {
        let mut nodes = Vec::with_capacity(1 + bytes / 64);
        nodes.push(BlockElement { parent: 0, is_paragraph: false });
        Self {
            hrefs: String::with_capacity(bytes / 16),
            href_ends: Vec::with_capacity(bytes / 256),
            list: Vec::with_capacity(bytes / 64),
            nodes,
            ..Self::default()
        }
    }

    /// Reads the blocks of an HTML page.
    pub fn of_html(html: &str) -> Self {
        let mut reader = BlockReader::new(html);
        hand_tokens(html, &mut reader);
        reader.finish()
    }

    /// Reads the blocks of an HTML page by a selection.
    pub fn of_selected_html(html: &str, selection: &Selection) -> Self {
        let mut reader = SelectingReader::new(html, selection);
        hand_tokens(html, &mut reader);
        reader.finish()
    }

    /// Reads the blocks and the text of an HTML page in one pass.
    pub fn and_text_of_html(html: &str) -> (Self, PageText) {
        let mut readers = (BlockReader::new(html), html::HtmlReader::new(html));
        hand_tokens(html, &mut readers);
        (readers.0.finish(), readers.1.finish().page)
    }

    /// Builds blocks from the lines of a text. Lines without an empty line between them are the rows of one list.
    pub fn of_lines(text: &str) -> Self {
        let mut reader = BlockReader::new("");
        let mut is_in_list = false;
        for line in text.lines() {
            let is_empty = line.trim().is_empty();
            if !is_empty && !is_in_list {
                reader.list_of_pieces();
            }
            is_in_list = !is_empty;
            reader.piece(None, line);
        }
        reader.finish()
    }

    /// Builds blocks from separate pieces of text, for formats other than HTML. A piece may have a hash that names its
    /// place.
    pub fn of_pieces<'a>(pieces: impl IntoIterator<Item = (Option<u64>, &'a str)>) -> Self {
        Self::of_selected_pieces(pieces.into_iter().map(|(path, text)| (path, text, false)))
    }

    /// Builds blocks from pieces, of which each may be watched.
    pub(crate) fn of_selected_pieces<'a>(pieces: impl IntoIterator<Item = (Option<u64>, &'a str, bool)>) -> Self {
        let mut reader = BlockReader::new("");
        for (path, text, watched) in pieces {
            reader.turn(Selected { watched, ignored: false });
            reader.piece(path, text);
        }
        reader.turn(Selected::default());
        reader.finish()
    }
}

impl Block {
    /// Whether the block is there to lead elsewhere: at least four fifths of its text is in links to other pages. False
    /// in a table, where the links are its content.
    pub fn is_links(&self) -> bool {
        let has_links = self.anchor_bytes > 0 || self.leads_elsewhere;
        !self.in_table && has_links && 5 * self.anchor_bytes >= 4 * self.text.len()
    }

    /// The length of the text in bytes.
    pub fn byte_length(&self) -> usize {
        self.text.len()
    }

    /// The range of the text within [`Blocks::all_text`].
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
        check("<svg><title>no</title><text>no</text></svg>1 &lt; 2 <3", &["1 < 2 <3"]);
        check(
            "<title>A&amp;B</title><select><option>a<option>b</select><input value=c>d",
            &["a", "b", "c", "d", "A&B"],
        );
        check("<input type=hidden value=no><input type=submit value=Buy><img alt=no src=/a.png>", &["Buy", ""]);
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
