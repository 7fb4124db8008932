//! Pieces of text that are blocks by themselves, and the end of a page: facts about the whole page, and a hash of the
//! part past the size limit.

use crate::blocks::block::{BlockElement, Blocks};
use crate::blocks::facts::Fact;
use crate::blocks::reader::BlockReader;
use crate::hash::text_hash;
use crate::select::Selected;
use chance::splitmix64;

/// Facts about a page as a whole are read even behind the part of its text that is kept, up to this many bytes.
const MAX_FACT_BYTES: usize = 256 * 1024;

impl BlockReader<'_> {
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
        if self.text.is_truncated() {
            self.pass_over(text);
        }
        self.flush();
    }

    /// Ends the page. Facts about the whole page come behind its text.
    pub(super) fn finish(mut self) -> Blocks {
        self.flush();
        self.facts.finish();
        self.open.clear();
        self.settle();
        self.list = 0;
        self.part.fact = true;
        if self.rest != 0 {
            let text = format!("the rest of the page, too long to be listed: {:016x}", self.rest);
            self.facts.list.push(Fact { name: "rest".to_owned(), text, selected: Selected::default() });
        }
        self.text.make_room_behind_limit(MAX_FACT_BYTES);
        for Fact { name, text, selected } in std::mem::take(&mut self.facts.list) {
            if !selected.ignored {
                self.selected = selected;
                self.piece(Some(text_hash(name.as_bytes())), &text);
            }
        }
        Blocks { text: self.text.finish().0, modified: self.facts.modified, ..self.blocks }
    }

    /// Adds a text past the size limit to the hash of the rest: a change of it is reported, the text itself is not.
    #[cold]
    pub(super) fn pass_over(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.rest = splitmix64(self.rest ^ text_hash(text.trim().as_bytes()));
        }
    }
}
