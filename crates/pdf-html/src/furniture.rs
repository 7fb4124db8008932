//! Heads, feet and numbers of pages. They move when a page becomes longer, and say nothing that the document does not.

use crate::line::Line;
use crate::order::PageLines;
use std::collections::HashMap;

/// The part of a page's height at its top and at its bottom in which heads and feet stand.
const EDGE: f64 = 0.12;
/// The space between a head or foot and the text, in sizes of its font, and against the usual distance of lines on its page.
const SPACE: f64 = 1.6;
const WIDER_THAN_LINES: f64 = 1.4;
/// Most rows of lines of a head or foot.
const MOST_ROWS: usize = 3;
/// Most characters beside the number of a page, such as "Page" and "of".
const MOST_CHARACTERS: usize = 12;
/// The share of pages that show a head or foot.
const REPEATED_SHARE: f64 = 0.5;

/// Removes heads and feet that other pages repeat, whatever their numbers, and lines that are no more than the number of their page.
pub(crate) fn remove(pages: &mut [PageLines]) {
    let mut shown: HashMap<(i64, String), usize> = HashMap::new();
    let edges: Vec<Vec<bool>> = pages.iter().map(edges).collect();
    for (page, edges) in pages.iter().zip(&edges) {
        let at_edge = page.lines.iter().zip(edges).filter(|(_, at_edge)| **at_edge);
        let mut of_page: Vec<_> = at_edge.map(|(line, _)| key(line)).collect();
        of_page.sort_unstable();
        of_page.dedup();
        of_page.into_iter().for_each(|key| *shown.entry(key).or_default() += 1);
    }
    let count = pages.len();
    let least = ((pages.len() as f64 * REPEATED_SHARE).ceil() as usize).max(2);
    for (index, (page, edges)) in pages.iter_mut().zip(edges).enumerate() {
        let mut edges = edges.into_iter();
        page.lines.retain(|line| {
            let repeats = |key: (i64, String)| {
                let is_named = key.1.chars().any(char::is_alphabetic);
                // A number alone may be one of a column that goes over the pages.
                is_named && shown.get(&key).copied().unwrap_or_default() >= least
            };
            let at_edge = edges.next().unwrap_or_default();
            !at_edge || !(is_number_of_page(line, index + 1, count) || repeats(key(line)))
        });
    }
}

/// For each line, whether it stands at an edge of its page, apart from the text.
fn edges(page: &PageLines) -> Vec<bool> {
    let mut rows: Vec<(f64, f64)> = page.lines.iter().map(|line| (line.baseline, line.size)).collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    rows.dedup_by(|upper, lower| upper.0 - lower.0 < 0.5 * lower.1);
    let mut distances: Vec<f64> = rows.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let (from_bottom, from_top) = (distances.clone(), distances.iter().rev().copied().collect::<Vec<_>>());
    distances.sort_by(f64::total_cmp);
    let usual = distances.get(distances.len() / 2).copied().unwrap_or_default();
    // Rows before the first wide space.
    let outer = |distances: &[f64], size: &dyn Fn(usize) -> f64| {
        let is_wide = |index: &usize| distances[*index] > (SPACE * size(*index)).max(WIDER_THAN_LINES * usual);
        (0..distances.len().min(MOST_ROWS)).find(is_wide).map_or(0, |index| index + 1)
    };
    let last = rows.len().saturating_sub(1);
    let below = outer(&from_bottom, &|index| rows[index].1);
    let above = outer(&from_top, &|index| rows[last - index].1);
    let is_outer = |line: &Line| {
        let is_below = below > 0 && line.baseline <= rows[below - 1].0 + 0.5 * rows[below - 1].1;
        let is_above = above > 0 && line.baseline >= rows[rows.len() - above].0;
        (is_below && line.baseline < EDGE * page.height) || (is_above && line.baseline > (1.0 - EDGE) * page.height)
    };
    // Lines that run up or down a page stand beside its text.
    page.lines.iter().map(|line| line.direction != 0 || is_outer(line)).collect()
}

/// The height and the words of a line, its digits left out.
fn key(line: &Line) -> (i64, String) {
    let mut words = String::new();
    for char in line.text().chars() {
        match char.is_numeric() {
            true if words.ends_with('#') => {}
            true => words.push('#'),
            false => words.push(char),
        }
    }
    (line.baseline.round() as i64, words)
}

/// Whether a line is the number of its page: "12", "- 12 -", "Page 12", "12 of 40". Fronts and covers are often not counted.
fn is_number_of_page(line: &Line, number: usize, pages: usize) -> bool {
    let text = line.text();
    let written: Vec<&str> = text.split(|char: char| !char.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    let characters = text.chars().filter(|char| char.is_alphabetic()).count();
    let is_near = |written: usize| written <= number + 4 && number <= written + 20;
    match *written.as_slice() {
        [page] if characters == 0 => text.len() <= page.len() + 6 && page.parse().is_ok_and(is_near),
        [page] => characters <= MOST_CHARACTERS && page.parse() == Ok(number),
        [page, count] => characters <= MOST_CHARACTERS && page.parse() == Ok(number) && count.parse() == Ok(pages),
        _ => false,
    }
}
