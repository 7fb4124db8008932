//! Heads, feet and numbers of pages. They move when a page becomes longer. What each page repeats is read once.

use crate::line::Line;
use crate::order::PageLines;
use std::collections::{HashMap, HashSet};

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

/// Removes lines that are no more than the number of their page, and heads and feet that other pages repeat, whatever their numbers.
/// A repeated line is kept once, because a reader may find something there that stands nowhere else, such as from when a list is
/// valid. A head of the first page stays where it is. Others are returned: where they stand, a text goes on over a page.
pub(crate) fn remove(pages: &mut [PageLines]) -> PageLines {
    let mut shown: HashMap<(i64, String), usize> = HashMap::new();
    let edges: Vec<Vec<bool>> = pages.iter().map(edges).collect();
    for (page, edges) in pages.iter().zip(&edges) {
        let mut of_page: Vec<_> = at_edge(page, edges).map(key).collect();
        of_page.sort_unstable();
        of_page.dedup();
        of_page.into_iter().for_each(|key| *shown.entry(key).or_default() += 1);
    }
    let following = following_numbers(pages, &edges);
    let count = pages.len();
    let least = ((pages.len() as f64 * REPEATED_SHARE).ceil() as usize).max(2);
    let mut seen = HashSet::new();
    let mut elsewhere = PageLines { lines: Vec::new(), height: pages.first().map_or(0.0, |page| page.height) };
    for (index, (page, edges)) in pages.iter_mut().zip(edges).enumerate() {
        let (mut edges, middle) = (edges.into_iter(), 0.5 * page.height);
        page.lines.retain(|line| {
            if !edges.next().unwrap_or_default() {
                return true;
            }
            if is_number_of_page(line, (index + 1, count), &following) {
                return false;
            }
            let key = key(line);
            // A number alone may be one of a column that goes over the pages.
            let is_named = key.1.chars().any(char::is_alphabetic);
            if !is_named || shown.get(&key).copied().unwrap_or_default() < least {
                return true;
            }
            let is_first = seen.insert(key);
            let stays = is_first && index == 0 && line.direction == 0 && line.baseline > middle;
            if is_first && !stays {
                elsewhere.lines.push(line.clone());
            }
            stays
        });
    }
    elsewhere
}

/// Lines of a page that stand at an edge.
fn at_edge<'p>(page: &'p PageLines, edges: &'p [bool]) -> impl Iterator<Item = &'p Line> {
    page.lines.iter().zip(edges).filter(|(_, at_edge)| **at_edge).map(|(line, _)| line)
}

/// How many pages show a number that differs so much from their own, for each difference.
fn following_numbers(pages: &[PageLines], edges: &[Vec<bool>]) -> HashMap<i64, usize> {
    let mut following: HashMap<i64, usize> = HashMap::new();
    for ((page, edges), number) in pages.iter().zip(edges).zip(1_i64..) {
        let written: HashSet<i64> = at_edge(page, edges).filter_map(lone_number).collect();
        written.into_iter().for_each(|written| *following.entry(written - number).or_default() += 1);
    }
    following
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

/// Whether a line is the number of its page: "12", "- 12 -", "Page 12", "12 of 40". Fronts and covers are often not counted. A number
/// alone may be anything, unless those of other pages follow it.
fn is_number_of_page(line: &Line, (number, pages): (usize, usize), following: &HashMap<i64, usize>) -> bool {
    if let Some(written) = lone_number(line) {
        let difference = written - number as i64;
        let is_followed = following.get(&difference).is_some_and(|pages| *pages >= 2);
        return is_followed && (-20..=4).contains(&difference);
    }
    let text = line.text();
    let is_short = (1..=MOST_CHARACTERS).contains(&alphabetic_count(&text));
    match *numbers(&text).as_slice() {
        [page] => is_short && page.parse() == Ok(number),
        [page, count] => {
            alphabetic_count(&text) <= MOST_CHARACTERS && page.parse() == Ok(number) && count.parse() == Ok(pages)
        }
        _ => false,
    }
}

/// The number that a line consists of, but for signs around it.
fn lone_number(line: &Line) -> Option<i64> {
    let text = line.text();
    match *numbers(&text).as_slice() {
        [number] if alphabetic_count(&text) == 0 && text.len() <= number.len() + 6 => number.parse().ok(),
        _ => None,
    }
}

fn numbers(text: &str) -> Vec<&str> {
    text.split(|char: char| !char.is_ascii_digit()).filter(|part| !part.is_empty()).collect()
}

fn alphabetic_count(text: &str) -> usize {
    text.chars().filter(|char| char.is_alphabetic()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Placed;
    use hayro_interpret::kurbo::{Point, Vec2};

    fn line(baseline: f64, text: &str) -> Line {
        let (direction, up) = (Vec2::new(1.0, 0.0), Vec2::new(0.0, 10.0));
        Line::new(&Placed { at: Point::new(72.0, baseline), direction, up, size: 10.0, advance: 200.0 }, text, None)
    }

    /// A page with eight lines of text between a head and a foot.
    fn page(head: &str, foot: &str) -> PageLines {
        let mut lines = vec![line(802.0, head)];
        lines.extend((0..8).map(|row| line(700.0 - 12.0 * f64::from(row), "A berth costs 12 EUR a night")));
        lines.push(line(40.0, foot));
        PageLines { lines, height: 842.0 }
    }

    /// The lines of pages with these feet that remain beside the text.
    fn remaining(head: &str, feet: &[&str]) -> (Vec<Vec<String>>, Vec<String>) {
        let mut pages: Vec<PageLines> = feet.iter().map(|foot| page(head, foot)).collect();
        let elsewhere = remove(&mut pages);
        let texts = |page: &PageLines| {
            let texts = page.lines.iter().map(Line::text);
            texts.filter(|text| !text.starts_with("A berth")).collect::<Vec<_>>()
        };
        (pages.iter().map(texts).collect(), texts(&elsewhere))
    }

    #[test]
    fn a_head_that_pages_repeat_is_kept_once_and_so_is_a_foot_behind_the_text() {
        let (pages, elsewhere) = remaining(
            "Valid from 1 January 2026",
            &["Harbour office, sheet 1", "Harbour office, sheet 2", "Harbour office, sheet 3"],
        );
        assert_eq!(pages, [vec!["Valid from 1 January 2026"], vec![], vec![]]);
        assert_eq!(elsewhere, ["Harbour office, sheet 1"]);
    }

    #[test]
    fn a_number_alone_is_that_of_its_page_if_numbers_follow_the_pages() {
        let feet = |feet: &[&str]| remaining("", feet).0.concat();
        for followed in [["1", "2", "3"], ["- 3 -", "- 4 -", "- 5 -"], ["1", "12 EUR", "3"]] {
            let left: Vec<String> = feet(&followed).into_iter().filter(|text| *text != "12 EUR").collect();
            assert_eq!(left, ["", "", ""], "{followed:?}");
        }
        assert_eq!(feet(&["4"]), ["", "4"]);
        assert_eq!(feet(&["2", "12"]), ["", "2", "", "12"]);
        assert_eq!(feet(&["Page 1"]), [""]);
        assert_eq!(feet(&["1 of 1"]), [""]);
    }
}
