//! The rows of a page: table rows, list items, terms with their descriptions, cards, days of a calendar. "Sold out" is
//! another statement in another row.

use crate::calendar::{days, may_hold_days};
use crate::cards::{Inside, cards, may_hold_cards};
use crate::region::PagePart;
use chance::splitmix64;
use document::blocks::{Block, Blocks};
use document::passage_hash;

/// A row with more blocks or more text lays out a page; its first text says nothing about the others.
pub(crate) const MAX_ROW_BLOCKS: u32 = 16;
pub(crate) const MAX_ROW_BYTES: u32 = 1_024;
/// The longest text that names a row.
const MAX_KEY_BYTES: usize = 80;
/// The most bytes of text kept for the order of a list.
const MAX_ORDER_BYTES: usize = 1_024;

/// The fewest rows of a list whose order counts.
const MIN_ORDERED_ROWS: u32 = 3;
/// The fewest cells whose order in a row counts, beside the one that names the row, and the longest such row.
const MIN_ORDERED_CELLS: u32 = 2;
const MAX_ORDERED_CELLS_BYTES: u32 = 256;
/// Makes the hash of an order differ from those of texts.
const ORDER: u64 = 0x006f_7264_6572;

/// The row of each block, and the text that names the row.
#[derive(Debug)]
pub(crate) struct Rows {
    /// By number of the element; empty where there is no row.
    rows: Vec<Row>,
    /// For each block, its row and its number in it.
    places: Vec<(usize, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    blocks: u32,
    bytes: u32,
    /// The index of the block that names the row, plus one; 0 if none does. That is the first heading, or the link that is
    /// another in each row, or the first text with an alphabetic character.
    key: u32,
    /// The index of the first link with an alphabetic character, plus one; 0 if there is none.
    link: u32,
    has_heading: bool,
    /// The day of a cell of a calendar, which names it; 0 for other rows.
    day: u8,
    is_card: bool,
}

impl Row {
    fn is_short(self) -> bool {
        self.blocks <= MAX_ROW_BLOCKS && self.bytes <= MAX_ROW_BYTES
    }

    /// Notes that a block may name the row.
    fn name(&mut self, block: &Block, number: u32) {
        if self.day > 0 {
            self.key = if self.key == 0 { number } else { self.key };
        } else if self.key == 0 || (block.heading_rank > 0 && !self.has_heading) {
            self.key = number;
            self.has_heading = block.heading_rank > 0;
        }
        if self.link == 0 && block.is_links() {
            self.link = number;
        }
    }

    fn key(self) -> Option<usize> {
        self.key.checked_sub(1).map(|block| block as usize)
    }
}

/// The order of the rows of one list or table, or of the cells of one row.
pub(crate) struct RowOrder {
    /// The first block of the list or row.
    pub(crate) block: usize,
    pub(crate) name: u64,
    pub(crate) slot: u64,
}

impl Rows {
    /// The order of each list and table of the region: a hash of what its rows begin with, in a slot of the same rows in any
    /// order. Numbers do not count, so that a counter in a row is not taken for another order.
    pub(crate) fn orders(
        &self,
        blocks: &Blocks,
        (names, slots): (&[u64], &[u64]),
        parts: &[PagePart],
    ) -> Vec<RowOrder> {
        const NONE: usize = usize::MAX;
        const BESIDE: usize = NONE - 1;
        let mut lists: Vec<(u32, RowOrder)> = Vec::new();
        let mut list_of = vec![NONE; blocks.nodes.len()];
        for (index, block) in blocks.list.iter().enumerate() {
            let (row, nth) = self.places[index];
            if row == 0 || nth > 0 || self.rows[row].day > 0 {
                continue;
            }
            let parent = blocks.nodes[row].parent;
            if list_of[parent] == NONE && is_ordered(parts[index]) {
                list_of[parent] = lists.len();
                lists.push((0, RowOrder { block: index, name: 0, slot: block.path }));
            } else if list_of[parent] >= BESIDE {
                list_of[parent] = BESIDE;
                continue;
            }
            let (rows, order) = &mut lists[list_of[parent]];
            *rows += 1;
            let shape = |key: usize| shape(blocks.text(&blocks.list[key])).unwrap_or(names[key]);
            let begins_with = self.rows[row].key().map_or(slots[index], shape);
            order.name = splitmix64(order.name ^ begins_with);
            order.slot = order.slot.wrapping_add(splitmix64(begins_with));
        }
        let ordered = lists.into_iter().filter(|(rows, _)| *rows >= MIN_ORDERED_ROWS);
        ordered.map(|(_, order)| RowOrder { name: splitmix64(order.name ^ ORDER), ..order }).collect()
    }

    /// The order of the cells of each short row of the region: a hash of their texts, in a slot of the same cells in any order.
    /// So two cells that change places are reported, and the edit of a cell is no other order.
    pub(crate) fn cell_orders(
        &self,
        blocks: &Blocks,
        (names, slots): (&[u64], &[u64]),
        parts: &[PagePart],
    ) -> Vec<RowOrder> {
        let mut orders: Vec<RowOrder> = Vec::new();
        let mut order_of = vec![usize::MAX; blocks.nodes.len()];
        let in_rows = self.places.iter().copied().enumerate().filter(|(_, (row, _))| *row > 0);
        for (index, (row, nth)) in in_rows {
            let (Row { blocks: cells, bytes, .. }, key) = (self.rows[row], self.rows[row].key());
            let is_short = cells <= MAX_ROW_BLOCKS && bytes <= MAX_ORDERED_CELLS_BYTES;
            let has_columns = self.rows[row].day == 0 && !self.rows[row].is_card;
            if !has_columns || !is_short || cells < MIN_ORDERED_CELLS + u32::from(key.is_some()) {
                continue;
            }
            if nth == 0 && is_ordered(parts[index]) {
                order_of[row] = orders.len();
                let slot = key.map_or(blocks.list[index].path, |key| slots[key]);
                orders.push(RowOrder { block: index, name: 0, slot });
            }
            let Some(order) = orders.get_mut(order_of[row]) else { continue };
            order.name = splitmix64(order.name ^ names[index]);
            order.slot = order.slot.wrapping_add(splitmix64(names[index]));
        }
        for order in &mut orders {
            order.name = splitmix64(order.name ^ ORDER);
        }
        orders
    }

    /// Replaces the text by the cells of the row that begins with this block.
    pub(crate) fn send_cells(&self, blocks: &Blocks, block: usize, reported: &mut String) {
        reported.clear();
        let row = self.places[block].0;
        let cells = (block..self.places.len()).filter(|index| self.places[*index].0 == row);
        for index in cells.take(self.rows[row].blocks as usize) {
            reported.push_str(if index == block { "" } else { ", " });
            reported.push_str(blocks.text(&blocks.list[index]));
        }
    }

    pub(crate) fn of(blocks: &Blocks) -> Self {
        let found = row_elements(blocks);
        let mut rows = vec![Row::default(); blocks.nodes.len()];
        let mut places = Vec::with_capacity(blocks.list.len());
        for (index, (block, number)) in blocks.list.iter().zip(1..).enumerate() {
            let named = || RowPlace { element: block.row, day: 0, is_card: false };
            let RowPlace { element, day, is_card } = found.get(index).copied().unwrap_or_else(named);
            let row = &mut rows[element];
            places.push((element, row.blocks));
            (row.day, row.is_card) = (day, is_card);
            row.blocks += 1;
            row.bytes = row.bytes.saturating_add(block.byte_length() as u32);
            let has_character = |text: &str| text.chars().any(char::is_alphabetic);
            let may_name = element > 0 && block.byte_length() <= MAX_KEY_BYTES;
            let is_better = block.heading_rank > 0 || (row.link == 0 && block.is_links());
            if may_name && (row.key == 0 || is_better) && (day > 0 || has_character(blocks.text(block))) {
                row.name(block, number);
            }
        }
        let mut rows = Self { rows, places };
        rows.name_by_links(blocks);
        rows
    }

    /// Names rows without a heading by their links, where each row has one and no two neighbours have the same: "Details"
    /// names nothing, and an advertisement may be in one of them.
    fn name_by_links(&mut self, blocks: &Blocks) {
        let has_link = |row: &Row| row.link > 0 && row.link != row.key && !row.has_heading && row.day == 0;
        if !self.rows.iter().any(has_link) {
            return;
        }
        let text = |number: u32| blocks.text(&blocks.list[number as usize - 1]);
        let mut last = vec![0_u32; blocks.nodes.len()];
        let mut is_unfit = vec![false; blocks.nodes.len()];
        for (row, node) in self.rows.iter().zip(&blocks.nodes).skip(1).filter(|(row, _)| row.key > 0) {
            let before = std::mem::replace(&mut last[node.parent], row.link);
            is_unfit[node.parent] |= row.link == 0 || (before > 0 && text(before) == text(row.link));
        }
        for (row, node) in self.rows.iter_mut().zip(&blocks.nodes) {
            if has_link(row) && !is_unfit[node.parent] {
                row.key = row.link;
            }
        }
    }

    /// The orders of these lists as text: the names of their rows. By the number of the list's element, sorted.
    pub(crate) fn reported_orders(&self, blocks: &Blocks, mut lists: Vec<usize>) -> Vec<(usize, String)> {
        lists.sort_unstable();
        lists.dedup();
        let mut orders: Vec<(usize, String)> = lists.into_iter().map(|list| (list, String::new())).collect();
        if orders.is_empty() {
            return orders;
        }
        // The rows of a list follow each other.
        let mut last = 0;
        for (block, (row, nth)) in blocks.list.iter().zip(&self.places) {
            if *row == 0 || *nth > 0 {
                continue;
            }
            let list = blocks.nodes[*row].parent;
            if orders[last].0 != list {
                let Ok(found) = orders.binary_search_by_key(&list, |(list, _)| *list) else { continue };
                last = found;
            }
            let order = &mut orders[last].1;
            if order.len() < MAX_ORDER_BYTES {
                let named = self.rows[*row].key().map_or(block, |key| &blocks.list[key]);
                order.push_str(if order.is_empty() { "" } else { ", " });
                order.push_str(document::prefix(blocks.text(named), MAX_KEY_BYTES));
            }
        }
        orders
    }

    /// The number of the element whose rows a block is in one of.
    pub(crate) fn list_of(&self, blocks: &Blocks, block: usize) -> usize {
        blocks.nodes[self.places[block].0].parent
    }

    /// The block that names the row of a block, if that is another.
    pub(crate) fn key_of(&self, block: usize) -> Option<usize> {
        let row = self.rows[self.places[block].0];
        row.key().filter(|key| *key != block && row.is_short())
    }

    /// The block that names the row that a block is in.
    pub(crate) fn key_in(&self, block: usize) -> Option<usize> {
        self.rows[self.places[block].0].key()
    }

    /// The name and the slot of a block, in its row if it has one that has a key.
    pub(crate) fn in_row(&self, blocks: &Blocks, block: usize, names: &[u64], slots: &[u64]) -> (u64, u64) {
        let day = match self.rows[self.places[block].0].day {
            0 => None,
            day => Some(splitmix64(u64::from(day))),
        };
        let Some(key) = self.key_of(block) else {
            return (names[block], day.map_or(slots[block], |day| splitmix64(blocks.list[block].path ^ day)));
        };
        let (row, nth) = self.places[block];
        let (name, slot) = day.map_or((names[key], slots[key]), |day| (day, day));
        let name = splitmix64(name ^ names[block].rotate_left(1));
        // The column is the place; the words of a cell are its value. The texts of cards have no columns, and noise in them
        // is learned where it is learned without cards.
        (name, if self.rows[row].is_card { slots[block] } else { splitmix64(slot ^ u64::from(nth)) })
    }
}

/// Whether the order of a list counts that begins in this part of the page.
fn is_ordered(part: PagePart) -> bool {
    matches!(part, PagePart::Region | PagePart::Links)
}

/// The row of a block.
#[derive(Clone, Copy)]
struct RowPlace {
    /// Its element; 0 outside rows.
    element: usize,
    /// Its day if it is a cell of a calendar, else 0.
    day: u8,
    is_card: bool,
}

/// The row of each block. Cards are rows where no element says what a row is, or one that lays out the page. Empty if the
/// page has neither cards nor a calendar.
fn row_elements(blocks: &Blocks) -> Vec<RowPlace> {
    let [may_hold_cards, may_hold_days] = [may_hold_cards(blocks), may_hold_days(blocks)];
    if !may_hold_cards && !may_hold_days {
        return Vec::new();
    }
    let inside = Inside::of(blocks);
    let card_of = if may_hold_cards { cards(blocks, &inside) } else { Vec::new() };
    let days = if may_hold_days { days(blocks, &inside) } else { Vec::new() };
    if card_of.is_empty() && days.is_empty() {
        return Vec::new();
    }
    // Blocks and bytes of the rows that elements name.
    let mut named = vec![(0_u32, 0_u32); blocks.nodes.len()];
    for block in &blocks.list {
        let (count, bytes) = &mut named[block.row];
        (*count, *bytes) = (*count + 1, bytes.saturating_add(block.byte_length() as u32));
    }
    let is_short = |row: usize| named[row].0 <= MAX_ROW_BLOCKS && named[row].1 <= MAX_ROW_BYTES;
    // An item alone in its list belongs to the card around it.
    let mut items = vec![0_u32; card_of.len()];
    if !items.is_empty() {
        let rows = named.iter().zip(&blocks.nodes).skip(1).filter(|((count, _), _)| *count > 0);
        rows.for_each(|(_, node)| items[node.parent] += 1);
    }
    let is_part = |row: usize| named[row].0 == 1 && items[blocks.nodes[row].parent] < MIN_ORDERED_ROWS;
    let mut cell_of = vec![0; days.len()];
    for index in 1..days.len() {
        let around = cell_of[blocks.nodes[index].parent];
        cell_of[index] = if around > 0 {
            around
        } else if days[index] > 0 {
            index
        } else {
            0
        };
    }
    let row_of = |block: &Block| {
        let cell = cell_of.get(block.node).copied().unwrap_or_default();
        match card_of.get(block.node).copied().unwrap_or_default() {
            _ if cell > 0 => RowPlace { element: cell, day: days[cell], is_card: false },
            card if card > 0 && (block.row == 0 || !is_short(block.row) || is_part(block.row)) => {
                RowPlace { element: card as usize, day: 0, is_card: true }
            }
            _ => RowPlace { element: block.row, day: 0, is_card: false },
        }
    };
    blocks.list.iter().map(row_of).collect()
}

/// The hash of a text without its digits; `None` if it has none.
pub(crate) fn shape(text: &str) -> Option<u64> {
    // Without an early end, which keeps the compiler from looking at many bytes at once.
    let has_digit = text.bytes().fold(false, |has_digit, byte| has_digit | byte.is_ascii_digit());
    has_digit.then(|| passage_hash(&text.bytes().filter(|byte| !byte.is_ascii_digit()).collect::<Vec<u8>>()))
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
