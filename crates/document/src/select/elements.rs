//! The open elements of a page as a browser sees them, and which compounds of the selectors each fits.
//!
//! Follows the tree construction of the HTML standard (section 13.2.6) as far as it decides which elements enclose which:
//! the `html`, `head`, `body`, `tbody` and `tr` that the page omits, end tags that were left out, formatting that begins
//! anew in the next block, content that does not belong into a table. It differs where a browser moves or copies elements
//! that a block has torn apart (the "adoption agency"): here the block stays inside the element until its end tag.

use super::Selection;
use super::compound::TestedElement;
use super::css::{CompoundSet, Surroundings};
use super::formatting::{FormattingList, ListedElement};
use super::names::{
    Scope, ends_paragraph, is_formatting, is_heading, is_marker, is_of_head, is_part_of_line, is_table_frame,
    is_table_part,
};
use crate::attributes::{Attribute, attributes_of};
use crate::foreign::{breaks_out, is_html_within};
use crate::tag_name::{COUNT, PerName, TagName};
use crate::token::StartTag;

/// Deeper elements are not selected, and belong to the last element above. This keeps the time linear.
const MAX_DEPTH: usize = 256;
/// The most attributes of an element that are read.
const MAX_ATTRIBUTES: usize = 64;

/// The uses that a selection makes of a place of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    pub(crate) watched: bool,
    pub(crate) ignored: bool,
    /// The number of the part that watches it, if that is the name of a fact and no other part watches it.
    pub(crate) fact_part: Option<u16>,
    /// The number of the part that watches it; of several the outermost, and the first of those that select one place.
    pub(crate) watch_part: Option<u16>,
}

impl Selected {
    /// The uses of this place inside of another one.
    pub(crate) fn within(self, outer: Self) -> Self {
        let fact_part = match (self.watched, outer.watched) {
            (true, true) => self.fact_part.filter(|_| outer.fact_part.is_some()),
            (true, false) => self.fact_part,
            (false, true) => outer.fact_part,
            (false, false) => None,
        };
        Self {
            watched: self.watched || outer.watched,
            ignored: self.ignored || outer.ignored,
            fact_part,
            watch_part: outer.watch_part.or(self.watch_part),
        }
    }
}

/// An open element. The first of the list is the document itself.
#[derive(Clone, Default)]
pub(super) struct OpenElement {
    pub(super) name: TagName,
    pub(super) serial: u32,
    /// The compounds that fit it, that fit it or an element around it, and that fit its last child and any child so far.
    own: CompoundSet,
    above: CompoundSet,
    last_child: CompoundSet,
    earlier_children: CompoundSet,
    children: u32,
    /// SVG or MathML.
    pub(super) foreign: bool,
    /// Inside a `template`, whose content is no part of the document.
    inert: bool,
    selected: Selected,
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum PageStage {
    Start,
    Head,
    Body,
}

pub(crate) struct OpenElements<'a, 's> {
    selection: &'s Selection,
    pub(super) open: Vec<OpenElement>,
    pub(super) formatting: FormattingList<'a>,
    /// Whether a block has ended an element that begins anew.
    pub(super) may_renew: bool,
    pub(super) stage: PageStage,
    /// The elements so far.
    count: u32,
    /// Whether the last element has no content, so that it ends behind its tag.
    pub(super) is_void: bool,
    /// The open elements beyond [`MAX_DEPTH`] by name.
    pub(super) beyond: PerName<u32>,
    attributes: Vec<Attribute<'a>>,
    /// How often each part of the selection selected an element.
    pub(crate) found: Vec<u32>,
    /// The start tags of the elements that the first part selected.
    #[cfg(test)]
    pub(super) tags: Vec<StartTag<'a>>,
}

const fn named(name: &[u8]) -> TagName {
    TagName::named(name)
}
pub(super) const P: TagName = named(b"p");
const HTML: TagName = named(b"html");
const HEAD: TagName = named(b"head");
const BODY: TagName = named(b"body");
pub(super) const TABLE: TagName = named(b"table");
const TBODY: TagName = named(b"tbody");
const TR: TagName = named(b"tr");
const COLGROUP: TagName = named(b"colgroup");
const SELECT: TagName = named(b"select");
pub(super) const FORM: TagName = named(b"form");
const BUTTON: TagName = named(b"button");
pub(super) const TEMPLATE: TagName = named(b"template");

impl<'a, 's> OpenElements<'a, 's> {
    pub(crate) fn new(selection: &'s Selection) -> Self {
        Self {
            selection,
            open: vec![OpenElement::default()],
            formatting: FormattingList::default(),
            may_renew: false,
            stage: PageStage::Start,
            count: 0,
            is_void: false,
            beyond: PerName([0; COUNT]),
            attributes: Vec::new(),
            found: vec![0; selection.parts().len()],
            #[cfg(test)]
            tags: Vec::new(),
        }
    }

    /// The uses of the current place.
    pub(crate) fn selected(&self) -> Selected {
        self.top().selected
    }

    /// Takes in visible text.
    pub(crate) fn text(&mut self, text: &str) {
        if self.stage < PageStage::Body && !self.top().inert && !text.trim_ascii().is_empty() {
            self.begin_body();
        }
        self.renew_formatting();
    }

    /// Begins the element of a start tag. If it has no content, [`end_void`](Self::end_void) ends it.
    pub(crate) fn start(&mut self, tag: StartTag<'a>) {
        let name = tag.name;
        if self.top().foreign && !is_html_within(self.top().name.as_bytes()) {
            if !breaks_out(name.as_bytes()) {
                self.is_void = self.begin(name, Some(tag), self.open.len() - 1, true) && tag.is_self_closing();
                return;
            }
            while self.top().foreign && !is_html_within(self.top().name.as_bytes()) {
                self.pop_to(self.open.len() - 1);
            }
        }
        if self.top().inert || self.top().name == TEMPLATE {
            return self.begin_html(tag);
        }
        match name.as_bytes() {
            b"html" if self.open.len() == 1 => {
                self.begin(HTML, Some(tag), 0, false);
            }
            b"head" if self.stage == PageStage::Start => {
                self.begin_root();
                self.begin(HEAD, Some(tag), 1, false);
                self.stage = PageStage::Head;
            }
            b"body" if self.stage < PageStage::Body => {
                self.end_head();
                self.begin(BODY, Some(tag), 1, false);
                self.stage = PageStage::Body;
            }
            b"html" | b"head" | b"body" | b"frame" | b"frameset" => {}
            _ if self.stage < PageStage::Body && is_of_head(name) => {
                if self.stage == PageStage::Start {
                    self.begin_root();
                    self.begin(HEAD, None, 1, false);
                    self.stage = PageStage::Head;
                }
                self.begin_html(tag);
            }
            _ => {
                self.begin_body();
                self.start_in_body(tag);
            }
        }
    }

    fn start_in_body(&mut self, tag: StartTag<'a>) {
        let name = tag.name;
        if is_table_part(name) {
            return self.start_in_table(tag);
        }
        if ends_paragraph(name) {
            self.end_in(P, Scope::Button);
        }
        let top = self.top().name;
        match name.as_bytes() {
            b"li" => self.end_item(|name| name.as_bytes() == b"li"),
            b"dd" | b"dt" => self.end_item(|name| matches!(name.as_bytes(), b"dd" | b"dt")),
            b"a" | b"nobr" => self.end_formatting(name),
            b"button" => self.end_in(BUTTON, Scope::Default),
            b"form" if self.open.iter().any(|open| open.name == FORM) => return,
            b"select" if self.find(SELECT, Scope::Default).is_some() => return self.end_in(SELECT, Scope::Default),
            b"option" if top.as_bytes() == b"option" => self.pop_to(self.open.len() - 1),
            b"optgroup" => {
                if top.as_bytes() == b"option" {
                    self.pop_to(self.open.len() - 1);
                }
                if self.top().name.as_bytes() == b"optgroup" {
                    self.pop_to(self.open.len() - 1);
                }
            }
            b"rb" | b"rp" | b"rt" if matches!(top.as_bytes(), b"rb" | b"rp" | b"rt") => {
                self.pop_to(self.open.len() - 1);
            }
            _ if is_heading(name) && is_heading(top) => self.pop_to(self.open.len() - 1),
            _ => {}
        }
        self.begin_html(tag);
    }

    /// Begins a part of a table, and the `tbody`, `tr` or `colgroup` that HTML implies around it. Outside a table the tag is
    /// ignored.
    fn start_in_table(&mut self, tag: StartTag<'a>) {
        if self.find(TABLE, Scope::Table).is_none() {
            return;
        }
        let (within, missing): (&[&[u8]], &[TagName]) = match tag.name.as_bytes() {
            b"td" | b"th" => (&[b"tr", b"tbody", b"thead", b"tfoot", b"table"], &[TBODY, TR]),
            b"tr" => (&[b"tbody", b"thead", b"tfoot", b"table"], &[TBODY]),
            b"col" => (&[b"colgroup", b"table"], &[COLGROUP]),
            _ => (&[b"table"], &[]),
        };
        let Some(index) = self.open.iter().rposition(|open| within.contains(&open.name.as_bytes())) else { return };
        self.pop_to(index + 1);
        let missing = match self.top().name.as_bytes() {
            b"table" => missing,
            b"tr" | b"colgroup" => &[],
            _ => missing.get(1..).unwrap_or_default(),
        };
        for name in missing {
            self.begin(*name, None, self.open.len() - 1, false);
        }
        self.begin_html(tag);
    }

    /// Begins an HTML element at the place where it belongs.
    fn begin_html(&mut self, tag: StartTag<'a>) {
        let name = tag.name;
        if is_part_of_line(name) {
            self.renew_formatting();
        }
        let mut parent = self.open.len() - 1;
        let is_in_frame = is_table_frame(self.top().name);
        // Content that does not belong into a table goes before it. A form inside a table has no content.
        if is_in_frame && !is_table_part(name) && !is_of_head(name) && name != FORM {
            let table = self.open.iter().rposition(|open| open.name == TABLE);
            parent = table.map_or(parent, |table| table - 1);
        }
        let is_foreign = matches!(name.as_bytes(), b"svg" | b"math");
        if !self.begin(name, Some(tag), parent, is_foreign) {
            return;
        }
        self.is_void = name.is_void() || (is_foreign && tag.is_self_closing()) || (is_in_frame && name == FORM);
        if is_formatting(name) {
            self.formatting.push(Some(ListedElement { tag, serial: self.count }));
        } else if is_marker(name) {
            self.formatting.push(None);
        }
    }

    /// Begins an element in another, whatever it is. Returns false if it is too deep to be selected.
    pub(super) fn begin(&mut self, name: TagName, tag: Option<StartTag<'a>>, parent: usize, foreign: bool) -> bool {
        if self.open.len() > MAX_DEPTH {
            if !name.is_void() {
                *self.beyond.of_mut(name) += 1;
            }
            return false;
        }
        self.count += 1;
        let own = self.fitting(name, tag, parent);
        let outer = &mut self.open[parent];
        outer.children += 1;
        (outer.last_child, outer.earlier_children) = (own, outer.earlier_children | own);
        let (above, inert) = (outer.above | own, outer.inert || outer.name == TEMPLATE);
        let mut selected = outer.selected;
        if own != 0 {
            let parts: Vec<usize> = self.selection.selectors.parts(own).collect();
            parts.iter().for_each(|part| self.found[*part] += 1);
            #[cfg(test)]
            self.tags.extend(tag.filter(|_| parts.contains(&0)));
            selected = self.selection.selected(parts).within(selected);
        }
        let serial = self.count;
        self.open.push(OpenElement { name, serial, own, above, foreign, inert, selected, ..OpenElement::default() });
        true
    }

    /// The compounds that fit a new element of this parent.
    fn fitting(&mut self, name: TagName, tag: Option<StartTag<'a>>, parent: usize) -> CompoundSet {
        let outer = &self.open[parent];
        if self.selection.selectors.is_empty() || outer.inert || outer.name == TEMPLATE {
            return 0;
        }
        self.attributes.clear();
        if let Some(tag) = tag {
            self.attributes.extend(attributes_of(tag.attributes()).take(MAX_ATTRIBUTES));
        }
        let written = match tag {
            Some(tag) => tag.written_name(),
            None => std::str::from_utf8(name.as_bytes()).unwrap_or_default(),
        };
        let around = Surroundings {
            above: outer.above,
            parent: outer.own,
            previous: outer.last_child,
            earlier: outer.earlier_children,
        };
        let element = TestedElement { name: written, attributes: &self.attributes, nth: outer.children + 1 };
        self.selection.selectors.fitting(&element, &around)
    }

    fn begin_root(&mut self) {
        if self.open.len() == 1 {
            self.begin(HTML, None, 0, false);
        }
    }

    /// Ends the head, which every page has.
    fn end_head(&mut self) {
        self.begin_root();
        if self.stage == PageStage::Start {
            self.begin(HEAD, None, 1, false);
        }
        self.pop_to(2);
    }

    pub(super) fn begin_body(&mut self) {
        if self.stage < PageStage::Body {
            self.end_head();
            self.begin(BODY, None, 1, false);
            self.stage = PageStage::Body;
        }
    }

    /// Begins formatting elements anew that a block has ended.
    fn renew_formatting(&mut self) {
        if !std::mem::take(&mut self.may_renew) {
            return;
        }
        for listed in self.formatting.open() {
            if self.open.iter().any(|open| open.serial == listed.serial) || self.open.len() > MAX_DEPTH {
                continue;
            }
            self.begin(listed.tag.name, Some(listed.tag), self.open.len() - 1, false);
            self.formatting.renew(listed.serial, self.count);
        }
    }

    pub(super) fn top(&self) -> &OpenElement {
        self.open.last().expect("the document is never closed")
    }
}
