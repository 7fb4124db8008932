//! The texts of a page as a reader takes them: each by itself, with the answer beside it.

use crate::sight::Sight;
use crate::stock::{StockClaims, StockState, is_about_others, is_answer};
use std::borrow::Cow;

/// A folded text of a page, and where it stands.
#[derive(Debug)]
pub(crate) struct Passage<'b> {
    pub(crate) text: Cow<'b, str>,
    /// The row that it is in. 0 outside rows.
    pub(crate) row: usize,
    /// Whether it is a fact of the page's data.
    pub(crate) is_fact: bool,
    /// Whether it is in the frame of the page.
    pub(crate) is_frame: bool,
    /// The rank of a heading; 0 for other texts.
    pub(crate) heading_rank: u8,
}

/// The passages of a page, in reading order.
#[derive(Debug)]
pub(crate) struct Passages<'b> {
    list: Vec<Passage<'b>>,
    /// Whether the operator chose them.
    is_watched: bool,
}

impl<'b> Passages<'b> {
    /// Passages, each joined with those behind it that only answer it: the cell "no" behind the cell "in stock".
    pub(crate) fn new(all: impl Iterator<Item = Passage<'b>>, is_watched: bool) -> Self {
        let mut list: Vec<Passage<'b>> = Vec::new();
        for passage in all {
            match list.last_mut() {
                Some(last) if answers(last, &passage) => {
                    let text = last.text.to_mut();
                    text.push_str(": ");
                    text.push_str(&passage.text);
                }
                _ => list.push(passage),
            }
        }
        Self { list, is_watched }
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|passage| &*passage.text)
    }

    /// Whether the passages say that something is in stock.
    pub(crate) fn stock_sight(&self, own: &str) -> Sight {
        let mut said: Vec<(&Passage<'b>, StockClaims)> =
            self.of_page().map(|passage| (passage, StockClaims::of(&passage.text, own))).collect();
        said.retain(|(_, claims)| claims.state() != StockState::NotMentioned);
        if !self.is_watched && said.iter().any(|(passage, _)| !passage.is_frame) {
            said.retain(|(passage, _)| !passage.is_frame);
        }
        if said.iter().any(|(_, claims)| claims.is_strong()) {
            said.retain(|(_, claims)| claims.is_strong());
        }
        let has = |state| said.iter().any(|(_, claims)| claims.state() == state);
        match (has(StockState::In), has(StockState::Out), has(StockState::Unclear)) {
            (true, false, _) => Sight::Words(true),
            (false, true, false) | (false, false, false) => Sight::Words(false),
            (false, true, true) if said.iter().all(|(_, claims)| !claims.is_strong()) => Sight::Words(false),
            (true, true, false) if are_alike(&said) => Sight::Words(true),
            (false, _, true) | (true, true, _) => Sight::Unclear,
        }
    }

    /// The passages without those below a heading that announces other things.
    fn of_page(&self) -> impl Iterator<Item = &Passage<'b>> {
        let mut rank_of_others = None;
        self.list.iter().filter(move |passage| {
            if passage.is_fact {
                return true;
            }
            let rank = passage.heading_rank;
            if rank > 0 && rank_of_others.is_none_or(|others| rank <= others) {
                rank_of_others = is_about_others(&passage.text).then_some(rank);
            }
            rank_of_others.is_none()
        })
    }
}

/// Whether a passage only answers the one before it. A number does so in the same row only.
fn answers(before: &Passage<'_>, passage: &Passage<'_>) -> bool {
    let is_same_row = passage.row > 0 && passage.row == before.row;
    let is_text = !passage.is_fact && !before.is_fact && !before.text.is_empty();
    is_text && (is_same_row || passage.row == 0 && before.row == 0) && is_answer(&passage.text, is_same_row)
}

/// Whether all are rows, or all are facts, so that one in stock is enough: the sizes of a shirt, the offers for a lamp, its
/// variants. Facts of other things are no passages here.
fn are_alike(said: &[(&Passage<'_>, StockClaims)]) -> bool {
    said.iter().all(|(passage, _)| passage.row > 0) || said.iter().all(|(passage, _)| passage.is_fact)
}
