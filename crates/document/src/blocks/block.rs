//! The blocks of a page, each with its text, links and place.

use crate::blocks::fact_owner::FactOwner;
use crate::blocks::facts::{ValueKind, property_of};
use crate::blocks::owners;
use crate::blocks::things::{FactSource, ThingKey, Things};
use crate::robots_meta::RobotsMeta;
use crate::tag_name::TagName;
use std::ops::Range;
use std::sync::OnceLock;

/// The blocks of a page in reading order, over one shared text.
#[derive(Debug, Default)]
pub struct Blocks {
    pub(super) text: String,
    /// Link targets as written, references decoded, concatenated.
    pub(super) hrefs: String,
    /// The end of each target in `hrefs`.
    pub(super) href_ends: Vec<usize>,
    /// Which of the targets are images.
    pub(super) images: Vec<bool>,
    /// The blocks, in reading order.
    pub list: Vec<Block>,
    /// The block elements by their start tags, so that parents come before their children.
    pub nodes: Vec<BlockElement>,
    /// The first `<base href>`.
    pub base: Option<String>,
    /// The first `<link rel=canonical>`.
    pub canonical: Option<String>,
    /// When the page says that it was last modified, as written: `dateModified` in JSON-LD or microdata, or the
    /// `modified_time` of a `<meta>`. The first of them.
    pub modified: Option<String>,
    /// The `<meta>` elements for robots.
    pub robots_meta: RobotsMeta,
    /// Whether these are the items of a feed.
    pub is_feed: bool,
    /// Whether the body is no text, so that the only block is a description of it.
    pub is_opaque: bool,
    /// Whether a watch rule selects parts of the page, so that only those count.
    pub is_watched: bool,
    /// Whether the page has a field for a password.
    pub asks_password: bool,
    /// How many places each part of the selection selected.
    pub found: Vec<u32>,
    /// The language that the page says it is in (`lang` of `<html>`), as written.
    pub language: Option<String>,
    /// The blocks that state a value of data or show a fact, in their order.
    pub stated: Vec<StatedValue>,
    /// The blocks of each element of a JSON list that has no id or name: short elements of several values, in their order.
    pub elements: Vec<Range<usize>>,
    pub(super) things: Things,
    /// The addresses that the page was fetched from and that `og:url` gives.
    pub(super) addresses: [Option<String>; 2],
    /// The owner of each stated value. Most readers do not ask for them.
    pub(super) owners: OnceLock<Vec<FactOwner>>,
}

/// A value that a block states.
#[derive(Clone, Debug)]
pub struct StatedValue {
    /// The index of the block.
    pub block: usize,
    /// The place of the value in [`Blocks::all_text`].
    pub place: Range<usize>,
    pub form: StatedForm,
    /// The name of a fact, ending in its property; empty for a value of JSON.
    pub(super) name: String,
    pub(super) thing: usize,
}

impl StatedValue {
    /// The property of a fact, such as `price`; empty for a value of JSON.
    pub fn property(&self) -> &str {
        property_of(&self.name)
    }
}

/// How a value is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedForm {
    /// In data, with its type there.
    Data(ValueKind),
    /// As text for people.
    Shown,
}

/// The smallest piece of a page that is laid out on its own.
#[derive(Clone, Debug)]
pub struct Block {
    pub(super) text: Range<usize>,
    pub(super) links: Range<usize>,
    /// Whether one of the links is no image.
    pub(super) leads_elsewhere: bool,
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
    /// Whether a watch rule selects it.
    pub watched: bool,
    /// The number of the part of the selection that does.
    pub watch_part: Option<u16>,
    /// The rank of a heading, from 1 to 6; 0 for other blocks.
    pub heading_rank: u8,
    pub(super) in_table: bool,
    /// Hash of what the block says, if another text says the same: a number in another form, attributes in another order.
    pub sense: Option<u64>,
}

/// The role of a block in its page, from its element and those around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRole {
    /// Inside `nav`, `footer`, `aside`, a `header` outside an article, or their roles.
    pub chrome: bool,
    /// Inside `main`, `article` or the role `main`.
    pub main: bool,
    /// A button, an option or the value of a field: read as part of the page, but no sign of where its text is.
    pub control: bool,
    /// The handle of a part that unfolds: `summary`.
    pub handle: bool,
    /// A statement about the page as a whole: its title, structured data.
    pub fact: bool,
}

impl BlockRole {
    /// The role of a block element of this name, inside an outer one.
    pub(super) fn inside(outer: Self, name: TagName, role: &str) -> Self {
        let name = name.as_bytes();
        // The header of an article is its own.
        let is_chrome = matches!(name, b"nav" | b"footer" | b"aside" | b"dialog")
            || (name == b"header" && !outer.main)
            || matches!(
                role,
                "navigation" | "banner" | "contentinfo" | "search" | "dialog" | "alertdialog" | "complementary"
            );
        if matches!(name, b"main" | b"article") || role == "main" {
            return Self { chrome: false, main: true, ..outer };
        }
        let control = outer.control || matches!(name, b"button" | b"select") || role == "button";
        Self { chrome: outer.chrome || is_chrome, control, ..outer }
    }
}

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

    pub fn link_count(&self) -> usize {
        self.href_ends.len()
    }

    pub fn is_image(&self, link: usize) -> bool {
        self.images[link]
    }

    /// The target of a link as written, references decoded; the address of an image.
    pub fn href(&self, link: usize) -> &str {
        let start = link.checked_sub(1).map_or(0, |before| self.href_ends[before]);
        &self.hrefs[start..self.href_ends[link]]
    }

    /// The value that a block states, if it states one.
    pub fn stated(&self, block: usize) -> Option<&StatedValue> {
        self.stated.binary_search_by_key(&block, |stated| stated.block).ok().map(|index| &self.stated[index])
    }

    /// Whose a stated value is.
    pub fn owner(&self, stated: &StatedValue) -> FactOwner {
        let index = self.stated.binary_search_by_key(&stated.block, |other| other.block);
        index.ok().and_then(|index| self.owners().get(index).copied()).unwrap_or_default()
    }

    /// The owner of each stated value.
    pub(super) fn owners(&self) -> &[FactOwner] {
        self.owners.get_or_init(|| owners::of(self))
    }

    /// Whether a stated value is about the thing that has this name, or about a part of it.
    pub fn is_about(&self, stated: &StatedValue, key: ThingKey, name: &str) -> bool {
        self.things.around(stated.thing).any(|(_, thing)| thing.is_named(key, name))
    }

    /// The rank of the form of data that states a value: where they contradict each other, the lowest counts.
    pub fn source_rank(&self, stated: &StatedValue) -> u8 {
        self.things.get(stated.thing).filter(|_| stated.thing > 0).map_or(FactSource::Meta, |thing| thing.source) as u8
    }

    /// The unit that a fact has beside it: of a price the currency that its thing states, as it is written.
    pub fn unit_of(&self, stated: &StatedValue) -> Option<&str> {
        let is_unit = |other: &&StatedValue| other.property() == "priceCurrency" && other.thing == stated.thing;
        self.stated.iter().find(is_unit).map(|unit| &self.text[unit.place.clone()])
    }

    /// Without blocks, with room for a page of this length.
    pub(super) fn with_room(bytes: usize) -> Self {
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
}

impl Block {
    /// Whether the block is there to lead elsewhere: at least four fifths of its text is in links to other pages. False
    /// in a table, where the links are its content.
    pub fn is_links(&self) -> bool {
        let has_links = self.anchor_bytes > 0 || self.leads_elsewhere;
        !self.in_table && has_links && 5 * self.anchor_bytes >= 4 * self.text.len()
    }

    pub fn byte_length(&self) -> usize {
        self.text.len()
    }

    /// The range of the text within [`Blocks::all_text`].
    pub fn place(&self) -> Range<usize> {
        self.text.clone()
    }
}
