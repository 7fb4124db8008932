//! Reads the blocks of a page from its tokens.
//!
//! One pass, no tree. Of the open elements, only those that begin a block or hide their content are kept.

use super::facts::{FACT_NAMES, Fact, json_ld};
use super::kinds::{IMPLIED, IS_PARAGRAPH, Implied, KINDS, NAME_HASHES, P, SUMMARY, TD, TagEffect};
use super::mentions::{Mentions, SHORTEST_MENTION, is_hidden, mentions};
use super::{Block, BlockElement, BlockRole, Blocks};
use crate::attributes::{attribute, values_of};
use crate::entities;
use crate::hash::{splitmix64, text_hash};
use crate::markup::{StartTag, TakeTokens, TextKind};
use crate::select::Selected;
use crate::tag_name::TagName;
use crate::text::{References, TextBuilder};
use std::ops::Range;
use wide_bytes::Wide;

/// The most text read per page, in bytes.
const MAX_TEXT_BYTES: usize = crate::page_text::MAX_TEXT_BYTES;
/// The most blocks read per page.
const MAX_BLOCKS: usize = 50_000;
/// The most links read per page.
const MAX_LINKS: usize = crate::page_text::MAX_LINKS;
/// Open elements beyond this depth are not tracked, and no end tag searches deeper. This keeps the time linear.
const MAX_DEPTH: usize = 256;
/// A `summary` up to this length is a control ("Show details"); a longer one summarises its details.
const CONTROL_BYTES: usize = 24;

struct OpenElement {
    name: TagName,
    path: u64,
    node: usize,
    row: usize,
    part: BlockRole,
    hidden: bool,
    in_table: bool,
}

pub(super) struct BlockReader<'a> {
    html: &'a str,
    text: TextBuilder,
    blocks: Blocks,
    open: Vec<OpenElement>,
    /// Where the current block begins.
    text_start: usize,
    links_start: usize,
    anchor_bytes: usize,
    leads_elsewhere: bool,
    in_link: bool,
    /// Properties of the innermost open element.
    path: u64,
    node: usize,
    row: usize,
    /// The list element whose rows the next pieces are; 0 outside lists.
    list: usize,
    part: BlockRole,
    hidden: bool,
    /// What a selection makes of this place.
    selected: Selected,
    /// Whether text here is not read: it is hidden and not watched, or ignored.
    skipped: bool,
    in_table: bool,
    is_named: bool,
    /// The element of the last term of a description list.
    term: usize,
    /// The kind of text that says something about the page, if that comes next.
    expected: Option<TextKind>,
    /// The facts so far. They follow the text of the page.
    pub(super) facts: Vec<Fact>,
}

impl<'a> TakeTokens<'a> for BlockReader<'a> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        if self.skipped || kind != TextKind::Data {
            self.fact_text(&self.html[place], kind);
            return;
        }
        let before = self.text.len();
        self.text.push_within(wide, self.html, place.start, place.end, References::Decoded);
        if self.in_link {
            self.anchor_bytes += self.text.len() - before;
        }
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        let kind = KINDS.of(tag.name);
        let mentions = match kind {
            TagEffect::Inline | TagEffect::Block if tag.attributes_place().len() >= SHORTEST_MENTION => {
                mentions(wide, self.html, tag.attributes_place())
            }
            _ => Mentions::default(),
        };
        // Only these elements could hide text, and most tags have no attribute that does so.
        if matches!(kind, TagEffect::Inline) && !self.hidden && !mentions.hiding {
            return;
        }
        self.begin(tag, kind, mentions);
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        if name.as_bytes() == b"a" {
            self.in_link = false;
        }
        let is_block = matches!(KINDS.of(name), TagEffect::Block);
        if is_block {
            self.flush();
        }
        // Besides blocks, only elements inside hidden ones are kept open.
        if (is_block || self.hidden)
            && let Some(index) = self.open.iter().rposition(|open| open.name == name)
        {
            self.pop_to(index);
        }
    }
}

impl<'a> BlockReader<'a> {
    /// A reader for the tokens of this page.
    pub(super) fn new(html: &'a str) -> Self {
        let text = TextBuilder::with_room(MAX_TEXT_BYTES, html.len());
        Self {
            html,
            text,
            blocks: Blocks::with_room(html.len()),
            open: Vec::new(),
            text_start: 0,
            links_start: 0,
            anchor_bytes: 0,
            leads_elsewhere: false,
            in_link: false,
            path: 0,
            node: 0,
            row: 0,
            list: 0,
            part: BlockRole::default(),
            hidden: false,
            selected: Selected::default(),
            skipped: false,
            in_table: false,
            is_named: false,
            term: 0,
            expected: None,
            facts: Vec::new(),
        }
    }

    /// Comes to a place of which a selection makes this. What is watched has blocks of its own.
    #[inline]
    pub(super) fn turn(&mut self, selected: Selected) {
        if selected == self.selected {
            return;
        }
        if selected.watched != self.selected.watched {
            self.flush();
        }
        self.selected = selected;
        self.skip_or_not();
    }

    fn skip_or_not(&mut self) {
        self.skipped = (self.hidden && !self.selected.watched) || self.selected.ignored;
    }

    /// Begins a list: each piece that follows is one of its rows.
    pub(super) fn list_of_pieces(&mut self) {
        self.blocks.nodes.push(BlockElement { parent: 0, is_paragraph: true });
        self.list = self.blocks.nodes.len() - 1;
    }

    /// Adds a separate piece of text, with the hash that names its place, if any.
    pub(super) fn piece(&mut self, path: Option<u64>, text: &str) {
        if self.list > 0 {
            self.blocks.nodes.push(BlockElement { parent: self.list, is_paragraph: true });
            self.node = self.blocks.nodes.len() - 1;
            self.row = self.node;
        }
        self.path = path.unwrap_or_default();
        self.is_named = path.is_some();
        self.text.push(text);
        self.flush();
    }

    pub(super) fn finish(mut self) -> Blocks {
        self.flush();
        self.open.clear();
        self.settle();
        self.list = 0;
        self.part.fact = true;
        for Fact { name, text, selected } in std::mem::take(&mut self.facts) {
            if !selected.ignored {
                self.selected = selected;
                self.piece(Some(text_hash(name.as_bytes())), &text);
            }
        }
        Blocks { text: self.text.finish().0, ..self.blocks }
    }

    fn begin(&mut self, tag: StartTag<'_>, kind: TagEffect, mentions: Mentions) {
        match kind {
            TagEffect::Raw | TagEffect::Void => {}
            TagEffect::Break => self.flush(),
            TagEffect::Head => self.head(tag),
            TagEffect::Image => self.image(tag.attributes()),
            TagEffect::Input => self.input(tag.attributes()),
            TagEffect::Fact => {
                self.expected = match tag.name.as_bytes() {
                    b"title" => Some(TextKind::RcData),
                    _ => is_json_ld(tag.attributes()).then_some(TextKind::Script),
                }
            }
            TagEffect::Link => self.begin_link(tag.attributes()),
            TagEffect::Block | TagEffect::Dropped | TagEffect::Inline => {
                let is_block = matches!(kind, TagEffect::Block);
                let hidden = matches!(kind, TagEffect::Dropped) || (mentions.hiding && is_hidden(tag.attributes()));
                if is_block || hidden || self.hidden {
                    let role = if mentions.role { attribute(tag.attributes(), "role") } else { None };
                    self.open(tag.name, is_block, hidden, role.as_deref().unwrap_or_default());
                }
            }
        }
    }

    /// Reads the title, of which only the first counts, and structured data.
    fn fact_text(&mut self, text: &str, kind: TextKind) {
        if self.expected.take() != Some(kind) {
            return;
        }
        match kind {
            TextKind::Script => json_ld(text, self.selected, &mut self.facts),
            _ if self.facts.iter().any(|fact| fact.name == "title") => {}
            _ => self.add_fact("title", entities::decode(text).into_owned()),
        }
    }

    fn add_fact(&mut self, name: &str, text: String) {
        self.facts.push(Fact { name: name.to_owned(), text, selected: self.selected });
    }

    fn image(&mut self, attributes: &str) {
        let [source, later, width, height] = values_of(attributes, ["src", "data-src", "width", "height"]);
        let is_dot = [width, height].contains(&Some("1")) || [width, height].contains(&Some("0"));
        let is_address = |source: &&str| !source.is_empty() && !source.starts_with("data:");
        let Some(source) = source.filter(is_address).or(later).filter(|_| !is_dot && !self.skipped) else { return };
        // The rest of the address says which size is sent, and to whom.
        let source = source.split(['?', '#']).next().unwrap_or_default();
        self.target(source, true);
    }

    /// Reads the value of a field or button, which is shown.
    fn input(&mut self, attributes: &str) {
        let [kind, value] = values_of(attributes, ["type", "value"]);
        let is_shown = kind.is_none_or(|kind| {
            ["text", "number", "date", "submit", "button"].iter().any(|shown| kind.eq_ignore_ascii_case(shown))
        });
        let Some(value) = value.filter(|value| is_shown && !self.skipped && !value.is_empty()) else { return };
        self.flush();
        let (path, part) = (self.path, self.part);
        self.path = splitmix64(path ^ text_hash(b"input"));
        self.part.control = true;
        self.text.push(&entities::decode_attribute(value));
        self.flush();
        (self.path, self.part) = (path, part);
    }

    fn head(&mut self, tag: StartTag<'_>) {
        match tag.name.as_bytes() {
            b"meta" => {
                let [item, property, other, content] =
                    values_of(tag.attributes(), ["itemprop", "property", "name", "content"]);
                let name = item.or(property).or(other.filter(|_| self.selected.watched)).unwrap_or_default();
                let last = name.rsplit(':').next().unwrap_or_default();
                let is_fact = FACT_NAMES.contains(&last) || last == "amount" || self.selected.watched;
                if let Some(content) = content.filter(|_| is_fact) {
                    self.add_fact(name, format!("{name}: {}", entities::decode_attribute(content)));
                }
            }
            b"base" if self.blocks.base.is_none() => self.blocks.base = attribute(tag.attributes(), "href"),
            b"link" if self.blocks.canonical.is_none() && is_canonical(tag.attributes()) => {
                self.blocks.canonical = attribute(tag.attributes(), "href");
            }
            _ => {}
        }
    }

    fn open(&mut self, name: TagName, is_block: bool, hidden: bool, role: &str) {
        if is_block {
            self.flush();
            self.close_implied(name);
        }
        if self.open.len() >= MAX_DEPTH {
            return;
        }
        let (mut path, mut node, mut row) = (self.path, self.node, self.row);
        let (mut part, mut in_table) = (self.part, self.in_table);
        if is_block {
            path = splitmix64(path ^ NAME_HASHES.of(name));
            self.blocks.nodes.push(BlockElement { parent: self.node, is_paragraph: IS_PARAGRAPH.of(name) });
            node = self.blocks.nodes.len() - 1;
            part = part_of(name, role, part);
            in_table |= name == TD;
            match name.as_bytes() {
                b"tr" | b"li" => row = node,
                b"dt" => (row, self.term) = (node, node),
                b"dd" => row = self.term,
                _ => {}
            }
        }
        self.open.push(OpenElement { name, path, node, row, part, hidden: self.hidden || hidden, in_table });
        self.settle();
    }

    /// Closes the elements that a start tag closes implicitly.
    fn close_implied(&mut self, name: TagName) {
        let Some(Implied { ends, up_to }) = IMPLIED.of(name) else {
            if self.open.last().is_some_and(|open| open.name == P) {
                self.pop_to(self.open.len() - 1);
            }
            return;
        };
        for index in (0..self.open.len()).rev() {
            let open = self.open[index].name;
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
        let Some(open) = self.open.last() else {
            (self.path, self.node, self.row, self.part) = (0, 0, 0, BlockRole::default());
            (self.hidden, self.in_table) = (false, false);
            return self.skip_or_not();
        };
        (self.path, self.node, self.row, self.part) = (open.path, open.node, open.row, open.part);
        (self.hidden, self.in_table) = (open.hidden, open.in_table);
        self.skip_or_not();
    }

    fn begin_link(&mut self, attributes: &str) {
        let [Some(href)] = values_of(attributes, ["href"]) else { return };
        let start = self.blocks.hrefs.len();
        if self.skipped || !self.target(href, false) {
            return;
        }
        self.leads_elsewhere = true;
        // A heading that links to itself is still a heading, so its text does not count as link text.
        self.in_link = !self.blocks.hrefs[start..].starts_with('#');
    }

    /// Notes a target of the current block. Returns false if there are too many.
    fn target(&mut self, href: &str, is_image: bool) -> bool {
        if self.blocks.href_ends.len() >= MAX_LINKS {
            return false;
        }
        self.blocks.hrefs.push_str(&entities::decode_attribute(href));
        self.blocks.href_ends.push(self.blocks.hrefs.len());
        self.blocks.images.push(is_image);
        true
    }

    /// Ends the current block.
    fn flush(&mut self) {
        let text = self.text_start..self.text.len();
        let links = self.links_start..self.blocks.href_ends.len();
        if (!text.is_empty() || !links.is_empty()) && self.blocks.list.len() < MAX_BLOCKS {
            let &mut Self { anchor_bytes, leads_elsewhere, path, node, row, mut part, in_table, is_named, .. } = self;
            let innermost = self.open.last().map(|open| open.name);
            let is_summary = innermost == Some(SUMMARY);
            let heading_rank = match innermost.as_ref().map(|name| name.as_bytes()) {
                Some([b'h', rank @ b'1'..=b'6']) => rank - b'0',
                _ => 0,
            };
            part.control |= is_summary && text.len() <= CONTROL_BYTES;
            self.blocks.list.push(Block {
                text,
                links,
                leads_elsewhere,
                anchor_bytes,
                path,
                node,
                row,
                part,
                is_named,
                watched: self.selected.watched,
                heading_rank,
                in_table,
            });
        }
        self.links_start = self.blocks.href_ends.len();
        (self.anchor_bytes, self.leads_elsewhere) = (0, false);
        self.text.begin_line();
        self.text_start = self.text.len();
    }
}

fn is_canonical(attributes: &str) -> bool {
    attribute(attributes, "rel").is_some_and(|rel| rel.trim().eq_ignore_ascii_case("canonical"))
}

fn is_json_ld(attributes: &str) -> bool {
    attribute(attributes, "type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
}

fn part_of(name: TagName, role: &str, outer: BlockRole) -> BlockRole {
    let name = name.as_bytes();
    // The header of an article is its own.
    let is_chrome = matches!(name, b"nav" | b"footer" | b"aside" | b"dialog")
        || (name == b"header" && !outer.main)
        || matches!(
            role,
            "navigation" | "banner" | "contentinfo" | "search" | "dialog" | "alertdialog" | "complementary"
        );
    if matches!(name, b"main" | b"article") || role == "main" {
        return BlockRole { chrome: false, main: true, ..outer };
    }
    let control = outer.control || matches!(name, b"button" | b"select") || role == "button";
    BlockRole { chrome: outer.chrome || is_chrome, control, ..outer }
}
