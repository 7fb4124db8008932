//! Rows that no element names: siblings of one shape, such as the cards of a shop or the paragraphs of a programme.

use crate::rows::{MAX_ROW_BLOCKS, MAX_ROW_BYTES};
use document::blocks::Blocks;
use std::collections::BTreeMap;

/// The fewest blocks of a card, and the fewest cards beside each other.
const MIN_CARD_BLOCKS: u32 = 2;
const MIN_CARDS: u32 = 3;

/// No block.
const NONE: u32 = u32::MAX;
/// Added to the number of a link, so that a heading is preferred as the name.
const IS_LINK: u32 = 1 << 31;

/// The contents of an element, with all elements in it.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    pub(crate) blocks: u32,
    bytes: u32,
    /// The index of its first block.
    first: u32,
    /// The index of its first heading, or else of its first block with a link, with [`IS_LINK`].
    name: u32,
}

impl Inside {
    const EMPTY: Self = Self { blocks: 0, bytes: 0, first: NONE, name: NONE };

    /// The contents of each element.
    pub(crate) fn of(blocks: &Blocks) -> Vec<Self> {
        let mut inside = vec![Self::EMPTY; blocks.nodes.len()];
        for (block, index) in blocks.list.iter().zip(0..) {
            let name = match () {
                () if block.heading_rank > 0 => index,
                () if block.anchor_bytes > 0 => index | IS_LINK,
                () => NONE,
            };
            let here = &mut inside[block.node];
            *here = here.with(Self { blocks: 1, bytes: block.byte_length() as u32, first: index, name });
        }
        // Children follow their parents.
        for index in (1..inside.len()).rev() {
            let (child, parent) = (inside[index], blocks.nodes[index].parent);
            inside[parent] = inside[parent].with(child);
        }
        inside
    }

    fn with(self, other: Self) -> Self {
        Self {
            blocks: self.blocks + other.blocks,
            bytes: self.bytes.saturating_add(other.bytes),
            first: self.first.min(other.first),
            name: self.name.min(other.name),
        }
    }

    /// The index of its first block, if it has one.
    pub(crate) fn first(self) -> Option<usize> {
        (self.first != NONE).then_some(self.first as usize)
    }

    fn has_name(self) -> bool {
        self.name != NONE
    }

    /// The index of the block whose place says that two elements are alike: the one that names it, since badges and images
    /// may come before, or else the first.
    fn mark(self) -> usize {
        (if self.has_name() { self.name & !IS_LINK } else { self.first }) as usize
    }

    fn may_be_card(self) -> bool {
        (MIN_CARD_BLOCKS..=MAX_ROW_BLOCKS).contains(&self.blocks) && (1..=MAX_ROW_BYTES).contains(&self.bytes)
    }
}

/// Siblings that are alike.
struct Group {
    /// The path of what names them, or of their first blocks.
    mark: u64,
    cards: u32,
    /// Whether each has a heading or a link.
    is_named: bool,
}

/// Whether a page may have cards: siblings of several blocks that are no rows yet. It is nearly free, and most pages have none.
pub(crate) fn may_hold_cards(blocks: &Blocks) -> bool {
    let nodes = &blocks.nodes;
    let is_inside = |card: usize, index: usize| {
        let mut around = blocks.list.get(index).map_or(0, |block| block.node);
        while around > card {
            around = nodes[around].parent;
        }
        around == card
    };
    // The cards that each element may have as children.
    let mut counts = vec![0_u8; nodes.len()];
    // The last element that was open at the block before.
    let mut last = 0;
    for (index, block) in blocks.list.iter().enumerate() {
        // The outermost element that begins with this block.
        let mut card = block.node;
        while card > last && nodes[card].parent > last {
            card = nodes[card].parent;
        }
        let may_be_card = card > last
            && block.row != card
            && is_inside(card, index + 1)
            && !is_inside(card, index + MAX_ROW_BLOCKS as usize);
        if may_be_card {
            let count = &mut counts[nodes[card].parent];
            *count += 1;
            // The first of them may begin together with what is around them all.
            if u32::from(*count) + 1 == MIN_CARDS {
                return true;
            }
        }
        last = last.max(block.node);
    }
    false
}

/// The card that each element is in; 0 outside cards. Empty if the page has none. If a card is in another one, the outer one
/// counts, unless it only holds other cards or the inner ones have names.
pub(crate) fn cards(blocks: &Blocks, inside: &[Inside]) -> Vec<u32> {
    let nodes = &blocks.nodes;
    let mut groups = vec![Group { mark: 0, cards: 0, is_named: false }];
    // By parent and mark. Between cards may be something else at one look, such as an advertisement.
    let mut group_of: BTreeMap<(usize, u64), u32> = BTreeMap::new();
    // By the number of the element: the last group of its children, and the group that it is in.
    let mut places = vec![[0_u32; 2]; nodes.len()];
    for (index, here) in inside.iter().enumerate().skip(1).filter(|(_, here)| here.may_be_card()) {
        let mark = blocks.list[here.mark()].path;
        let parent = nodes[index].parent;
        let last = &mut places[parent][0];
        if groups[*last as usize].mark != mark || *last == 0 {
            *last = *group_of.entry((parent, mark)).or_insert(groups.len() as u32);
            if *last as usize == groups.len() {
                groups.push(Group { mark, cards: 0, is_named: true });
            }
        }
        let group = &mut groups[*last as usize];
        group.cards += 1;
        group.is_named &= here.has_name();
        places[index][1] = *last;
    }
    if groups.iter().all(|group| group.cards < MIN_CARDS) {
        return Vec::new();
    }
    let mut card_of = vec![0_u32; nodes.len()];
    // By the number of the element: how many of its blocks are in cards, and whether any of these cards has a name.
    let mut held = vec![(0_u32, false); nodes.len()];
    for index in (1..nodes.len()).rev() {
        let group = &groups[places[index][1] as usize];
        let (in_cards, are_named) = held[index];
        if group.cards >= MIN_CARDS && in_cards < inside[index].blocks && !are_named {
            card_of[index] = index as u32;
            held[index] = (inside[index].blocks, group.is_named);
        }
        let (in_cards, are_named) = held[index];
        let around = &mut held[nodes[index].parent];
        *around = (around.0 + in_cards, around.1 | are_named);
    }
    for index in 1..nodes.len() {
        let around = card_of[nodes[index].parent];
        card_of[index] = if around > 0 { around } else { card_of[index] };
    }
    card_of
}
