//! The shape of a page's markup, independent of its texts and the lengths of its lists.

use crate::tree::{NodeContent, Tree};
use chance::splitmix64;
use document::text_hash;

/// A hash that is equal for trees of the same shape: the same elements nested in the same order, where adjacent
/// siblings of the same shape count as one. A list that grows keeps its shape; a redesign does not.
pub(crate) fn fingerprint(tree: &Tree<'_>) -> u64 {
    /// An open element: its end, its hash so far, and the hash of its last child.
    struct OpenHashedElement {
        end: usize,
        hash: u64,
        last_child: Option<u64>,
    }
    impl OpenHashedElement {
        fn take(&mut self, child: u64) {
            if self.last_child != Some(child) {
                self.hash = splitmix64(self.hash ^ child);
                self.last_child = Some(child);
            }
        }
    }
    let mut root = OpenHashedElement { end: usize::MAX, hash: 0, last_child: None };
    let mut open: Vec<OpenHashedElement> = Vec::new();
    for place in 0..=tree.nodes.len() {
        while let Some(done) = open.pop_if(|last| last.end <= place) {
            open.last_mut().unwrap_or(&mut root).take(splitmix64(done.hash));
        }
        if let Some(node) = tree.nodes.get(place)
            && let NodeContent::Element(tag) = &node.content
        {
            open.push(OpenHashedElement { end: node.end, hash: text_hash(tag.name.as_bytes()), last_child: None });
        }
    }
    root.hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(html: &str) -> u64 {
        fingerprint(&Tree::of(html))
    }

    #[test]
    fn texts_and_lengths_of_lists_are_no_part_of_it() {
        let page = of("<div><ul><li><a href=/x>one</a></ul><p>text</div>");
        assert_eq!(page, of("<div class=y><ul><li><a>two</a><li><a>three</a></ul><p>other</p></div>"));
        assert_ne!(page, of("<div><ol><li><a>one</a></ol><p>text</div>"));
        assert_ne!(page, of("<div><p>text</p><ul><li><a>one</a></ul></div>"));
        assert_ne!(page, of("<div><ul><li><a>one</a></ul></div><p>text"));
        assert_ne!(page, of(""));
    }
}
