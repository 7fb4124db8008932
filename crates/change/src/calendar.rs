//! Calendars: weeks of cells that begin with the numbers of following days. A cell is named by its day, so that an event
//! which moves is reported with the day it left and the day it came to.

use crate::cards::Inside;
use document::blocks::{Block, BlockElement, Blocks};

/// The cells of a whole week, and the fewest weeks of a calendar.
const WEEK: u32 = 7;
const MIN_WEEKS: u32 = 2;
/// The fewest cells of a month without weeks. At least half of them have only their number, because other lists are numbered,
/// too.
const MIN_MONTH: u32 = 28;
const LAST_DAY: u32 = 31;

/// The cells so far of one element.
#[derive(Clone, Copy, Default)]
struct Cells {
    count: u32,
    /// Cells with nothing but their number.
    bare: u32,
    last: u32,
    /// Whether some cell is no day, or not the one after the cell before.
    is_broken: bool,
}

impl Cells {
    fn is_week(self) -> bool {
        !self.is_broken && (1..=WEEK).contains(&self.count)
    }

    fn is_month(self) -> bool {
        !self.is_broken && self.count >= MIN_MONTH && 2 * self.bare >= self.count
    }
}

/// Whether a page may have a calendar. It needs a week of different days and one more cell; most pages have few texts that begin
/// with a number.
pub(crate) fn may_hold_days(blocks: &Blocks) -> bool {
    let text = blocks.all_text().as_bytes();
    let (mut count, mut found) = (0, 0_u32);
    for place in blocks.list.iter().map(Block::place) {
        if !text.get(place.start).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        if let Some((day, _)) = leading_day(&blocks.all_text()[place]) {
            (count, found) = (count + 1, found | 1 << day);
            if count > WEEK && found.count_ones() >= WEEK {
                return true;
            }
        }
    }
    false
}

/// The day of each element that is a cell of a calendar; 0 for all others. Empty if the page has no calendar.
pub(crate) fn days(blocks: &Blocks, inside: &[Inside]) -> Vec<u8> {
    let day = |index: usize| leading_day(blocks.text(&blocks.list[inside[index].first()?]));
    let mut cells = vec![Cells::default(); blocks.nodes.len()];
    for (index, node) in blocks.nodes.iter().enumerate().skip(1).filter(|(index, _)| inside[*index].blocks > 0) {
        let row = &mut cells[node.parent];
        if row.is_broken {
            continue;
        }
        let Some((day, is_bare)) = day(index) else {
            row.is_broken = true;
            continue;
        };
        let follows = day == row.last + 1 || (day == 1 && row.last >= MIN_MONTH);
        row.is_broken = row.count > 0 && !follows;
        (row.count, row.bare, row.last) = (row.count + 1, row.bare + u32::from(is_bare), day);
    }
    // Weeks of one calendar have one parent, and one of them is whole.
    let mut weeks = vec![(0_u32, false); blocks.nodes.len()];
    for (index, row) in cells.iter().enumerate().skip(1).filter(|(_, row)| row.is_week()) {
        let calendar = &mut weeks[blocks.nodes[index].parent];
        *calendar = (calendar.0 + 1, calendar.1 || row.count == WEEK);
    }
    let is_calendar = |index: usize| {
        let (count, is_whole) = weeks[blocks.nodes[index].parent];
        cells[index].is_month() || (cells[index].is_week() && is_whole && count >= MIN_WEEKS)
    };
    let rows: Vec<bool> = (0..cells.len()).map(|index| index > 0 && is_calendar(index)).collect();
    if !rows.contains(&true) {
        return Vec::new();
    }
    let day_of = |(index, node): (usize, &BlockElement)| match rows[node.parent] {
        true if inside[index].blocks > 0 => day(index).map_or(0, |(day, _)| day as u8),
        _ => 0,
    };
    blocks.nodes.iter().enumerate().map(day_of).collect()
}

/// The day that a text begins with, and whether it says nothing else.
fn leading_day(text: &str) -> Option<(u32, bool)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits).filter(|_| (1..=2).contains(&digits))?;
    let day: u32 = number.parse().ok().filter(|day| (1..=LAST_DAY).contains(day))?;
    Some((day, matches!(rest, "" | ".")))
}
