//! The texts of a page's blocks, with ids, times and ages replaced by their class. Places on the page are named by
//! these texts.

use crate::class_marks::ClassMarks;
use crate::classes::Classed;
use document::blocks::Blocks;
use document::passage_hash;
use std::borrow::Cow;
use std::ops::Range;

/// The texts of all blocks, one line each.
#[derive(Debug)]
pub(crate) struct ClassedText {
    /// `None` if nothing was replaced: the text is then that of the blocks.
    replaced: Option<String>,
    /// The range of each block in the text.
    places: Vec<Range<usize>>,
    /// The hash of each block's text with ages replaced only: another clock time or id is another text.
    names: Vec<u64>,
}

impl ClassedText {
    pub(crate) fn new(blocks: &Blocks) -> Self {
        let text = blocks.all_text();
        let marks = ClassMarks::of(text);
        let mut replaced: Option<String> = None;
        let mut places = Vec::with_capacity(blocks.list.len());
        let mut names = Vec::with_capacity(blocks.list.len());
        for block in &blocks.list {
            let place = block.place();
            let own = &text[place.clone()];
            let is_marked = marks.any_within(place.clone());
            let classed = is_marked.then(|| Classed::of(own));
            // A number in another form and attributes in another order say the same.
            let name = || passage_hash(classed.as_ref().map_or(own, |classed| &classed.ages).as_bytes());
            names.push(block.sense.unwrap_or_else(name));
            let classed = classed.map(|classed| classed.all).filter(|classed| **classed != *own);
            let start = replaced.as_ref().map_or(place.start, String::len);
            let length = classed.as_ref().map_or(place.len(), |classed| classed.len());
            places.push(start..start + length);
            if replaced.is_none() && classed.is_some() {
                replaced = Some(text[..place.start].to_owned());
            }
            if let Some(replaced) = &mut replaced {
                replaced.push_str(&classed.unwrap_or(Cow::Borrowed(&text[place])));
                if length > 0 {
                    replaced.push('\n');
                }
            }
        }
        Self { replaced, places, names }
    }

    /// The whole text. `blocks` must be those it was made from.
    pub(crate) fn text<'a>(&'a self, blocks: &'a Blocks) -> &'a str {
        self.replaced.as_deref().unwrap_or(blocks.all_text())
    }

    /// The range of each block in [`text`](Self::text).
    pub(crate) fn places(&self) -> &[Range<usize>] {
        &self.places
    }

    /// The hash of each block's own text.
    pub(crate) fn names(&self) -> &[u64] {
        &self.names
    }

    /// The texts of the chosen blocks, one line each; adjacent blocks in one piece.
    pub(crate) fn texts<'a>(&'a self, blocks: &'a Blocks, chosen: &'a [bool]) -> impl Iterator<Item = &'a str> {
        let text = self.text(blocks);
        let stretches = chosen.chunk_by(|one, other| one == other).scan(0, |start, stretch| {
            let first = *start;
            *start += stretch.len();
            Some((stretch[0], first..*start))
        });
        stretches.filter(|(is_chosen, _)| *is_chosen).map(move |(_, stretch)| {
            let places = &self.places[stretch];
            &text[places[0].start..places[places.len() - 1].end]
        })
    }
}
