//! Extracts the main text of a page: without navigation, advertisements, comments and captions.
//!
//! The page is cut into blocks (paragraphs, items, cells), each with a value. Prose counts by its length; links and
//! scraps count against their surroundings. Hints in the markup ([`crate::hints`]) exclude blocks, unless that would
//! leave nothing. The main part is the element whose blocks have the largest total value. The main text is its blocks
//! of positive value, with the headings and short lines that belong to them. If that is nearly nothing, more is taken.

use crate::hints::Hint;
use crate::text_blocks::{BlockKind, TextBlock, blocks, blocks_within};
use crate::tree::{NodeContent, Tree};
use document::html::is_inline;
use std::ops::Range;

/// Shorter blocks, in characters without white space, are prose only if they end like a sentence.
const PROSE_CHARACTERS: usize = 60;
/// Still shorter blocks, in characters, are never prose.
const SENTENCE_CHARACTERS: usize = 20;
/// Characters of a block that do not count: teasers are short, articles are not.
const BLOCK_COST: f64 = 20.0;
/// Longer blocks, in characters, are not teasers.
const TEASER_CHARACTERS: usize = 250;
/// The value of a block that is not prose.
const SCRAP_VALUE: f64 = -10.0;
/// The value of a block of links.
const LINKS_VALUE: f64 = -20.0;
/// An element hinted to be beside the main text is not, if it holds more than this share of all prose.
const BESIDE_SHARE: f64 = 0.7;
/// Factors on the value of an element hinted to be the body of an article, or the main part.
const BODY_FACTOR: f64 = 3.0;
const MAIN_FACTOR: f64 = 1.1;
/// The least share of the visible characters that a main text holds. Labelled pages were divided in halves three times:
/// the best share on one half lay between .02 and .10. With .05 no other half gets worse. From .07 on, short articles
/// with many teasers around them do.
const MIN_SHARE: f64 = 0.05;

/// Extracts the main text, one line per block.
///
/// The main part may be nearly nothing: a shop has scraps instead of prose, and some pages have hints that are wrong. So
/// if it holds less than [`MIN_SHARE`] of what the page shows, the next wider choice is taken, until one holds enough.
pub(crate) fn main_text(tree: &Tree<'_>, title: &str) -> String {
    let (blocks, hints) = blocks(tree);
    let hidden = hidden(tree, &blocks, &hints);
    let beside = beside(tree, &blocks, &hints, &hidden);
    let characters = |kept: &[usize]| -> usize { kept.iter().map(|&index| blocks[index].characters).sum() };
    let shown = all_outside(&hidden);
    let is_enough = |kept: &Vec<usize>| characters(kept) as f64 >= MIN_SHARE * characters(&shown) as f64;
    let without_links =
        |kept: Vec<usize>| kept.into_iter().filter(|&index| !is_mostly_link(&blocks[index])).collect::<Vec<usize>>();
    let choices: [&dyn Fn() -> Vec<usize>; 4] = [
        &|| main_blocks(tree, &blocks, &hints, &beside, title),
        &|| without_links(all_outside(&beside)),
        &|| main_blocks(tree, &blocks, &hints, &hidden, title),
        &|| without_links(shown.clone()),
    ];
    let kept = choices.iter().map(|choice| choice()).find(is_enough).unwrap_or_else(|| shown.clone());
    let lines: Vec<&str> = kept.iter().map(|&index| blocks[index].text.as_str()).collect();
    lines.join("\n")
}

fn all_outside(left_out: &[bool]) -> Vec<usize> {
    (0..left_out.len()).filter(|&index| !left_out[index]).collect()
}

/// The blocks of the main part that belong to the main text.
fn main_blocks(tree: &Tree<'_>, blocks: &[TextBlock], hints: &[Hint], left_out: &[bool], title: &str) -> Vec<usize> {
    let values = values(blocks, left_out);
    let part = main_part(tree, blocks, hints, &values);
    let mut kept = Vec::new();
    // In reverse, because a heading is kept only if the block after it is.
    let mut heads_something = false;
    for index in part.rev().filter(|&index| !left_out[index]) {
        let block = &blocks[index];
        let keep = match block.kind {
            BlockKind::Heading => heads_something && !is_title(&block.text, title),
            // A linked name in a data table belongs to its row.
            BlockKind::Cell if is_beside_data(blocks, index) => true,
            BlockKind::Paragraph | BlockKind::Item | BlockKind::Cell => values[index] > 0.0 || !is_mostly_link(block),
            BlockKind::Other => values[index] > 0.0,
        };
        if keep {
            kept.push(index);
        }
        heads_something = keep;
    }
    kept.reverse();
    kept
}

/// Whether the cell before or after this one is more than a link.
fn is_beside_data(blocks: &[TextBlock], index: usize) -> bool {
    let neighbours = [index.checked_sub(1), index.checked_add(1)];
    let is_data = |block: &TextBlock| block.kind == BlockKind::Cell && !is_mostly_link(block);
    neighbours.into_iter().flatten().filter_map(|index| blocks.get(index)).any(is_data)
}

/// The value of each block.
fn values(blocks: &[TextBlock], left_out: &[bool]) -> Vec<f64> {
    let mut below_linked_heading = false;
    let value_in_turn = |(block, &left_out): (&TextBlock, &bool)| {
        if left_out {
            return 0.0;
        }
        let is_teaser = below_linked_heading && block.characters < TEASER_CHARACTERS;
        below_linked_heading = block.kind == BlockKind::Heading && is_mostly_link(block);
        if is_teaser { SCRAP_VALUE } else { value(block) }
    };
    blocks.iter().zip(left_out).map(value_in_turn).collect()
}

pub(crate) fn is_mostly_link(block: &TextBlock) -> bool {
    2 * block.link_characters > block.characters
}

/// The value of a block by itself.
fn value(block: &TextBlock) -> f64 {
    let link_share = block.link_characters as f64 / block.characters as f64;
    if block.kind == BlockKind::Heading {
        0.0
    } else if is_prose(block) {
        (block.characters as f64 - BLOCK_COST) * (1.0 - 2.0 * link_share)
    } else if is_mostly_link(block) {
        LINKS_VALUE
    } else {
        SCRAP_VALUE
    }
}

fn is_prose(block: &TextBlock) -> bool {
    let words = block.text.trim_end_matches(['"', '”', '’', '»', ')', '\'']);
    let ends = words.ends_with(['.', '!', '?', ':', '…', '。', '！', '？']);
    block.characters >= PROSE_CHARACTERS || ends && block.characters >= SENTENCE_CHARACTERS
}

/// Which blocks are hidden, by the hints of the elements around them.
pub(crate) fn hidden(tree: &Tree<'_>, blocks: &[TextBlock], hints: &[Hint]) -> Vec<bool> {
    let mut hidden = vec![false; blocks.len()];
    for place in (0..hints.len()).filter(|&place| hints[place] == Hint::Hidden) {
        hidden[blocks_within(blocks, place..tree.nodes[place].end)].fill(true);
    }
    hidden
}

/// Which blocks are hidden, or beside the main text by the hints of the elements around them.
pub(crate) fn beside(tree: &Tree<'_>, blocks: &[TextBlock], hints: &[Hint], hidden: &[bool]) -> Vec<bool> {
    let mut left_out = hidden.to_vec();
    let prose_of = |(block, &hidden): (&TextBlock, &bool)| {
        let counts = !hidden && is_prose(block) && 3 * block.link_characters < block.characters;
        if counts { block.characters } else { 0 }
    };
    let prose = running_total(blocks.iter().zip(hidden).map(|block| prose_of(block) as f64));
    for place in (0..hints.len()).filter(|&place| hints[place] == Hint::Beside) {
        let range = blocks_within(blocks, place..tree.nodes[place].end);
        if total(&prose, &range) <= BESIDE_SHARE * prose[blocks.len()] {
            left_out[range].fill(true);
        }
    }
    left_out
}

/// The blocks of the element with the largest total value; among equals, the innermost. None without prose: the best of
/// scraps would be the last one.
fn main_part(tree: &Tree<'_>, blocks: &[TextBlock], hints: &[Hint], values: &[f64]) -> Range<usize> {
    let values = running_total(values.iter().copied());
    let mut best = (total(&values, &(0..blocks.len())), 0..blocks.len());
    for (place, node) in tree.nodes.iter().enumerate() {
        let NodeContent::Element(tag) = &node.content else { continue };
        if is_inline(tag.name) {
            continue;
        }
        let range = blocks_within(blocks, place..node.end);
        let factor = match hints[place] {
            Hint::Body => BODY_FACTOR,
            Hint::Main => MAIN_FACTOR,
            Hint::Neutral | Hint::Beside | Hint::Hidden => 1.0,
        };
        let value = factor * total(&values, &range);
        if value >= best.0 {
            best = (value, range);
        }
    }
    if best.0 > 0.0 { best.1 } else { 0..0 }
}

fn running_total(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain(values.map(|value| {
            sum += value;
            sum
        }))
        .collect()
}

fn total(running: &[f64], range: &Range<usize>) -> f64 {
    running[range.end] - running[range.start]
}

/// Whether a heading only repeats the page's title.
fn is_title(heading: &str, title: &str) -> bool {
    title.to_lowercase().contains(&heading.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCE: &str =
        "The committee met on Monday and decided, after some debate, that nothing at all would be done.";

    fn main_text_of(html: &str) -> String {
        main_text(&Tree::of(html), "The title - A newspaper")
    }

    #[test]
    fn an_article_is_distinguished_from_its_surroundings() {
        let page = format!(
            "<nav><a href=/>Home</a></nav><div><h1>The title</h1><div><p>{SENTENCE}<h2>Why</h2><p>{SENTENCE}\
             <div class=share>Tell all your friends about this, now or later, with one of the buttons below.</div>\
             <p>Short.<h2>Read more</h2></div><ul><li><a href=/x>{SENTENCE}</a><li><a href=/y>{SENTENCE}</a></ul></div>\
             <footer><p>{SENTENCE}</footer>"
        );
        assert_eq!(main_text_of(&page), format!("{SENTENCE}\nWhy\n{SENTENCE}\nShort."));
    }

    #[test]
    fn what_holds_nearly_everything_is_beside_nothing() {
        let page = format!("<form class=modal><p>{SENTENCE}</p><p>{SENTENCE}</p></form><p>And that was all of it.");
        assert!(main_text_of(&page).starts_with(SENTENCE));
    }

    #[test]
    fn a_body_that_says_so_needs_less_text() {
        let teasers: String = (0..3).map(|_| format!("<div><p>{SENTENCE}</p></div>")).collect();
        let page =
            format!("<div><div itemprop=articleBody><p>{SENTENCE} {SENTENCE}</p></div><div>{teasers}</div></div>");
        assert_eq!(main_text_of(&page), format!("{SENTENCE} {SENTENCE}"));
    }

    #[test]
    fn tables_of_data_keep_their_linked_names() {
        let page = format!(
            "<table><tr><td><a href=/a>Name</a><td>{SENTENCE}<tr><td><a href=/b>Other</a><td>{SENTENCE}</table>"
        );
        assert_eq!(main_text_of(&page), format!("Name\n{SENTENCE}\nOther\n{SENTENCE}"));
    }

    #[test]
    fn a_grid_of_a_shop_keeps_its_names_and_prices() {
        let tile = |name| format!("<div class=tile><a href=/{name}><img></a><h3>{name}</h3><div>12,90 €</div></div>");
        let page = format!("<nav><a href=/>Home</a></nav><div class=grid>{}{}</div>", tile("Lamp"), tile("Chair"));
        assert_eq!(main_text_of(&page), "Lamp\n12,90 €\nChair\n12,90 €");
    }

    #[test]
    fn short_items_are_kept_without_prose() {
        let page = "<nav><ul><li><a href=/>Home</a><li><a href=/x>Contact us</a></ul></nav>\
                    <div><span>Milk</span></div><div><span>Eggs</span></div><footer>Printed on paper</footer>";
        assert_eq!(main_text_of(page), "Milk\nEggs");
        assert_eq!(main_text_of("<ul><li>Milk<li>Eggs</ul>"), "Milk\nEggs");
    }

    #[test]
    fn other_scripts_are_not_lost() {
        for text in ["今日は晴れです", "营业时间", "영업시간 안내", "ساعات العمل", "שעות פתיחה"]
        {
            let page = format!("<nav><a href=/>Home</a></nav><div dir=rtl><div>{text}</div></div>");
            assert_eq!(main_text_of(&page), text);
        }
    }

    #[test]
    fn a_page_of_one_table_is_its_cells() {
        let page = "<table><tr><th>Day<th>Open<tr><td>Monday<td>9 to 5<tr><td>Sunday<td>closed</table>";
        assert_eq!(main_text_of(page), "Day\nOpen\nMonday\n9 to 5\nSunday\nclosed");
    }

    #[test]
    fn wrong_hints_do_not_empty_a_page() {
        // A whole page in a form, and without prose.
        assert_eq!(main_text_of("<form><div>Room 5</div><div>Floor 2</div></form>"), "Room 5\nFloor 2");
        // Nothing but links.
        assert_eq!(main_text_of("<nav><a href=/a>One</a></nav><div><a href=/b>Two</a></div>"), "One\nTwo");
    }

    #[test]
    fn little_text_between_much_is_not_the_main_text() {
        let scraps = "<div><b>Lamp</b> 12,90 €</div>".repeat(400);
        let page = format!("<div><p>Prices include tax, of course.</p></div><div>{scraps}</div>");
        assert!(main_text_of(&page).starts_with("Prices include tax, of course.\nLamp 12,90 €\n"));
    }

    #[test]
    fn no_text_is_no_main_text() {
        assert_eq!(main_text_of(""), "");
        assert_eq!(main_text_of("<div><p> </p></div>"), "");
    }
}
