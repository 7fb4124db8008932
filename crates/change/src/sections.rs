//! The sections of a page: what stands under a heading. "Closed for repair" under another heading is another statement.

use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;
use document::blocks::Blocks;
use document::text_hash;
use std::ops::Range;

/// Elements that hold nothing besides a heading are skipped to find the section that it heads, up to this many.
const MAX_WRAPPERS: usize = 3;

/// The heading of each block: the last before it of the element that holds both.
pub(crate) fn headings(blocks: &Blocks) -> Vec<Option<usize>> {
    let nodes = &blocks.nodes;
    if blocks.list.iter().all(|block| block.heading_rank == 0) {
        return vec![None; blocks.list.len()];
    }
    // The elements inside one follow it without a gap.
    let mut ends: Vec<usize> = (1..=nodes.len()).collect();
    for index in (1..nodes.len()).rev() {
        let parent = nodes[index].parent;
        ends[parent] = ends[parent].max(ends[index]);
    }
    let scope = |index: usize| {
        let mut node = nodes[blocks.list[index].node].parent;
        let holds = |node: usize, index: Option<usize>| {
            index.and_then(|index| blocks.list.get(index)).is_some_and(|block| (node..ends[node]).contains(&block.node))
        };
        for _ in 0..MAX_WRAPPERS {
            if holds(node, index.checked_sub(1)) || holds(node, Some(index + 1)) {
                break;
            }
            node = nodes[node].parent;
        }
        node..ends[node]
    };
    let mut open: Vec<(Range<usize>, u8, usize)> = Vec::new();
    let heading = |(index, block): (usize, &document::blocks::Block)| {
        while open.last().is_some_and(|(scope, ..)| !scope.contains(&block.node)) {
            open.pop();
        }
        if block.heading_rank > 0 {
            while open.last().is_some_and(|(_, rank, _)| *rank >= block.heading_rank) {
                open.pop();
            }
        }
        let heading = open.last().map(|(.., heading)| *heading);
        if block.heading_rank > 0 {
            open.push((scope(index), block.heading_rank, index));
        }
        heading
    };
    blocks.list.iter().enumerate().map(heading).collect()
}

/// The texts that moved to another heading, as the removed and the added unit. Both versions have the text and both
/// headings. A text that appears in one section more or less did not move.
pub(crate) fn moved(old: &UnitTexts, new: &UnitTexts) -> Vec<(UnitKey, UnitKey)> {
    // Nearly always all is where it was, and nothing more is to be done.
    if !old.any_under_other_heading(new) {
        return Vec::new();
    }
    let went = statements(old, &old.shared_with(new));
    let came = statements(new, &new.shared_with(old));
    let [mut went, mut came] = [only_in(&went, &came), only_in(&came, &went)];
    went.sort_unstable_by_key(|(_, text, _)| *text);
    came.sort_unstable_by_key(|(_, text, _)| *text);
    let mut came = came.into_iter().peekable();
    let pair = |(_, text, key): (u64, u64, UnitKey)| {
        while came.next_if(|(_, other, _)| *other < text).is_some() {}
        came.next_if(|(_, other, _)| *other == text).map(|(.., other)| (key, other))
    };
    went.into_iter().filter_map(pair).collect()
}

/// The heading of each text with the text, where another version has both; sorted.
fn statements(texts: &UnitTexts, shared: &[bool]) -> Vec<(u64, u64, UnitKey)> {
    let said = texts.in_sections().filter(|(unit, section, ..)| shared[*unit] && shared[*section]);
    let mut said: Vec<_> = said.map(|(_, _, heading, key, text)| (heading, text_hash(text.as_bytes()), key)).collect();
    said.sort_unstable();
    said
}

/// The statements of the first list without as many of the same in the other.
fn only_in(of: &[(u64, u64, UnitKey)], without: &[(u64, u64, UnitKey)]) -> Vec<(u64, u64, UnitKey)> {
    let said = |(heading, text, _): &(u64, u64, UnitKey)| (*heading, *text);
    let mut others = without.iter().map(said).peekable();
    let is_alone = |one: &&(u64, u64, UnitKey)| {
        while others.next_if(|other| *other < said(one)).is_some() {}
        others.next_if(|other| *other == said(one)).is_none()
    };
    of.iter().filter(is_alone).copied().collect()
}

#[cfg(test)]
mod tests {
    use crate::{Version, diff};
    use page::UrlRules;

    fn reported(old: &str, new: &str) -> Vec<String> {
        static URLS: UrlRules = UrlRules::none();
        let version = |html: &str| Version::new(html.as_bytes(), Some("text/html"), None, &URLS);
        let record = diff(&version(old), &version(new)).record;
        let reported =
            record.changes.into_iter().map(|unit| format!("{}: {}", unit.place, unit.after.unwrap_or_default()));
        reported.collect()
    }

    const PAGE: &str = "<main><h1>Pools</h1><h2>North</h2><p>Open all day.<p>Towels are there.<h2>South</h2><p>Closed for repair.\
                        <p>Towels are there.</main><p>Called by telephone.";

    #[test]
    fn a_text_under_another_heading_is_reported() {
        let swapped = PAGE.replace("Open all day", "#").replace("Closed for repair", "Open all day");
        let swapped = swapped.replace('#', "Closed for repair");
        assert_eq!(reported(PAGE, &swapped), ["South → North: Closed for repair.", "North → South: Open all day."]);
        let tables = |one, other| {
            let table = |month, price| {
                format!("<section><header><h2>{month}</h2></header><table><tr><td>Single<td>{price}</table></section>")
            };
            format!("<main>{}{}</main>", table("May", one), table("June", other))
        };
        assert_eq!(reported(&tables("80 €", "95 €"), &tables("95 €", "80 €")).len(), 2);
        let list =
            |open: &str, done: &str| format!("<main><h2>Open</h2><ul>{open}</ul><h2>Done</h2><ul>{done}</ul></main>");
        assert_eq!(
            reported(&list("<li>Paint<li>Floor", "<li>Roof"), &list("<li>Floor", "<li>Roof<li>Paint")),
            ["Open → Done: Paint"]
        );
    }

    #[test]
    fn a_section_that_moves_or_goes_moves_no_text() {
        let (north, south) = PAGE.split_once("<h2>South").unwrap();
        let (top, north) = north.split_once("<h2>North").unwrap();
        let (south, end) = south.split_once("</main>").unwrap();
        let other_order = format!("{top}<h2>South{south}<h2>North{north}</main>{end}");
        assert!(reported(PAGE, &other_order).is_empty());
        let without = reported(PAGE, &format!("{top}<h2>South{south}</main>{end}"));
        assert!(without.iter().all(|text| !text.contains('→')), "{without:?}");
    }
}
