//! The places of a page where a reader counts what stands there, as ranges of its text.

use std::ops::Range;

/// Bytes of a page that another text takes the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

impl Patch {
    pub(crate) fn new(range: Range<usize>, with: impl Into<String>) -> Self {
        Self { range, with: with.into() }
    }

    /// A text put in front of a position.
    pub(crate) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self::new(at..at, with)
    }
}

/// The page with all patches, which must not overlap.
pub(crate) fn patched(text: &str, patches: &[Patch]) -> String {
    let mut patches: Vec<&Patch> = patches.iter().collect();
    patches.sort_by_key(|patch| (patch.range.start, patch.range.end));
    let mut page = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for patch in patches {
        page.push_str(&text[done..patch.range.start]);
        page.push_str(&patch.with);
        done = patch.range.end;
    }
    page.push_str(&text[done..]);
    page
}

/// The kind of block that a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Paragraph,
    Heading,
    Item,
    Cell,
    Caption,
}

/// A block of text.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) place: Place,
    /// The texts in it that are not in links.
    pub(crate) texts: Vec<Range<usize>>,
    /// The bytes of text before it on the page.
    pub(crate) behind: usize,
}

/// All places of a page.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) spots: Vec<Spot>,
    /// Positions behind paragraphs of the main text, where a block can be inserted.
    pub(crate) anchors: Vec<usize>,
    /// Items of lists, and rows of tables, that stand side by side: at least four in each group.
    pub(crate) lists: Vec<Vec<Range<usize>>>,
    pub(crate) tables: Vec<Vec<Range<usize>>>,
    /// Targets of links in running text.
    pub(crate) targets: Vec<Range<usize>>,
    pub(crate) title: Option<Range<usize>>,
    /// The position behind the main text, and the end of the page's body.
    pub(crate) beside: Option<usize>,
    pub(crate) end: Option<usize>,
}

impl Places {
    pub(crate) fn spots_of(&self, place: Place) -> impl Iterator<Item = &Spot> {
        self.spots.iter().filter(move |spot| spot.place == place)
    }
}

/// The words of a text that stand alone: at least five alphabetic characters, with nothing but white space or
/// punctuation beside them.
pub(crate) fn words(text: &str) -> Vec<Range<usize>> {
    runs(text, char::is_alphabetic).filter(|run| text[run.clone()].chars().count() >= 5).collect()
}

/// The numbers of a text that stand alone. No times and no parts of versions or names.
pub(crate) fn numbers(text: &str) -> Vec<Range<usize>> {
    runs(text, |character| character.is_ascii_digit()).filter(|run| run.len() <= 6).collect()
}

fn runs(text: &str, of: impl Fn(char) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(&of)?;
            let length = text[start..].find(|character| !of(character)).unwrap_or(text.len() - start);
            at = start + length;
            let before = text[..start].chars().next_back();
            let after = text[at..].chars().next();
            let ends_sentence =
                matches!(after, Some('.' | ',')) && text[at + 1..].chars().next().is_none_or(char::is_whitespace);
            let opens = before.is_none_or(|character| character.is_whitespace() || character == '(');
            let closes = after.is_none_or(|character| character.is_whitespace() || character == ')') || ends_sentence;
            if opens && closes {
                return Some(start..at);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_apply_in_order_of_place() {
        let patches = [Patch::new(4..7, "two"), Patch::insert(0, "> "), Patch::insert(7, "!")];
        assert_eq!(patched("one 111", &patches), "> one two!");
    }

    #[test]
    fn words_and_numbers_stand_alone() {
        let text = "Version 1.2 costs 30, at 14:05 (room 7) for people&amp;dogs. Großes Haus";
        let found = |runs: Vec<Range<usize>>| runs.into_iter().map(|run| &text[run]).collect::<Vec<_>>();
        assert_eq!(found(words(text)), ["Version", "costs", "Großes"]);
        assert_eq!(found(numbers(text)), ["30", "7"]);
    }
}
