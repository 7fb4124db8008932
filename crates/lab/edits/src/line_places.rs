//! Finds the places of a page of lines: Markdown, or plain text.

use crate::places::{Place, Places, Spot};
use std::ops::Range;

/// The shortest line that is taken for a paragraph, in bytes.
const MIN_PARAGRAPH: usize = 40;
/// The fewest items of a list or rows of a table.
const MIN_GROUP: usize = 4;

pub(crate) fn line_places(text: &str) -> Places {
    let mut places = Places::default();
    let (mut last, mut start) = (None, 0);
    for line in text.split_inclusive('\n') {
        let range = start..start + line.trim_end().len();
        let behind = start;
        start += line.len();
        let Some((place, mark)) = place_of(line) else {
            last = None;
            continue;
        };
        match place {
            Place::Paragraph if line.ends_with('\n') => places.anchors.push(start),
            Place::Item => group(&mut places.lists, last == Some(place), behind..start),
            Place::Cell => group(&mut places.tables, last == Some(place), behind..start),
            Place::Paragraph | Place::Heading | Place::Caption => {}
        }
        // A bracket may begin a link, so the text ends there.
        let plain =
            line.find(['[', '<', '`']).map_or(range.end, |length| (behind + length).clamp(behind + mark, range.end));
        let words = behind + mark..plain;
        if text[words.clone()].contains(char::is_alphanumeric) {
            places.spots.push(Spot { place, texts: Vec::from([words]), behind });
        }
        last = Some(place);
    }
    places.lists.retain(|list| list.len() >= MIN_GROUP);
    places.tables.retain(|table| table.len() >= MIN_GROUP);
    places
}

/// The kind of block that a line is, and the length in bytes of the mark before its text; `None` for rules and short lines.
fn place_of(line: &str) -> Option<(Place, usize)> {
    let mark = line.len() - line.trim_start_matches([' ', '\t', '#', '-', '*', '|', '+', '>']).len();
    let is_rule = line.trim().chars().all(|character| !character.is_alphanumeric());
    match line.trim_start().as_bytes() {
        _ if is_rule => None,
        [b'#', ..] => Some((Place::Heading, mark)),
        [b'-' | b'*' | b'+', b' ', ..] => Some((Place::Item, mark)),
        [b'|', ..] => Some((Place::Cell, mark)),
        _ if line.trim().len() >= MIN_PARAGRAPH && line.contains(' ') => Some((Place::Paragraph, mark)),
        _ => None,
    }
}

fn group(groups: &mut Vec<Vec<Range<usize>>>, goes_on: bool, line: Range<usize>) {
    match groups.last_mut().filter(|_| goes_on) {
        Some(group) => group.push(line),
        None => groups.push(vec![line]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_headings_items_rows_and_paragraphs() {
        let text = "# Rules\n\nWe keep what you give us for as long as the law asks.\n\n- a one\n- b two\n- c three\n- d four\n\n\
                    | A | 1 |\n|---|---|\n| B | 2 |\n";
        let places = line_places(text);
        let of = |place| {
            let spots = places.spots_of(place).map(|spot| &text[spot.texts[0].clone()]);
            spots.collect::<Vec<_>>()
        };
        assert_eq!(of(Place::Heading), ["Rules"]);
        assert_eq!(of(Place::Item), ["a one", "b two", "c three", "d four"]);
        assert_eq!(of(Place::Cell), ["A | 1 |", "B | 2 |"]);
        assert_eq!(places.lists.len(), 1);
        assert!(text[places.anchors[0]..].starts_with("\n- a one"));
    }
}
