//! The blocks of a page as triggers see them.

use crate::fold::folded;
use crate::passages::Passage;
use document::blocks::{Block, Blocks, FactOwner, STRUCK, StatedForm, StatedValue};
use document::stated::words_of_value;
use std::borrow::Cow;

/// A row with more blocks lays out a page, and its first text says nothing of the others.
const MAX_ROW_BLOCKS: usize = 16;
/// The longest text that names a row.
const MAX_ROW_NAME_BYTES: usize = 200;

/// A block, read for triggers.
pub(crate) struct SeenBlock<'b> {
    /// Without struck-through text, which does not hold any more.
    pub(crate) text: Cow<'b, str>,
    /// In lower case, with single blanks: the text, or the words of a value.
    pub(crate) said: String,
    /// The value of data or the fact that the block states.
    pub(crate) stated: Option<&'b StatedValue>,
    owner: FactOwner,
    /// The length of the names before a value of data.
    value_start: usize,
    /// The first text of the row that the block is in, if that is another block.
    pub(crate) row: Option<String>,
    pub(crate) block: &'b Block,
}

/// Whether a trigger that names no thing sees what is said of such a one.
pub(crate) fn is_owned(owner: FactOwner) -> bool {
    match owner {
        FactOwner::Main | FactOwner::Chosen => true,
        FactOwner::Another | FactOwner::Unclear => false,
    }
}

impl<'b> SeenBlock<'b> {
    pub(crate) fn new(blocks: &'b Blocks, index: usize, block: &'b Block) -> Self {
        let text = blocks.text(block);
        let unstruck = without_struck(text);
        let stated = blocks.stated(index);
        let is_data = |stated: &&StatedValue| stated.form != StatedForm::Shown;
        let value_start = stated.filter(is_data).map_or(0, |stated| stated.place.start - block.place().start);
        let said = match stated.filter(is_data) {
            Some(_) if block.part.fact => folded_value(&text[value_start..]),
            Some(_) | None => folded(&unstruck),
        };
        let owner = stated.map_or(FactOwner::Main, |stated| blocks.owner(stated));
        Self { text: unstruck, said, stated, owner, value_start, row: row_name(blocks, index).map(folded), block }
    }

    /// The block as a text that says something.
    pub(crate) fn passage(&self) -> Passage<'_> {
        Passage {
            text: Cow::Borrowed(&self.said),
            row: self.block.row,
            is_fact: self.block.part.fact,
            is_frame: self.block.part.chrome && !self.block.part.main,
            heading_rank: self.block.heading_rank,
        }
    }

    /// The thing whose text this is. Text that states nothing is that of the page.
    pub(crate) fn owner(&self) -> FactOwner {
        self.owner
    }

    /// The value of data, if the block is one.
    pub(crate) fn data(&self) -> Option<&'b StatedValue> {
        self.stated.filter(|stated| stated.form != StatedForm::Shown)
    }

    /// The names before a value of data, as words.
    pub(crate) fn name(&self) -> String {
        folded(&words_of_value(self.text.get(..self.value_start).unwrap_or_default()))
    }

    /// The text, or of data the value.
    pub(crate) fn prose(&self) -> &str {
        self.text.get(self.value_start..).unwrap_or_default()
    }
}

/// A value as words, and as it is written if that differs.
fn folded_value(value: &str) -> String {
    let words = words_of_value(value);
    if words == value { folded(value) } else { folded(&format!("{words}; {value}")) }
}

/// A text without its struck-through parts, each between two marks.
fn without_struck(text: &str) -> Cow<'_, str> {
    if !text.contains(STRUCK) {
        return Cow::Borrowed(text);
    }
    let mut parts: Vec<&str> = text.split(STRUCK).collect();
    // A mark without its pair is no mark.
    let rest = if parts.len().is_multiple_of(2) { parts.pop() } else { None };
    let kept = parts.into_iter().step_by(2).collect::<String>();
    Cow::Owned(kept + rest.unwrap_or_default())
}

/// The first text of the row that a block is in, if it is not the block's own.
fn row_name(blocks: &Blocks, index: usize) -> Option<&str> {
    let row = blocks.list[index].row;
    let mut before = blocks.list[..index].iter().rev().take_while(|other| row > 0 && other.row == row);
    let first = before.by_ref().take(MAX_ROW_BLOCKS).last()?;
    let name = blocks.text(first);
    (before.next().is_none() && name.len() <= MAX_ROW_NAME_BYTES).then_some(name)
}
