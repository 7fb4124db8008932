//! Edits of lists, tables, targets, titles and columns.

use crate::draw::Draw;
use crate::editable_page::{Edit, EditablePage};
use crate::fixtures::rows_with;
use crate::markup::Markup;
use crate::places::{Patch, words};
use crate::values::{What, pair, sentence, stranger};
use std::ops::Range;

/// The edit of an item of a list or a row of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Added,
    Removed,
    Moved,
}

pub(crate) fn item_added(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    item(page, Step::Added, draw)
}

pub(crate) fn item_removed(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    item(page, Step::Removed, draw)
}

pub(crate) fn item_moved(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    item(page, Step::Moved, draw)
}

pub(crate) fn row_added(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    row(page, Step::Added, draw)
}

pub(crate) fn row_removed(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    row(page, Step::Removed, draw)
}

pub(crate) fn row_moved(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    row(page, Step::Moved, draw)
}

fn item(page: &EditablePage, step: Step, draw: &mut Draw) -> Option<Edit> {
    let markup = page.markup()?;
    let text = format!("The {} is new", stranger(draw));
    if let Some(group) = draw.pick(&page.places.lists) {
        let added = match markup {
            Markup::Html => format!("<li>{text}</li>\n"),
            Markup::Lines => format!("- {text}\n"),
        };
        return Some(Edit::of_page(own(page, group, step, added, draw)));
    }
    let (before, after) = stepped(rows_with(draw), text, step, draw);
    let at = page.anchor(draw)?;
    Some(Edit::of_inserted(at, markup.list(&before), markup.list(&after)))
}

fn row(page: &EditablePage, step: Step, draw: &mut Draw) -> Option<Edit> {
    let markup = page.markup()?;
    let new = vec![format!("The {}", stranger(draw)), "new".to_owned()];
    if let Some(group) = draw.pick(&page.places.tables) {
        let added = match markup {
            Markup::Html => format!("<tr><td>{}</td><td>{}</td></tr>\n", new[0], new[1]),
            Markup::Lines => format!("| {} | {} |\n", new[0], new[1]),
        };
        return Some(Edit::of_page(own(page, group, step, added, draw)));
    }
    let rank = |(place, name): (usize, String)| vec![name, format!("{} points", 90 - 7 * place)];
    let rows = rows_with(draw).into_iter().enumerate().map(rank).collect();
    let (before, after) = stepped(rows, new, step, draw);
    let at = page.anchor(draw)?;
    let head = ["Name", "Result"];
    Some(Edit::of_inserted(at, markup.table(&head, &before), markup.table(&head, &after)))
}

/// A step in a list of the page. The first part stays: it may be the head of a table.
fn own(page: &EditablePage, group: &[Range<usize>], step: Step, added: String, draw: &mut Draw) -> Vec<Patch> {
    let parts = &group[1..];
    let one = draw.below(parts.len());
    match step {
        Step::Added => vec![Patch::insert(parts[one].start, added)],
        Step::Removed => vec![Patch::new(parts[one].clone(), "")],
        Step::Moved => {
            // Equal parts are no list in an order.
            let text = |number: usize| page.text[parts[number].clone()].trim().to_owned();
            let differs = |other: &usize| text(*other) != text(one);
            let Some(two) = (1..parts.len()).map(|by| (one + by) % parts.len()).find(differs) else {
                return Vec::new();
            };
            let to = if two > one { parts[two].end } else { parts[two].start };
            vec![Patch::new(parts[one].clone(), ""), Patch::insert(to, page.text[parts[one].clone()].to_owned())]
        }
    }
}

fn stepped<T: Clone>(before: Vec<T>, new: T, step: Step, draw: &mut Draw) -> (Vec<T>, Vec<T>) {
    let mut after = before.clone();
    let (one, two) = draw.two_below(before.len());
    match step {
        Step::Added => after.insert(one, new),
        Step::Removed => {
            after.remove(one);
        }
        Step::Moved => {
            let moved = after.remove(one);
            after.insert(two, moved);
        }
    }
    (before, after)
}

/// The target of a link in a paragraph.
pub(crate) fn target(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let range = draw.pick(&page.places.targets)?.clone();
    let target = &page.text[range.clone()];
    let folder = target.rfind('/').map_or("", |slash| &target[..=slash]);
    Some(Edit::of_page(vec![Patch::new(range.clone(), format!("{folder}{}-{}.html", stranger(draw), draw.below(90)))]))
}

/// A word of the page's title, or a word put before it.
pub(crate) fn title(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let range = page.places.title.clone()?;
    let title = &page.text[range.clone()];
    let words = words(title);
    let patch = match draw.pick(&words).filter(|_| draw.nth(0).below(2) == 0) {
        Some(word) => Patch::new(range.start + word.start..range.start + word.end, stranger(draw)),
        None => Patch::insert(range.start, "Sold out: "),
    };
    Some(Edit::of_page(vec![patch]))
}

/// Metadata for search engines in the head of a page: a new description, or a request not to index the page.
pub(crate) fn head_description(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let title = page.places.title.clone()?;
    let at = title.end + page.text[title.end..].find('>')? + 1;
    if draw.below(3) == 0 {
        return Some(Edit::of_inserted(at, String::new(), "<meta name=\"robots\" content=\"noindex\">".to_owned()));
    }
    let (before, after) = pair(What::Price, draw);
    let description = |price| format!("<meta name=\"description\" content=\"Courses for {price} a year\">");
    Some(Edit::of_inserted(at, description(before), description(after)))
}

/// A fee in a column beside the main text.
pub(crate) fn column(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let at = page.places.beside.or(page.places.end)?;
    let form = draw.below(3);
    let (before, after) = pair(What::Price, draw);
    let column = |price: &str| {
        format!(
            "\n<div class=\"column\"><h2>Fees and visits</h2>\n<p>{}</p>\n<p>Groups of more than twelve are asked to write a week \
             before, so that a guide is there.</p>\n<p>The hall is reached from the square by a ramp, and dogs may come \
             along.</p></div>\n",
            sentence(What::Price, price, form)
        )
    };
    Some(Edit::of_inserted(at, column(&before), column(&after)))
}
