//! The unchanged texts beside a change, by which readers find it on the page.

use crate::commands::diff::struck::StruckText;
use change::ChangedUnit;
use document::{Body, prefix};
use std::collections::HashSet;

/// The sign at the cut ends of a text.
const CUT: char = '…';
/// The most bytes of a text of context.
const MAX_CONTEXT_BYTES: usize = 160;

/// The texts of two versions, in page order.
#[derive(Default)]
pub(super) struct Context {
    old: Vec<String>,
    new: Vec<String>,
    /// The texts that both versions have.
    same: HashSet<String>,
}

impl Context {
    /// The texts of two bodies.
    pub(super) fn of_bodies(old: &Body<'_>, new: &Body<'_>) -> Self {
        let texts = |body: &Body<'_>| {
            let blocks = body.blocks();
            let shown = blocks.list.iter().filter(|block| !block.part.fact);
            shown.map(|block| StruckText::new(blocks.text(block)).text).filter(|text| !text.trim().is_empty()).collect()
        };
        Self::of_texts(texts(old), texts(new))
    }

    /// The lines of a copy of the newer version. Which of them are new is known from the changes.
    pub(super) fn of_copy(text: &str, changes: &[ChangedUnit]) -> Self {
        let lines: Vec<String> = text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        let is_old =
            |line: &String| !changes.iter().filter_map(|unit| unit.after.as_deref()).any(|after| shows(line, after));
        let old = lines.iter().filter(|line| is_old(line)).cloned().collect();
        Self::of_texts(old, lines)
    }

    fn of_texts(old: Vec<String>, new: Vec<String>) -> Self {
        let of_old: HashSet<&String> = old.iter().collect();
        let same = new.iter().filter(|text| of_old.contains(text)).cloned().collect();
        Self { old, new, same }
    }

    /// The unchanged texts right before and behind a change. `None` where the next text has changed, too, or there is none.
    pub(super) fn beside(&self, unit: &ChangedUnit) -> [Option<&str>; 2] {
        let (texts, text) = match (&unit.after, &unit.before) {
            (Some(after), _) => (&self.new, after),
            (None, Some(before)) => (&self.old, before),
            (None, None) => return [None, None],
        };
        let Some(place) = texts.iter().position(|other| shows(other, text)) else { return [None, None] };
        let neighbour = |index: Option<usize>| {
            let text = texts.get(index?).filter(|text| self.same.contains(*text))?;
            Some(prefix(text, MAX_CONTEXT_BYTES))
        };
        [neighbour(place.checked_sub(1)), neighbour(place.checked_add(1))]
    }
}

/// Whether a text is the one that a change gives, which may have been cut.
fn shows(text: &str, given: &str) -> bool {
    let given = StruckText::new(given).text;
    match given.starts_with(CUT) || given.ends_with(CUT) {
        true => text.contains(given.trim_matches(CUT)),
        false => text == given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(before: Option<&str>, after: Option<&str>) -> ChangedUnit {
        let text = |text: Option<&str>| text.map(str::to_owned);
        ChangedUnit { before: text(before), after: text(after), place: String::new() }
    }

    #[test]
    fn a_change_stands_between_the_texts_that_stayed() {
        let body = |html: &'static str| Body::new(html.as_bytes(), Some("text/html"), None);
        let old = body("<h1>Lamp</h1><p>Of tin.<p><s>30 €</s> 24 €<p>In stock.<p>Red.");
        let new = body("<h1>Lamp</h1><p>Of tin.<p><s>30 €</s> 19 €<p>Sold out.<p>Red.");
        let context = Context::of_bodies(&old, &new);
        assert_eq!(context.beside(&unit(Some("~~30 €~~ 24 €"), Some("~~30 €~~ 19 €"))), [Some("Of tin."), None]);
        assert_eq!(context.beside(&unit(Some("In stock."), None)), [None, Some("Red.")]);
        assert_eq!(context.beside(&unit(None, Some("…old ou…"))), [None, Some("Red.")]);
        assert_eq!(context.beside(&unit(None, Some("Not there"))), [None, None]);
    }

    #[test]
    fn a_copy_gives_the_lines_that_did_not_change() {
        let changes = [unit(Some("24 €"), Some("19 €"))];
        let context = Context::of_copy("Lamp\n19 €\n\nRed.\n", &changes);
        assert_eq!(context.beside(&changes[0]), [Some("Lamp"), Some("Red.")]);
    }
}
