//! Reads the blocks of a page by a selection: follows the page's elements, and tells the reader of the blocks where it
//! is.

use super::Blocks;
use super::reader::BlockReader;
use crate::markup::{StartTag, TakeTokens, TextKind};
use crate::select::{OpenElements, Selection};
use crate::tag_name::TagName;
use std::ops::Range;
use wide_bytes::Wide;

pub(super) struct SelectingReader<'a, 's> {
    html: &'a str,
    selection: &'s Selection,
    elements: OpenElements<'a, 's>,
    reader: BlockReader<'a>,
}

impl<'a> TakeTokens<'a> for SelectingReader<'a, '_> {
    #[inline(always)]
    fn text(&mut self, wide: impl Wide, place: Range<usize>, kind: TextKind) {
        if kind == TextKind::Data {
            self.elements.text(&self.html[place.clone()]);
            self.reader.turn(self.elements.selected());
        }
        self.reader.text(wide, place, kind);
    }

    #[inline(always)]
    fn start(&mut self, wide: impl Wide, tag: StartTag<'a>) {
        self.elements.start(tag);
        self.reader.turn(self.elements.selected());
        self.reader.start(wide, tag);
        self.elements.end_void();
        self.reader.turn(self.elements.selected());
    }

    #[inline(always)]
    fn end(&mut self, name: TagName) {
        self.reader.end(name);
        self.elements.end(name);
        self.reader.turn(self.elements.selected());
    }
}

impl<'a, 's> SelectingReader<'a, 's> {
    pub(super) fn new(html: &'a str, selection: &'s Selection) -> Self {
        Self { html, selection, elements: OpenElements::new(selection), reader: BlockReader::new(html) }
    }

    pub(super) fn finish(self) -> Blocks {
        let (mut reader, mut found) = (self.reader, self.elements.found);
        reader.facts.finish();
        for fact in &mut reader.facts.list {
            fact.selected = self.selection.of_fact(&fact.name, &mut found).within(fact.selected);
        }
        Blocks { found, ..reader.finish() }
    }
}
