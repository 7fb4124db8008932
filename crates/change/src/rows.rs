//! The rows of a page: table rows, list items, terms with their descriptions. "Sold out" is another statement in
//! another row.

use chance::splitmix64;
use document::blocks::Blocks;
use document::passage_hash;
use std::collections::BTreeMap;

/// A row with more blocks or more text lays out a page; its first text says nothing about the others.
const MAX_ROW_BLOCKS: u32 = 16;
const MAX_ROW_BYTES: u32 = 1_024;
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
    /// The index of the first block with an alphabetic character, which names the row, plus one; 0 if no block has one.
    key: u32,
}

impl Row {
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
    /// The order of each list and table: a hash of what its rows begin with, in a slot of the same rows in any order.
    /// Numbers do not count, so that a counter in a row is not taken for another order.
    pub(crate) fn orders(&self, blocks: &Blocks, names: &[u64], slots: &[u64]) -> Vec<RowOrder> {
        let mut lists: Vec<(u32, RowOrder)> = Vec::new();
        let mut list_of = vec![usize::MAX; blocks.nodes.len()];
        for (index, block) in blocks.list.iter().enumerate() {
            let (row, nth) = self.places[index];
            if row == 0 || nth > 0 {
                continue;
            }
            let parent = blocks.nodes[row].parent;
            if list_of[parent] == usize::MAX {
                list_of[parent] = lists.len();
                lists.push((0, RowOrder { block: index, name: 0, slot: block.path }));
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

    /// The order of the cells of each short row: a hash of their texts, in a slot of the same cells in any order. So two
    /// cells that change places are reported, and the edit of a cell is no other order.
    pub(crate) fn cell_orders(&self, blocks: &Blocks, names: &[u64], slots: &[u64]) -> Vec<RowOrder> {
        let mut orders: Vec<RowOrder> = Vec::new();
        let mut order_of = vec![usize::MAX; blocks.nodes.len()];
        for (index, (row, nth)) in self.places.iter().copied().enumerate() {
            let (Row { blocks: cells, bytes, .. }, key) = (self.rows[row], self.rows[row].key());
            let is_short = cells <= MAX_ROW_BLOCKS && bytes <= MAX_ORDERED_CELLS_BYTES;
            if row == 0 || !is_short || cells < MIN_ORDERED_CELLS + u32::from(key.is_some()) {
                continue;
            }
            if nth == 0 {
                order_of[row] = orders.len();
                orders.push(RowOrder {
                    block: index,
                    name: 0,
                    slot: key.map_or(blocks.list[index].path, |key| slots[key]),
                });
            }
            let order = &mut orders[order_of[row]];
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
        let mut rows = vec![Row::default(); blocks.nodes.len()];
        let mut places = Vec::with_capacity(blocks.list.len());
        for (block, number) in blocks.list.iter().zip(1..) {
            let row = &mut rows[block.row];
            places.push((block.row, row.blocks));
            row.blocks += 1;
            row.bytes = row.bytes.saturating_add(block.byte_length() as u32);
            let has_character = |text: &str| text.chars().any(char::is_alphabetic);
            let may_name = block.row > 0 && row.key == 0 && block.byte_length() <= MAX_KEY_BYTES;
            if may_name && has_character(blocks.text(block)) {
                row.key = number;
            }
        }
        Self { rows, places }
    }

    /// The order of each list as text: the first texts of its rows. By the number of the list's element.
    pub(crate) fn reported_orders(&self, blocks: &Blocks) -> Vec<(usize, String)> {
        let mut orders: BTreeMap<usize, String> = BTreeMap::new();
        for (block, (row, nth)) in blocks.list.iter().zip(&self.places) {
            if *row == 0 || *nth > 0 {
                continue;
            }
            let order = orders.entry(blocks.nodes[*row].parent).or_default();
            if order.len() < MAX_ORDER_BYTES {
                order.push_str(if order.is_empty() { "" } else { ", " });
                order.push_str(document::prefix(blocks.text(block), MAX_KEY_BYTES));
            }
        }
        orders.into_iter().collect()
    }

    /// The block that names the row of a block, if that is another.
    pub(crate) fn key_of(&self, block: usize) -> Option<usize> {
        let row = self.rows[self.places[block].0];
        row.key().filter(|key| *key != block && row.blocks <= MAX_ROW_BLOCKS && row.bytes <= MAX_ROW_BYTES)
    }

    /// The block that names the row that a block is in.
    pub(crate) fn key_in(&self, block: usize) -> Option<usize> {
        self.rows[self.places[block].0].key()
    }

    /// The name and the slot of a block, in its row if it has one that has a key.
    pub(crate) fn in_row(&self, block: usize, names: &[u64], slots: &[u64]) -> (u64, u64) {
        let Some(key) = self.key_of(block) else { return (names[block], slots[block]) };
        // The column is the place; the words of a cell are its value.
        let column = u64::from(self.places[block].1);
        (splitmix64(names[key] ^ names[block].rotate_left(1)), splitmix64(slots[key] ^ column))
    }
}

/// The hash of a text without its digits; `None` if it has none.
fn shape(text: &str) -> Option<u64> {
    // Without an early end, which keeps the compiler from looking at many bytes at once.
    let has_digit = text.bytes().fold(false, |has_digit, byte| has_digit | byte.is_ascii_digit());
    has_digit.then(|| passage_hash(&text.bytes().filter(|byte| !byte.is_ascii_digit()).collect::<Vec<u8>>()))
}
