//! Paragraphs, headings and rows, made of lines.
//!
//! A line ends where its column does, and a word that comes moves the ends of all lines behind it. So lines become paragraphs, which
//! change only where their words do.

use crate::line::{Line, is_unspaced};
use crate::order::PageLines;
use crate::rich::Rich;

/// Most distance of the baselines of a paragraph, in sizes of its font.
const MAX_LEADING: f64 = 1.75;
/// Parts of the font's size by which distances of one paragraph differ.
const SAME_LEADING: f64 = 0.2;
/// The first line of a paragraph stands in by more than this part of the font's size.
const INDENT: f64 = 0.8;
/// A line shorter than this, in sizes of its font, may be one of a list without signs.
const SHORT: f64 = 22.0;
/// Sizes of headings against that of most text, for headings of the first, second and third rank.
const HEADING_SIZES: [f64; 3] = [1.7, 1.3, 1.12];
/// The most bytes of a heading.
const MAX_HEADING_BYTES: usize = 240;

/// A part of a document.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    Paragraph(Rich),
    /// With its rank, from 1 to 3.
    Heading(u8, Rich),
    /// The cells of a row of a table.
    Row(Vec<Rich>),
}

/// Lines of one paragraph.
struct Run<'l> {
    rich: Rich,
    first: &'l Line,
    last: &'l Line,
    lines: usize,
    /// The distance of its baselines.
    leading: Option<f64>,
    /// Where its lines but the first begin.
    left: Option<f64>,
}

pub(crate) fn of_pages(pages: Vec<PageLines>) -> Vec<Part> {
    let usual = usual_size(&pages);
    let mut parts = Vec::new();
    for page in &pages {
        let first_of_page = parts.len();
        let mut open: Option<Run<'_>> = None;
        for line in &page.lines {
            let Some(cell) = line.only_cell() else {
                close(open.take(), usual, &mut parts);
                parts.push(Part::Row(line.cells.iter().map(|cell| cell.rich.clone()).collect()));
                continue;
            };
            match open.as_mut().filter(|run| run.goes_on(line, right_edge(&page.lines, run.last))) {
                Some(run) => run.append(line, &cell.rich),
                None => {
                    close(open.take(), usual, &mut parts);
                    open = Some(Run {
                        rich: cell.rich.clone(),
                        first: line,
                        last: line,
                        lines: 1,
                        leading: None,
                        left: None,
                    });
                }
            }
        }
        close(open, usual, &mut parts);
        join_over_pages(&mut parts, first_of_page);
    }
    parts
}

/// The size of the font that most characters have.
fn usual_size(pages: &[PageLines]) -> f64 {
    let lines = pages.iter().flat_map(|page| &page.lines);
    let mut sizes: Vec<(f64, usize)> = lines.map(|line| (line.size, line.text().len())).collect();
    sizes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = sizes.iter().map(|(_, characters)| characters).sum::<usize>() / 2;
    let mut seen = 0;
    let middle = sizes.iter().find(|(_, characters)| {
        seen += characters;
        seen > half
    });
    middle.map_or(0.0, |(size, _)| *size)
}

/// Where the column of a line ends: most lines that begin with it end before that, but for one in ten, which stick out.
fn right_edge(lines: &[Line], line: &Line) -> f64 {
    let in_column = lines.iter().filter(|other| {
        other.direction == line.direction
            && other.cells.len() == 1
            && (other.start() - line.start()).abs() < 2.0 * line.size
            && (other.size - line.size).abs() < 0.2 * line.size
    });
    let mut ends: Vec<f64> = in_column.map(Line::end).collect();
    ends.sort_by(f64::total_cmp);
    ends.get((ends.len() * 9 / 10).min(ends.len().saturating_sub(1))).copied().unwrap_or(line.end())
}

impl Run<'_> {
    /// Whether a line belongs to the same paragraph.
    fn goes_on(&self, line: &Line, right_edge: f64) -> bool {
        let size = self.last.size;
        let distance = self.last.baseline - line.baseline;
        let is_below = line.direction == self.last.direction
            && (line.size - size).abs() <= 0.08 * size
            && distance > 0.5 * size
            && distance <= MAX_LEADING * size
            && self.leading.is_none_or(|leading| (distance - leading).abs() <= SAME_LEADING * size);
        let overlaps = self.last.start() < line.end() && line.start() < self.last.end();
        if !is_below || !overlaps {
            return false;
        }
        let stands_in = line.start() - self.left.unwrap_or(self.first.start()) > INDENT * size;
        let is_item = self.lines == 1 && starts_item(&self.first.cells[0].rich.text);
        // The text of an item stands in behind its sign. A new item begins a part of its own.
        if (stands_in && !is_item) || starts_item(&line.cells[0].rich.text) {
            return false;
        }
        // In a short line that a capital or a number follows, words end a line of a list or an address.
        let is_short = self.last.end() - self.last.start() < SHORT * size;
        let text = &line.cells[0].rich.text;
        if is_short && text.chars().next().is_some_and(|char| !char.is_lowercase() && !is_unspaced(char)) {
            return false;
        }
        // The paragraph is over where the next word had room on its last line.
        self.last.end() + first_word_width(line) + 0.3 * size > right_edge
    }
}

impl<'l> Run<'l> {
    fn append(&mut self, line: &'l Line, rich: &Rich) {
        let distance = self.last.baseline - line.baseline;
        self.leading.get_or_insert(distance);
        self.left = Some(self.left.map_or(line.start(), |left| left.min(line.start())));
        join(&mut self.rich, rich);
        (self.last, self.lines) = (line, self.lines + 1);
    }
}

fn first_word_width(line: &Line) -> f64 {
    let cell = &line.cells[0];
    let characters = cell.rich.text.chars().count().max(1) as f64;
    let of_word = match cell.rich.text.chars().next().is_some_and(is_unspaced) {
        true => 1.0,
        false => cell.rich.text.split(' ').next().unwrap_or_default().chars().count() as f64,
    };
    (cell.end - cell.start) * of_word / characters
}

/// Whether a text begins with the sign or the number of an item of a list.
fn starts_item(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    if matches!(first, '•' | '‣' | '▪' | '●' | '○' | '◦' | '–' | '■' | '\u{f0b7}' | '*') {
        return chars.next().is_none_or(|char| char == ' ');
    }
    let head = text.split(' ').next().unwrap_or_default();
    let number = head.trim_start_matches('(').trim_end_matches([')', '.']);
    number.len() < head.len() && number.len() <= 6 && number.chars().all(|char| char.is_ascii_digit() || char == '.')
}

/// Adds the next line of a paragraph. A word that was parted is one again.
fn join(rich: &mut Rich, next: &Rich) {
    let (mut before, after) = (rich.text.chars().rev(), next.text.chars().next());
    let (last, second_last) = (before.next(), before.next());
    let is_lowercase = |char: Option<char>| char.is_some_and(char::is_lowercase);
    let are_unspaced = last.is_some_and(is_unspaced) && after.is_some_and(is_unspaced);
    match last {
        Some('-' | '\u{ad}' | '\u{2010}') if is_lowercase(second_last) && is_lowercase(after) => rich.pop(),
        Some('-' | '\u{ad}' | '\u{2010}') | None => {}
        _ if are_unspaced => {}
        Some(_) => rich.space(next.first_link()),
    }
    rich.append(next);
}

fn close(run: Option<Run<'_>>, usual: f64, parts: &mut Vec<Part>) {
    let Some(Run { rich, first, .. }) = run else { return };
    let rank = HEADING_SIZES.iter().position(|ratio| first.size >= ratio * usual);
    let is_heading = rich.text.len() <= MAX_HEADING_BYTES && rich.text.chars().any(char::is_alphabetic);
    parts.push(match rank.filter(|_| is_heading) {
        Some(rank) => Part::Heading(rank as u8 + 1, rich),
        None => Part::Paragraph(rich),
    });
}

/// Joins the first paragraph of a page to the last one of the page before, if that ends within a sentence.
fn join_over_pages(parts: &mut Vec<Part>, first_of_page: usize) {
    let Some((before, page)) = parts.split_at_mut_checked(first_of_page) else { return };
    let (Some(Part::Paragraph(last)), Some(Part::Paragraph(first))) = (before.last_mut(), page.first()) else { return };
    let goes_on = first.text.chars().next().is_some_and(|char| char.is_lowercase() || is_unspaced(char));
    let is_over = last.text.trim_end().ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：', '；']);
    if goes_on && !is_over && !starts_item(&first.text) {
        join(last, first);
        parts.remove(first_of_page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_known_by_their_signs_and_numbers() {
        for text in ["• milk", "1. Scope", "2.1. Terms", "(3) oil", "– tea"] {
            assert!(starts_item(text), "{text}");
        }
        for text in ["milk", "2026 was", "1500.50 EUR", "–tea", ""] {
            assert!(!starts_item(text), "{text}");
        }
    }

    #[test]
    fn a_parted_word_is_one_again() {
        let joined = |before: &str, after: &str| {
            let (mut rich, mut next) = (Rich::default(), Rich::default());
            rich.push(before, None);
            next.push(after, Some(1));
            join(&mut rich, &next);
            rich.text
        };
        assert_eq!(joined("an exam-", "ple"), "an example");
        assert_eq!(joined("North-", "South"), "North-South");
        assert_eq!(joined("one", "two"), "one two");
        assert_eq!(joined("費用", "每年"), "費用每年");
    }
}
