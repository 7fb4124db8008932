//! Lines: glyphs on one baseline, in the order in which they were written.

use crate::rich::{LinkId, Rich};
use hayro_interpret::kurbo::{Point, Vec2};

/// Gaps in parts of the font's size. A gap of a word is a space, a wider one a new cell of a row.
const WORD_GAP: f64 = 0.17;
const CELL_GAP: f64 = 1.8;
/// Between characters that stand without spaces.
const WIDE_WORD_GAP: f64 = 0.6;
/// The part of a font's size by which a glyph may stand above or below its line, as indices do.
const OFF_LINE: f64 = 0.4;
/// The part of a font's size by which a glyph may begin before the one before it ends.
const OVERLAP: f64 = 0.6;

/// A glyph on its page, in points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) at: Point,
    /// A vector of unit length.
    pub(crate) direction: Vec2,
    /// As long as the font is high.
    pub(crate) up: Vec2,
    pub(crate) size: f64,
    pub(crate) advance: f64,
}

/// The direction of a line, in quarters of a turn. Lines of other directions belong to the nearest.
fn quarters(direction: Vec2) -> u8 {
    match direction.x.abs() >= direction.y.abs() {
        true if direction.x >= 0.0 => 0,
        true => 2,
        false if direction.y >= 0.0 => 1,
        false => 3,
    }
}

/// A place as seen along a direction: how far along it, and how high above the origin.
fn turned(at: Point, quarters: u8) -> (f64, f64) {
    match quarters {
        0 => (at.x, at.y),
        1 => (at.y, -at.x),
        2 => (-at.x, -at.y),
        _ => (-at.y, at.x),
    }
}

/// A piece of a line without a wide gap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) rich: Rich,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// In quarters of a turn.
    pub(crate) direction: u8,
    /// The height of the baseline above the origin.
    pub(crate) baseline: f64,
    /// The size of the largest font.
    pub(crate) size: f64,
    /// Never empty.
    pub(crate) cells: Vec<Cell>,
    /// Whether a space stands behind the last character.
    has_space: bool,
    /// Where the last glyph begins, and which it is.
    last: (f64, String),
}

impl Line {
    pub(crate) fn new(placed: &Placed, text: &str, link: Option<LinkId>) -> Self {
        let direction = quarters(placed.direction);
        let (start, baseline) = turned(placed.at, direction);
        let mut cell = Cell { start, end: start + placed.advance, rich: Rich::default() };
        cell.rich.push(text.trim_start(), link);
        let last = (start, text.to_owned());
        Self { direction, baseline, size: placed.size, cells: vec![cell], has_space: false, last }
    }

    /// Where the line begins and ends.
    pub(crate) fn start(&self) -> f64 {
        self.cells[0].start
    }

    pub(crate) fn end(&self) -> f64 {
        self.cells[self.cells.len() - 1].end
    }

    /// The text of a line without rows.
    pub(crate) fn only_cell(&self) -> Option<&Cell> {
        (self.cells.len() == 1).then(|| &self.cells[0])
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.cells.iter().all(|cell| cell.rich.text.trim().is_empty())
    }

    /// The cells, with a space between them.
    pub(crate) fn text(&self) -> String {
        self.cells.iter().map(|cell| cell.rich.text.trim()).collect::<Vec<_>>().join(" ")
    }

    /// Adds a glyph. Returns whether it is on this line.
    pub(crate) fn take(&mut self, placed: &Placed, text: &str, link: Option<LinkId>) -> bool {
        let (start, height) = turned(placed.at, self.direction);
        let size = self.size.max(placed.size);
        let gap = start - self.end();
        if quarters(placed.direction) != self.direction || (height - self.baseline).abs() > OFF_LINE * size {
            return false;
        }
        // Bold type is made by writing a character twice.
        if self.last.1 == text
            && (start - self.last.0).abs() < 0.1 * size
            && (height - self.baseline).abs() < 0.1 * size
        {
            return true;
        }
        if gap < -OVERLAP * size {
            return false;
        }
        if placed.size > self.size * 1.2 {
            (self.size, self.baseline) = (placed.size, height);
        }
        if text.trim().is_empty() {
            // The glyph of a space that is very wide moves to a cell.
            self.has_space |= gap + placed.advance < CELL_GAP * size;
            return true;
        }
        let last = self.cells.len() - 1;
        if gap > CELL_GAP * size {
            self.cells.push(Cell { start, end: start + placed.advance, rich: Rich::default() });
        } else {
            let cell = &mut self.cells[last];
            let is_wide = cell.rich.text.chars().next_back().is_some_and(is_unspaced) || text.chars().all(is_unspaced);
            let word_gap = if is_wide { WIDE_WORD_GAP } else { WORD_GAP };
            if (self.has_space || gap > word_gap * placed.size) && !cell.rich.text.ends_with(' ') {
                cell.rich.space(link);
            }
            cell.end = cell.end.max(start + placed.advance);
        }
        let last = self.cells.len() - 1;
        self.cells[last].rich.push(text, link);
        self.has_space = text.ends_with(' ');
        self.last = (start, text.to_owned());
        true
    }
}

/// Whether a character stands beside others of its script without spaces between words.
pub(crate) fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}
