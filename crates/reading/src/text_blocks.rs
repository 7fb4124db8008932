//! Cuts a page into blocks: runs of text without a block element in between.

use crate::hints::{Hint, hint};
use crate::tree::{NodeContent, Tree, TreeNode};
use document::html::is_inline;
use document::text::{Gap, TextBuilder};
use std::ops::Range;

/// The longest block, in bytes.
const MAX_BLOCK_BYTES: usize = 1 << 20;

/// A run of text without a block element in between.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TextBlock {
    pub(crate) text: String,
    /// Index of the block's first node in the tree.
    pub(crate) start: usize,
    pub(crate) kind: BlockKind,
    /// Number of characters except whitespace.
    pub(crate) characters: usize,
    /// Number of those that are in links.
    pub(crate) link_characters: usize,
}

/// The kind of a block, by its element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// `<p>`, `<pre>`, `<blockquote>`: meant for prose.
    Paragraph,
    /// `<h1>` to `<h6>`.
    Heading,
    Item,
    Cell,
    #[default]
    Other,
}

impl BlockKind {
    fn of(name: &[u8]) -> Self {
        match name {
            b"p" | b"pre" | b"blockquote" => Self::Paragraph,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Heading,
            b"li" | b"dd" | b"dt" => Self::Item,
            b"td" | b"th" => Self::Cell,
            _ => Self::Other,
        }
    }
}

/// The blocks of a page, in order, and the hint of each node.
pub(crate) fn blocks(tree: &Tree<'_>) -> (Vec<TextBlock>, Vec<Hint>) {
    let mut cutter = Cutter::default();
    let mut hints = Vec::with_capacity(tree.nodes.len());
    for (place, node) in tree.nodes.iter().enumerate() {
        hints.push(cutter.node(place, node));
    }
    cutter.cut();
    (cutter.blocks, hints)
}

/// The blocks that begin within a range of nodes.
pub(crate) fn blocks_within(blocks: &[TextBlock], nodes: Range<usize>) -> Range<usize> {
    let first = |place: usize| blocks.partition_point(|block| block.start < place);
    first(nodes.start)..first(nodes.end)
}

struct OpenTextElement {
    end: usize,
    /// The kind of the blocks directly inside; `None` for an inline element.
    kind: Option<BlockKind>,
    in_link: bool,
}

#[derive(Default)]
struct Cutter {
    blocks: Vec<TextBlock>,
    open: Vec<OpenTextElement>,
    block: TextBlock,
    text: TextBuilder,
    /// Whether the last node was `<br>`: a second one ends the block.
    after_break: bool,
}

impl Cutter {
    fn node(&mut self, place: usize, node: &TreeNode<'_>) -> Hint {
        while let Some(done) = self.open.pop_if(|last| last.end <= place) {
            if done.kind.is_some() {
                self.cut();
            }
        }
        match &node.content {
            NodeContent::Text(text) => {
                self.push(place, text);
                Hint::Neutral
            }
            NodeContent::Element(tag) => {
                let name = tag.name.as_bytes();
                let kind = (!is_inline(tag.name)).then(|| BlockKind::of(name));
                if kind.is_some() || name == b"br" && self.after_break {
                    self.cut();
                }
                self.after_break = name == b"br";
                if self.after_break {
                    self.text.separate(Gap::SPACE);
                }
                let in_link = name == b"a" || self.open.last().is_some_and(|parent| parent.in_link);
                self.open.push(OpenTextElement { end: node.end, kind, in_link });
                hint(tag)
            }
        }
    }

    fn push(&mut self, place: usize, text: &str) {
        let characters = text.chars().filter(|character| !character.is_whitespace()).count();
        if self.block.characters == 0 {
            let kind = self.open.iter().rev().find_map(|open| open.kind).unwrap_or_default();
            self.block = TextBlock { start: place, kind, ..TextBlock::default() };
            self.text = TextBuilder::new(MAX_BLOCK_BYTES);
        }
        self.after_break &= characters == 0;
        self.text.push(text);
        self.block.characters += characters;
        if self.open.last().is_some_and(|parent| parent.in_link) {
            self.block.link_characters += characters;
        }
    }

    fn cut(&mut self) {
        if self.block.characters > 0 {
            let text = std::mem::take(&mut self.text).finish().0;
            self.blocks.push(TextBlock { text, ..std::mem::take(&mut self.block) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_block_elements_do() {
        let html = "<div>a<p>b <a href=x>c d</a> e</p>f<br>g<br> <br>h<ul><li>i<li>j</ul><h2>k</h2></div>l";
        let (blocks, _) = blocks(&Tree::of(html));
        let shown: Vec<_> = blocks.iter().map(|block| (block.text.as_str(), block.kind)).collect();
        use BlockKind::{Heading, Item, Other, Paragraph};
        let expected = [
            ("a", Other),
            ("b c d e", Paragraph),
            ("f g", Other),
            ("h", Other),
            ("i", Item),
            ("j", Item),
            ("k", Heading),
            ("l", Other),
        ];
        assert_eq!(shown, expected);
        assert_eq!((blocks[1].characters, blocks[1].link_characters), (4, 2));
    }
}
