//! Separates the blocks that a page is about (its region) from the frame around them.

use document::blocks::{Block, Blocks};

/// The least share of the unframed text that `main` and `article` must hold to be taken for the region.
const MAIN_SHARE: f64 = 0.3;
/// The least share of an element's text that one child must hold for the search to descend into it.
const SUBTREE_SHARE: f64 = 0.6;

/// The part of a page that a block is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PagePart {
    /// The frame: menus, footers, and blocks that only lead elsewhere.
    Frame,
    /// The region: what the page is about.
    Region,
    /// Beside the region and not in the frame: another column, a box, a button.
    Beside,
    /// A list of links within the region of a page of prose. Such a list may be news, and may be teasers in turn.
    Links,
}

/// The part of each block. The region is the content of `main` or `article` if these hold enough of the text, else the
/// content of the element that holds most of the unframed text, else everything. Statements about the page as a whole
/// belong to it.
///
/// Where most of the region only leads elsewhere, the page is a list of links, and they are its content.
///
/// With a watch rule, the watched parts are the region and everything else is the frame.
pub(crate) fn parts(blocks: &Blocks) -> Vec<PagePart> {
    if blocks.is_watched {
        let part = |block: &Block| if block.watched { PagePart::Region } else { PagePart::Frame };
        return blocks.list.iter().map(part).collect();
    }
    let weight = |block: &Block| if block.part.control || block.part.fact { 0 } else { block.byte_length() };
    let weights: Vec<usize> = blocks.list.iter().map(weight).collect();
    let bytes =
        |keep: &[bool]| -> usize { weights.iter().zip(keep).map(|(weight, keep)| usize::from(*keep) * weight).sum() };
    let unframed: Vec<bool> = blocks.list.iter().map(|block| !block.part.chrome).collect();
    let main = among(&unframed, blocks, |block| block.part.main || block.part.fact);
    let inner = if bytes(&main) as f64 > MAIN_SHARE * bytes(&unframed) as f64 {
        main
    } else {
        let inside = subtree(blocks, &unframed, &weights);
        among(&unframed, blocks, |block| inside[block.node] || block.part.fact)
    };
    let region = if bytes(&inner) > 0 { inner } else { vec![true; blocks.list.len()] };
    let prose = among(&region, blocks, |block| !block.is_links());
    let is_prose = 2 * bytes(&prose) >= bytes(&region);
    let part = |(index, block): (usize, &Block)| match (region[index], unframed[index]) {
        (_, true) if block.part.handle => PagePart::Beside,
        (true, _) if is_prose && block.is_links() => PagePart::Links,
        (true, _) => PagePart::Region,
        (false, true) if !block.is_links() => PagePart::Beside,
        _ => PagePart::Frame,
    };
    blocks.list.iter().enumerate().map(part).collect()
}

/// The kept blocks that satisfy a condition.
fn among(kept: &[bool], blocks: &Blocks, is: impl Fn(&Block) -> bool) -> Vec<bool> {
    blocks.list.iter().zip(kept).map(|(block, kept)| *kept & is(block)).collect()
}

/// For each element, whether it is inside the element that holds most of the text. The search descends from the root
/// while one child holds most of its parent's text, unless that is the longest of several sections.
fn subtree(blocks: &Blocks, keep: &[bool], weights: &[usize]) -> Vec<bool> {
    let nodes = &blocks.nodes;
    let mut bytes = vec![0_usize; nodes.len()];
    let mut ranks = vec![u8::MAX; nodes.len()];
    for ((block, weight), _) in blocks.list.iter().zip(weights).zip(keep).filter(|(_, keep)| **keep) {
        bytes[block.node] += weight;
        if block.heading_rank > 0 {
            ranks[block.node] = ranks[block.node].min(block.heading_rank);
        }
    }
    // Children follow their parents, so one pass from the end adds up every subtree, and one from the front descends.
    for index in (1..nodes.len()).rev() {
        bytes[nodes[index].parent] += bytes[index];
        ranks[nodes[index].parent] = ranks[nodes[index].parent].min(ranks[index]);
    }
    // The page has one heading of the first rank; sections have headings of one rank below it.
    let mut sections = vec![[0_u8; 7]; nodes.len()];
    for (node, &rank) in nodes.iter().zip(&ranks).skip(1).filter(|(_, rank)| (2..=6).contains(*rank)) {
        let count = &mut sections[node.parent][usize::from(rank)];
        *count = count.saturating_add(1);
    }
    let is_section = |index: usize| {
        sections[nodes[index].parent].get(usize::from(ranks[index])).is_some_and(|sections| *sections > 1)
    };
    let mut top = 0;
    for index in 1..nodes.len() {
        let is_most = bytes[index] as f64 >= SUBTREE_SHARE * bytes[top] as f64;
        if nodes[index].parent == top && !nodes[index].is_paragraph && is_most && !is_section(index) {
            top = index;
        }
    }
    let mut inside = vec![false; nodes.len()];
    inside[top] = true;
    for index in top + 1..nodes.len() {
        inside[index] = inside[nodes[index].parent];
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(html: &str) -> Vec<String> {
        let blocks = Blocks::of_html(html);
        let parts = parts(&blocks);
        let kept = blocks.list.iter().zip(&parts).filter(|(_, part)| **part == PagePart::Region);
        kept.map(|(block, _)| blocks.text(block).to_owned()).collect()
    }

    #[test]
    fn a_page_is_distinguished_from_its_frame() {
        let long = "We keep what you give us for as long as the law asks, and no longer than that.";
        let check = |html: &str| {
            assert_eq!(reported(html), ["Terms", long], "{html}");
        };
        check(&format!("<nav>Home</nav><main><h1>Terms</h1><p>{long}</main><footer>2026</footer>"));
        check(&format!("<div>Menu and more</div><div><h1>Terms</h1><p>{long}</div><div>Imprint</div>"));
        check(&format!("<div role=banner>x</div><article><h1>Terms</h1><p>{long}<p><a href=/n>News</a></article>"));
        check(&format!("<h1>Terms</h1><p>{long}<p hidden>secret<aside>Ads</aside>"));
        check(&format!("<main><h1>Terms</h1><details><summary>See details</summary><p>{long}</details></main>"));
        check(&format!("<main>Menu</main><div><h1>Terms</h1><p>{long}</div>"));
    }

    #[test]
    fn a_question_that_unfolds_its_answer_is_no_control() {
        let question = "How long do you keep what I give you?";
        assert_eq!(
            reported(&format!("<main><details><summary>{question}</summary><p>No longer than that.</details>")).len(),
            2
        );
    }

    #[test]
    fn a_list_of_links_is_reported_by_its_links_and_a_page_of_frame_by_all_of_it() {
        assert_eq!(reported("<ul><li><a href=/a>One</a><li><a href=/b>Two</a></ul>"), ["One", "Two"]);
        assert_eq!(reported("<nav>Home</nav>"), ["Home"]);
        assert_eq!(reported("<table><tr><td><a href=/a>One</a><td>2</table><p><a href=/n>N</a>"), ["One", "2"]);
        assert!(reported("").is_empty());
    }
}
