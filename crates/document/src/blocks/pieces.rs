//! Pieces of text that are blocks by themselves, and the end of a page: facts about the whole page, and a hash of the
//! part past the size limit.

use crate::blocks::block::{BlockElement, Blocks, StatedForm, StatedValue};
use crate::blocks::facts::{Fact, ValueKind};
use crate::blocks::microdata::PageFacts;
use crate::blocks::reader::BlockReader;
use crate::hash::{passage_hash, text_hash};
use crate::select::Selected;
use crate::text::prefix;
use chance::splitmix64;

/// Facts about a page as a whole are read even behind the part of its text that is kept, up to this many bytes.
const MAX_FACT_BYTES: usize = 256 * 1024;

impl BlockReader<'_> {
    /// Begins a list: each piece that follows is one of its rows.
    pub(super) fn list_of_pieces(&mut self) {
        self.blocks.nodes.push(BlockElement { parent: 0, is_paragraph: true });
        self.list = self.blocks.nodes.len() - 1;
    }

    /// Begins a row: the pieces that follow are in it.
    pub(super) fn row_of_pieces(&mut self) {
        self.blocks.nodes.push(BlockElement { parent: 0, is_paragraph: true });
        self.node = self.blocks.nodes.len() - 1;
        self.row = self.node;
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
        if self.text.is_truncated() {
            self.pass_over(text);
        }
        self.flush();
    }

    /// Ends the text of the page. Things that mention each other are put together.
    pub(super) fn end_page(&mut self) {
        self.flush();
        self.facts.finish();
    }

    /// Ends the page. Facts about the whole page come behind its text.
    pub(super) fn finish(mut self) -> Blocks {
        self.end_page();
        self.with_facts()
    }

    /// Appends the facts to the text of a page that has ended.
    pub(super) fn with_facts(mut self) -> Blocks {
        self.open.clear();
        self.settle();
        self.list = 0;
        self.part.fact = true;
        if self.rest != 0 {
            let text = format!("the rest of the page, too long to be listed: {:016x}", self.rest);
            self.facts.list.push(Fact::unnamed("rest", text, Selected::default()));
        }
        self.text.make_room_behind_limit(MAX_FACT_BYTES);
        self.add_shown();
        for fact in std::mem::take(&mut self.facts.list) {
            if !fact.selected.ignored {
                self.selected = fact.selected;
                let path = text_hash(fact.name.as_bytes());
                self.value(path, (&fact.text, fact.value_start), fact.kind, fact.canonical());
                let count = self.blocks.list.len();
                if let Some(stated) = self.blocks.stated.last_mut().filter(|stated| stated.block + 1 == count) {
                    (stated.name, stated.thing) = (fact.name, fact.thing);
                }
            }
        }
        let PageFacts { modified, things, address, .. } = self.facts;
        let own = self.address.filter(|_| !things.is_empty()).map(str::to_owned);
        Blocks { text: self.text.finish().0, modified, things, addresses: [own, address], ..self.blocks }.into_shown()
    }

    /// Adds a value of data with the names before it. `path` names its place, `canonical` is the form of all equal values.
    pub(super) fn value(
        &mut self,
        path: u64,
        (text, start): (&str, usize),
        kind: ValueKind,
        canonical: Option<String>,
    ) {
        let (name, value) = text.split_at(start);
        let count = self.blocks.list.len();
        (self.path, self.is_named) = (path, true);
        self.text.push(name);
        let name_end = self.text.len();
        self.text.push(value);
        if self.text.is_truncated() {
            self.pass_over(text);
        }
        let end = self.text.len();
        let place = end - self.text.behind(name_end).trim_start().len()..end;
        let before = canonical.map(|canonical| (self.text.behind(self.text_start).into_owned(), canonical));
        let before_bytes = place.start - self.text_start;
        self.flush();
        if let Some(block) = self.blocks.list.get_mut(count) {
            let sense = before.map(|(text, canonical)| format!("{}{canonical}", prefix(&text, before_bytes)));
            block.sense = sense.map(|sense| passage_hash(sense.as_bytes()));
            let form = StatedForm::Data(kind);
            self.blocks.stated.push(StatedValue { block: count, place, form, name: String::new(), thing: 0 });
        }
    }

    /// Notes which blocks show facts.
    fn add_shown(&mut self) {
        for (fact, range) in std::mem::take(&mut self.facts.shown) {
            let list = &self.blocks.list;
            let first = list.partition_point(|block| block.place().end <= range.start);
            let within = list[first..].iter().enumerate().take_while(|(_, block)| block.place().start < range.end);
            for (index, block) in within.filter(|(_, block)| block.byte_length() > 0) {
                let place = block.place().start.max(range.start)..block.place().end.min(range.end);
                let (form, name, thing) = (StatedForm::Shown, fact.name.clone(), fact.thing);
                let stated = StatedValue { block: first + index, place, form, name, thing };
                self.blocks.stated.push(stated);
            }
        }
        self.blocks.stated.sort_by_key(|stated| stated.block);
        self.blocks.stated.dedup_by_key(|stated| stated.block);
    }

    /// Adds a text past the size limit to the hash of the rest: a change of it is reported, the text itself is not.
    #[cold]
    pub(super) fn pass_over(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.rest = splitmix64(self.rest ^ text_hash(text.trim().as_bytes()));
        }
    }
}
