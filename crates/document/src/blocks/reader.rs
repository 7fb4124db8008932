//! Reads the blocks of a page from its tokens.
//!
//! One pass, no tree. Of the open elements, only those that begin a block or hide their content are kept.

use crate::attributes::attribute;
use crate::blocks::block::{Block, BlockElement, BlockRole, Blocks};
use crate::blocks::fields::{Label, STRUCK};
use crate::blocks::kinds::{IMPLIED, IS_PARAGRAPH, Implied, KINDS, NAME_HASHES, OBJECT, P, SUMMARY, TD, TagEffect};
use crate::blocks::mentions::{Mentions, SHORTEST_MENTION, is_hidden, mentions};
use crate::blocks::microdata::{ItemAttributes, PageFacts};
use crate::blocks::tags::LinkElement;
use crate::cents::may_hold_cents;
use crate::hidden_mail::may_protect_mail;
use crate::html::is_shadow_root;
use crate::markup::{StartTag, TakeTokens, TextKind};
use crate::select::Selected;
use crate::tag_name::TagName;
use crate::text::{References, TextBuilder};
use chance::splitmix64;
use std::ops::Range;
use wide_bytes::Wide;

/// The most text read per page, in bytes.
const MAX_TEXT_BYTES: usize = crate::page_text::MAX_TEXT_BYTES;
/// The most blocks read per page.
const MAX_BLOCKS: usize = 50_000;
/// Open elements beyond this depth are not tracked, and no end tag searches deeper. This keeps the time linear.
const MAX_DEPTH: usize = 256;
/// A `summary` up to this length is a control ("Show details"); a longer one summarises its details.
const CONTROL_BYTES: usize = 24;

pub(super) struct OpenElement {
    pub(super) name: TagName,
    path: u64,
    node: usize,
    row: usize,
    part: BlockRole,
    pub(super) hidden: bool,
    /// Whether the element itself hides what is in it.
    pub(super) hides: bool,
    in_table: bool,
    /// The number of the thing that microdata or RDFa says it is about.
    pub(super) item: usize,
    /// Whether it is in a line of text and about a thing, or inside such an element. Its end is then looked for.
    pub(super) scoped: bool,
    /// The place of its attributes in the page.
    pub(super) attributes: Range<usize>,
    /// Whether it is a box of other things than the page's own; not known until a thing is in it.
    pub(super) is_box: Option<bool>,
}

pub(super) struct BlockReader<'a> {
    pub(super) html: &'a str,
    pub(super) text: TextBuilder,
    pub(super) blocks: Blocks,
    pub(super) open: Vec<OpenElement>,
    /// Where the current block begins.
    pub(super) text_start: usize,
    links_start: usize,
    anchor_bytes: usize,
    pub(super) leads_elsewhere: bool,
    pub(super) in_link: bool,
    /// The last link.
    pub(super) link: Option<LinkElement>,
    /// Properties of the innermost open element.
    pub(super) path: u64,
    pub(super) node: usize,
    pub(super) row: usize,
    /// The list element whose rows the next pieces are; 0 outside lists.
    pub(super) list: usize,
    pub(super) part: BlockRole,
    pub(super) hidden: bool,
    /// The uses that a selection makes of this place.
    pub(super) selected: Selected,
    /// The number of open elements around and at the watched one. These hide none of its text.
    pub(super) watched_from: usize,
    /// Whether text here is not read: it is hidden, or ignored.
    pub(super) skipped: bool,
    in_table: bool,
    pub(super) item: usize,
    pub(super) scoped: bool,
    pub(super) is_named: bool,
    /// The element of the last term of a description list.
    term: usize,
    /// The kind of text that says something about the page, if that comes next.
    pub(super) expected: Option<TextKind>,
    /// Whether the expected text is that of a field.
    pub(super) in_field: bool,
    /// The state of the control that is read, to be appended to its text.
    pub(super) state: Option<&'static str>,
    /// The text of an open element, read if the element shows nothing else.
    pub(super) label: Option<Label>,
    /// Hash of the part of the page past the size limit; 0 if the page fits.
    pub(super) rest: u64,
    /// The facts so far. They follow the text of the page.
    pub(super) facts: PageFacts,
    /// The blocks that only the name of a fact selects, each with the number of that part of the selection.
    pub(super) selected_as_fact: Vec<(usize, u16)>,
    /// Whether the next text begins with a raised decimal.
    pub(super) is_raised: bool,
    /// The address that the page was fetched from.
    pub(super) address: Option<&'a str>,
}

impl<'a> TakeTokens<'a> for BlockReader<'a> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        let is_raised = std::mem::take(&mut self.is_raised);
        if self.skipped || kind != TextKind::Data {
            self.fact_text(&self.html[place], kind);
            return;
        }
        let before = self.text.len();
        let place = if is_raised { self.raise(place) } else { place };
        self.text.push_within(wide, self.html, place.start, place.end, References::Decoded);
        if self.in_link {
            self.anchor_bytes += self.text.len() - before;
        }
        if self.text.is_truncated() {
            self.pass_over(&self.html[place]);
        }
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        let kind = KINDS.of(tag.name);
        let mentions = match kind {
            kind if kind.may_hide() && tag.attributes_place().len() >= SHORTEST_MENTION => {
                mentions(wide, self.html, tag.attributes_place())
            }
            _ => Mentions::default(),
        };
        if matches!(kind, TagEffect::Inline) {
            if may_hold_cents(self.html, tag) && !mentions.hiding {
                self.part(tag);
            }
            if may_protect_mail(tag) && self.protected_mail(tag) {
                return;
            }
            // Only these elements could hide text, and most tags have no attribute that does so.
            if !(self.hidden || self.scoped || mentions.hiding || mentions.item) {
                return;
            }
        }
        let item = if mentions.item { Some(ItemAttributes::of(tag.attributes())) } else { None };
        self.begin(tag, kind, mentions, item.as_ref());
        if let Some(item) = item.filter(|_| !self.selected.ignored) {
            self.facts.begin(tag.name, &item, self.item, self.selected, self.text.len());
        }
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        if name.as_bytes() == b"a" {
            self.in_link = false;
        }
        if self.label.is_some() {
            self.end_label(name);
        }
        if self.facts.is_reading(name) {
            self.facts.end(&self.text);
        }
        let kind = KINDS.of(name);
        let is_block = kind.is_block();
        if is_block {
            self.flush();
        } else if matches!(kind, TagEffect::Struck) && !self.skipped {
            self.text.push(STRUCK);
        }
        // Besides blocks, only elements inside hidden ones and in things are kept open.
        if (is_block || self.hidden || self.scoped)
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
            blocks: Blocks { language: language_of(html), ..Blocks::with_room(html.len()) },
            open: Vec::new(),
            text_start: 0,
            links_start: 0,
            anchor_bytes: 0,
            leads_elsewhere: false,
            in_link: false,
            link: None,
            path: 0,
            node: 0,
            row: 0,
            list: 0,
            part: BlockRole::default(),
            hidden: false,
            selected: Selected::default(),
            watched_from: 0,
            skipped: false,
            in_table: false,
            item: 0,
            is_named: false,
            term: 0,
            expected: None,
            in_field: false,
            state: None,
            label: None,
            rest: 0,
            facts: PageFacts::default(),
            selected_as_fact: Vec::new(),
            scoped: false,
            is_raised: false,
            address: None,
        }
    }

    fn begin(&mut self, tag: StartTag<'_>, kind: TagEffect, mentions: Mentions, item: Option<&ItemAttributes<'_>>) {
        match kind {
            TagEffect::Raw | TagEffect::Void => {}
            TagEffect::Break => self.flush(),
            TagEffect::Head => self.head(tag),
            TagEffect::Image => self.image(tag.attributes()),
            TagEffect::Input => self.input(tag.attributes()),
            TagEffect::Fact => {
                self.expected = match tag.name.as_bytes() {
                    b"title" => Some(TextKind::RcData),
                    _ => tag.is_json_ld().then_some(TextKind::Script),
                }
            }
            TagEffect::Link => self.begin_link(tag.attributes()),
            TagEffect::Field | TagEffect::Media | TagEffect::Struck => {
                let hides = mentions.hiding && is_hidden(tag.attributes());
                if (hides || self.hidden) && !tag.name.is_void() {
                    self.open(tag, false, hides, "");
                }
                if !self.skipped && !hides {
                    self.inline_control(kind, tag);
                }
            }
            TagEffect::Block | TagEffect::Control | TagEffect::Dropped | TagEffect::Inline => {
                let is_block = kind.is_block();
                if tag.name == OBJECT && !self.skipped {
                    self.media(tag);
                }
                let hidden = (matches!(kind, TagEffect::Dropped) && !is_shadow_root(tag))
                    || (mentions.hiding && is_hidden(tag.attributes()));
                let item = item.filter(|item| item.begins_thing());
                if is_block || hidden || self.hidden || self.scoped || item.is_some() {
                    let depth = self.open.len();
                    let role = if mentions.role { attribute(tag.attributes(), "role") } else { None };
                    self.open(tag, is_block, hidden, role.as_deref().unwrap_or_default());
                    if let Some(item) = item.filter(|_| self.open.len() > depth) {
                        self.begin_item(item, is_block);
                    }
                    if matches!(kind, TagEffect::Control) || role.as_deref() == Some("button") {
                        self.control(tag);
                    }
                }
            }
        }
    }

    pub(super) fn open(&mut self, tag: StartTag<'_>, is_block: bool, hidden: bool, role: &str) {
        let name = tag.name;
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
            let parent = self.around_block();
            self.blocks.nodes.push(BlockElement { parent, is_paragraph: IS_PARAGRAPH.of(name) });
            node = self.blocks.nodes.len() - 1;
            part = BlockRole::inside(part, name, role);
            in_table |= name == TD;
            match name.as_bytes() {
                b"tr" | b"li" => row = node,
                b"dt" => (row, self.term) = (node, node),
                b"dd" => row = self.term,
                _ if matches!(role, "row" | "listitem") => row = node,
                _ => {}
            }
        }
        self.open.push(OpenElement {
            name,
            path,
            node,
            row,
            part,
            hidden: self.hidden || hidden,
            hides: hidden,
            in_table,
            item: self.item,
            scoped: self.scoped,
            attributes: tag.attributes_place(),
            is_box: None,
        });
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

    pub(super) fn settle(&mut self) {
        let Some(open) = self.open.last() else {
            (self.path, self.node, self.row, self.part) = (0, 0, 0, BlockRole::default());
            (self.hidden, self.in_table, self.item, self.scoped) = (false, false, 0, false);
            return self.skip_or_not();
        };
        (self.path, self.node, self.row, self.part) = (open.path, open.node, open.row, open.part);
        (self.hidden, self.in_table, self.item, self.scoped) = (open.hidden, open.in_table, open.item, open.scoped);
        self.skip_or_not();
    }

    /// Ends the current block.
    pub(super) fn flush(&mut self) {
        self.end_state(self.text_start == self.text.len());
        let text = self.text_start..self.text.len();
        let links = self.links_start..self.blocks.href_ends.len();
        if (!text.is_empty() || !links.is_empty()) && (self.blocks.list.len() < MAX_BLOCKS || self.part.fact) {
            let &mut Self { anchor_bytes, leads_elsewhere, path, node, row, mut part, in_table, is_named, .. } = self;
            let innermost = self.open.last().map(|open| open.name);
            let is_summary = innermost == Some(SUMMARY);
            let heading_rank = match innermost.as_ref().map(|name| name.as_bytes()) {
                Some([b'h', rank @ b'1'..=b'6']) => rank - b'0',
                _ => 0,
            };
            if let Some(part) = self.selected.fact_part {
                self.selected_as_fact.push((self.blocks.list.len(), part));
            }
            part.handle = is_summary && text.len() <= CONTROL_BYTES;
            part.control |= part.handle;
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
                watch_part: self.selected.watch_part,
                heading_rank,
                in_table,
                sense: None,
            });
        } else if !text.is_empty() {
            let passed = self.text.behind(text.start).into_owned();
            self.pass_over(&passed);
        }
        self.links_start = self.blocks.href_ends.len();
        (self.anchor_bytes, self.leads_elsewhere) = (0, false);
        self.text.begin_line();
        self.text_start = self.text.len();
    }
}

/// The language that the page's root element names, which stands near the start.
fn language_of(html: &str) -> Option<String> {
    let start = &html[..html.floor_char_boundary(MAX_ROOT_BYTES)];
    let root = memchr::memchr_iter(b'<', start.as_bytes()).find(|at| {
        let tag = start.as_bytes().get(at + 1..at + 6).unwrap_or_default();
        tag[..tag.len().min(4)].eq_ignore_ascii_case(b"html") && tag.last().is_some_and(u8::is_ascii_whitespace)
    })?;
    attribute(&start[root + 5..], "lang")
}

/// The most bytes that are searched for the root element.
const MAX_ROOT_BYTES: usize = 2_048;
