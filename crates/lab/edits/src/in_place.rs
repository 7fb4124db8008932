//! Edits of a value where it stands in a block of text.

use crate::draw::Draw;
use crate::editable_page::{Edit, EditablePage};
use crate::fixtures::{element, rows_with};
use crate::markup::Markup;
use crate::places::{Patch, Place, Spot, numbers, words};
use crate::values::{What, other_number, pair, sentence, stranger};
use std::ops::Range;

/// Edits this far behind are a kind of their own.
const FAR: usize = 32 << 10;
/// Blocks that are tried before a page is taken for one without a word or number.
const TRIES: usize = 12;

/// An edit of a value in a block of the page. A word or number is the page's own. Another value stands in a sentence
/// that is added to a block of the page; if there is no such block, one is added.
pub(crate) fn edit(page: &EditablePage, what: What, place: Place, draw: &mut Draw) -> Option<Edit> {
    let markup = page.markup()?;
    if markup == Markup::Lines && place == Place::Caption {
        return None;
    }
    let spots: Vec<&Spot> = page.places.spots_of(place).collect();
    if let Some(patch) = own_value(page, what, &spots, draw) {
        return Some(Edit::of_page(vec![patch]));
    }
    let (before, after) = pair(what, draw);
    let form = draw.below(3);
    let [before, after] = [before, after].map(|value| sentence(what, &value, form));
    let end = draw.pick(&spots).and_then(|spot| spot.texts.last()).map(|text| {
        let kept = page.text[text.clone()].trim_end_matches([' ', '\n', '\t', '\r', '|']).len();
        text.start + kept
    });
    match end {
        Some(at) => Some(Edit::of_inserted(at, format!(" {before}"), format!(" {after}"))),
        None => {
            let others = rows_with(draw);
            let at = page.anchor(draw)?;
            Some(Edit::of_inserted(
                at,
                element(markup, place, &before, &others),
                element(markup, place, &after, &others),
            ))
        }
    }
}

fn own_value(page: &EditablePage, what: What, spots: &[&Spot], draw: &mut Draw) -> Option<Patch> {
    let values: fn(&str) -> Vec<Range<usize>> = match what {
        What::Word => words,
        What::Number => numbers,
        What::Price | What::Date | What::Time => return None,
    };
    for _ in 0..TRIES {
        let Some(text) = draw.pick(spots).and_then(|spot| draw.pick(&spot.texts)) else { continue };
        let found = values(&page.text[text.clone()]);
        let Some(value) = draw.pick(&found) else { continue };
        let range = text.start + value.start..text.start + value.end;
        let with = match what {
            What::Number => other_number(&page.text[range.clone()], draw),
            _ => stranger(draw).to_owned(),
        };
        return Some(Patch::new(range, with));
    }
    None
}

/// A word of a paragraph far down the page.
pub(crate) fn far_word(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let is_far = |spot: &&Spot| spot.place == Place::Paragraph && spot.behind > FAR;
    let spots: Vec<&Spot> = page.places.spots.iter().filter(is_far).collect();
    own_value(page, What::Word, &spots, draw).map(|patch| Edit::of_page(vec![patch]))
}
