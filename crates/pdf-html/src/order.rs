//! The order of the lines of a page.
//!
//! Programs write the text of a page in the order in which it is read: column by column, row by row. That is kept, as far as it goes
//! from top to bottom. Where a program has not, lines are put in the order of their places.

use crate::line::Line;

/// The share of lines above the one before them in the same column, from which a page has no order.
const MOST_UPWARD: f64 = 0.25;

/// A page as lines in reading order.
pub(crate) struct PageLines {
    pub(crate) lines: Vec<Line>,
    /// In points.
    pub(crate) height: f64,
}

pub(crate) fn page(mut lines: Vec<Line>, height: f64) -> PageLines {
    lines.retain(|line| !line.is_blank());
    lines.dedup_by(|again, line| is_same(line, again));
    if lines.len() > 4 && upward(&lines) as f64 > MOST_UPWARD * lines.len() as f64 {
        lines.sort_by(|one, other| {
            let by_place = other.baseline.total_cmp(&one.baseline).then(one.start().total_cmp(&other.start()));
            one.direction.cmp(&other.direction).then(by_place)
        });
        join_rows(&mut lines);
    }
    PageLines { lines, height }
}

/// Whether a line is another one once more, written again to look bold or to have a shadow.
fn is_same(line: &Line, again: &Line) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() < 0.3 * line.size;
    line.direction == again.direction
        && close(line.baseline, again.baseline)
        && close(line.start(), again.start())
        && line.text() == again.text()
}

/// Lines that stand above the one before them, in the same column.
fn upward(lines: &[Line]) -> usize {
    let is_upward = |pair: &&[Line]| {
        let [before, after] = pair else { return false };
        let shares_column = before.start() < after.end() && after.start() < before.end();
        before.direction == after.direction && shares_column && after.baseline > before.baseline + before.size
    };
    lines.windows(2).filter(is_upward).count()
}

/// Joins lines beside one another.
fn join_rows(lines: &mut Vec<Line>) {
    lines.dedup_by(|after, before| {
        let is_beside = before.direction == after.direction
            && (before.baseline - after.baseline).abs() < 0.3 * before.size
            && after.start() >= before.end();
        if is_beside {
            before.cells.append(&mut after.cells);
        }
        is_beside
    });
}
