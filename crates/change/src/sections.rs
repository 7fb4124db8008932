//! The sections of a page: what stands under a heading. "Closed for repair" under another heading is another statement.

use document::blocks::Blocks;
use std::ops::Range;

/// Elements that hold nothing besides a heading are skipped to find the section that it heads, up to this many.
const MAX_WRAPPERS: usize = 3;

/// The heading of each block: the last before it of the element that holds both.
pub(crate) fn headings(blocks: &Blocks) -> Vec<Option<usize>> {
    let nodes = &blocks.nodes;
    if blocks.list.iter().all(|block| block.heading_rank == 0) {
        return vec![None; blocks.list.len()];
    }
    // The elements inside one follow it without a gap.
    let mut ends: Vec<usize> = (1..=nodes.len()).collect();
    for index in (1..nodes.len()).rev() {
        let parent = nodes[index].parent;
        ends[parent] = ends[parent].max(ends[index]);
    }
    let scope = |index: usize| {
        let mut node = nodes[blocks.list[index].node].parent;
        let holds = |node: usize, index: Option<usize>| {
            index.and_then(|index| blocks.list.get(index)).is_some_and(|block| (node..ends[node]).contains(&block.node))
        };
        for _ in 0..MAX_WRAPPERS {
            if holds(node, index.checked_sub(1)) || holds(node, Some(index + 1)) {
                break;
            }
            node = nodes[node].parent;
        }
        node..ends[node]
    };
    let mut open: Vec<(Range<usize>, u8, usize)> = Vec::new();
    let heading = |(index, block): (usize, &document::blocks::Block)| {
        while open.last().is_some_and(|(scope, ..)| !scope.contains(&block.node)) {
            open.pop();
        }
        if block.heading_rank > 0 {
            while open.last().is_some_and(|(_, rank, _)| *rank >= block.heading_rank) {
                open.pop();
            }
        }
        let heading = open.last().map(|(.., heading)| *heading);
        if block.heading_rank > 0 {
            open.push((scope(index), block.heading_rank, index));
        }
        heading
    };
    blocks.list.iter().enumerate().map(heading).collect()
}
