//! Finds the title of a page that does not declare one.
//!
//! The first heading is the title: `<h1>` before others. A page without headings may have a line that looks like one. The
//! published rule takes the line before the first paragraph of the text that stands out: the largest, among equals the
//! emphasised, among those the nearest to the paragraph.

use crate::main_text::{beside, hidden, is_mostly_link};
use crate::text_blocks::{BlockKind, TextBlock, blocks};
use crate::tree::{NodeContent, Tree};
use document::attributes::{attribute, values_of};
use document::markup::StartTag;

/// Shortest block, in characters, with which the text of a page begins. Headings and lists of links do not count.
const PARAGRAPH_CHARACTERS: usize = 60;
/// Longer blocks, in characters without white space, are no headings.
const MAX_HEADING_CHARACTERS: usize = 150;
/// Sizes of text by `<font size>`, 1 to 7, relative to normal text.
const FONT_SIZES: [f64; 7] = [0.63, 0.82, 1.0, 1.13, 1.5, 2.0, 3.0];
/// Normal text in CSS pixels.
const NORMAL_PIXELS: f64 = 16.0;

/// How the first text of a block is set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TextStyle {
    /// Relative to normal text.
    size: f64,
    is_emphasised: bool,
    /// 1 to 6 within `<h1>` to `<h6>`.
    heading: Option<u8>,
}

const NORMAL: TextStyle = TextStyle { size: 1.0, is_emphasised: false, heading: None };

/// The title by the published rule alone, whatever the head of the page says.
pub fn published_title(html: &str) -> Option<String> {
    let (candidates, before_text) = candidates(&Tree::of(html));
    outstanding(&candidates[..before_text])
}

/// The title of a page that declares none: its first heading, or else a line that looks like one.
pub(crate) fn headline(tree: &Tree<'_>) -> Option<String> {
    let (candidates, before_text) = candidates(tree);
    let first = |is_it: fn(u8) -> bool| candidates.iter().find(|(_, style)| style.heading.is_some_and(is_it));
    let heading = first(|level| level == 1).or_else(|| first(|_| true));
    heading.map(|(block, _)| block.text.clone()).or_else(|| outstanding(&candidates[..before_text]))
}

/// Blocks that may be a title, in order, and how many of them are before the first paragraph.
fn candidates(tree: &Tree<'_>) -> (Vec<(TextBlock, TextStyle)>, usize) {
    let (blocks, hints) = blocks(tree);
    let left_out = beside(tree, &blocks, &hints, &hidden(tree, &blocks, &hints));
    let styles = styles(tree, &blocks);
    let is_paragraph = |(block, left_out): (&TextBlock, &bool)| {
        !left_out
            && block.kind != BlockKind::Heading
            && block.characters >= PARAGRAPH_CHARACTERS
            && !is_mostly_link(block)
    };
    let text_start = blocks.iter().zip(&left_out).position(is_paragraph).unwrap_or(blocks.len());
    let mut all = Vec::new();
    let mut before_text = 0;
    for (index, (block, style)) in blocks.into_iter().zip(styles).enumerate() {
        let is_heading = style.heading.is_some();
        if !left_out[index] && block.characters <= MAX_HEADING_CHARACTERS && (is_heading || !is_mostly_link(&block)) {
            before_text += usize::from(index < text_start);
            all.push((block, style));
        }
    }
    (all, before_text)
}

/// The candidate that stands out most.
fn outstanding(candidates: &[(TextBlock, TextStyle)]) -> Option<String> {
    let outstanding = candidates.iter().filter(|(_, style)| style.size > 1.0 || style.is_emphasised);
    let best = outstanding.max_by(|(_, one), (_, other)| {
        one.size.total_cmp(&other.size).then(one.is_emphasised.cmp(&other.is_emphasised))
    });
    best.map(|(block, _)| block.text.clone())
}

/// The style of each block, by the elements around its first text.
fn styles(tree: &Tree<'_>, blocks: &[TextBlock]) -> Vec<TextStyle> {
    let mut styles = Vec::with_capacity(blocks.len());
    let mut open: Vec<(usize, TextStyle)> = Vec::new();
    for (place, node) in tree.nodes.iter().enumerate() {
        while open.pop_if(|(end, _)| *end <= place).is_some() {}
        let around = open.last().map_or(NORMAL, |(_, style)| *style);
        if let NodeContent::Element(tag) = &node.content {
            open.push((node.end, style_of(tag, around)));
        }
        if blocks.get(styles.len()).is_some_and(|block| block.start == place) {
            styles.push(around);
        }
    }
    styles
}

fn style_of(tag: &StartTag<'_>, around: TextStyle) -> TextStyle {
    let mut style = around;
    match tag.name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => {
            let factors = [2.0, 1.5, 1.17, 1.0, 0.83, 0.67];
            style.size *= factors[usize::from(level - b'1')];
            style.heading = Some(level - b'0');
            style.is_emphasised = true;
        }
        b"b" | b"strong" | b"th" => style.is_emphasised = true,
        b"big" => style.size *= 1.2,
        b"small" => style.size *= 0.83,
        b"font" => {
            style.size = attribute(tag.attributes(), "size").and_then(|size| font_size(&size)).unwrap_or(style.size)
        }
        _ => {}
    }
    if let [Some(css)] = values_of(tag.attributes(), ["style"]) {
        for (property, value) in css.split(';').filter_map(|rule| rule.split_once(':')) {
            let value = value.trim().to_ascii_lowercase();
            match property.trim().to_ascii_lowercase().as_str() {
                "font-size" => style.size = css_size(&value, around.size).unwrap_or(style.size),
                "font-weight" => {
                    let is_bold = value.starts_with("bold") || value.parse().is_ok_and(|weight: f64| weight >= 600.0);
                    style.is_emphasised = is_bold;
                }
                _ => {}
            }
        }
    }
    // Sizes multiply with every level; that of a deep page stays a number.
    style.size = style.size.clamp(0.1, 10.0);
    style
}

/// The size of `<font size=…>`: 1 to 7, or relative to 3.
fn font_size(size: &str) -> Option<f64> {
    let size = size.trim();
    let number: i32 = size.parse().ok()?;
    let absolute = if size.starts_with(['+', '-']) { number.saturating_add(3) } else { number };
    FONT_SIZES.get(usize::try_from(absolute.clamp(1, 7) - 1).ok()?).copied()
}

/// A `font-size` of CSS, relative to normal text; `None` for one that is not known.
fn css_size(value: &str, around: f64) -> Option<f64> {
    let with_unit = |unit: &str| value.strip_suffix(unit).and_then(|number| number.trim().parse::<f64>().ok());
    let size = with_unit("rem")
        .or_else(|| with_unit("em").map(|factor| factor * around))
        .or_else(|| with_unit("%").map(|percent| percent / 100.0 * around))
        .or_else(|| with_unit("px").map(|pixels| pixels / NORMAL_PIXELS))
        .or_else(|| with_unit("pt").map(|points| points * 4.0 / 3.0 / NORMAL_PIXELS));
    let named = match value {
        "small" => 0.82,
        "medium" => 1.0,
        "large" => 1.13,
        "x-large" => 1.5,
        "xx-large" => 2.0,
        "larger" => around * 1.2,
        "smaller" => around / 1.2,
        _ => return size.filter(|size| size.is_finite()),
    };
    Some(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str =
        "<p>The committee met on Monday and decided, after some debate, that nothing would be done at all.</p>";

    #[test]
    fn the_published_rule_takes_what_stands_out_before_the_text() {
        let check = |before: &str, expected: Option<&str>| {
            let page = format!("<title>no</title>{before}{TEXT}<p><font size=7>Behind</font></p>");
            assert_eq!(published_title(&page).as_deref(), expected, "{before}");
        };
        check("<p>One</p><p><font size=5>Two</font></p><p>Three</p>", Some("Two"));
        check("<p style='font-size: 24px'>One</p><div><span style=FONT-SIZE:2em>Two</span></div>", Some("Two"));
        check("<p><big>One</big></p><p><big><b>Two</b></big></p><p><big>Three</big></p>", Some("Two"));
        check("<p><b>One</b></p><p><strong>Two</strong></p>", Some("Two"));
        check("<h3>One</h3><p style='font-size:x-large'>Two</p>", Some("Two"));
        check("<nav><h1>Menu</h1></nav><p><big><a href=/>Home</a></big></p><p><b>One</b></p>", Some("One"));
        check("<p>One</p><p style=font-weight:700>Two</p>", Some("Two"));
        check("<b style=font-weight:normal>One</b>", None);
        check("<p><font size=2>One</font></p>", None);
        check("", None);
        assert_eq!(published_title("<p><font size=+2>Alone</font>").as_deref(), Some("Alone"));
    }

    #[test]
    fn headings_come_first_and_h1_before_others() {
        let check = |html: &str, expected: Option<&str>| {
            assert_eq!(headline(&Tree::of(html)).as_deref(), expected, "{html}");
        };
        check(&format!("<p><font size=7>Big</font></p>{TEXT}<h2>Two</h2><h1>One</h1>"), Some("One"));
        check(&format!("<h3><a href=/>Linked</a></h3>{TEXT}<h2>Two</h2>"), Some("Linked"));
        check(&format!("<h1 hidden>No</h1><p><b>Bold</b></p>{TEXT}"), Some("Bold"));
        check(TEXT, None);
    }

    #[test]
    fn deep_pages_have_sizes() {
        let page = format!("{}x", "<big><div style=font-size:200%><h1>".repeat(10_000));
        assert_eq!(published_title(&page).as_deref(), Some("x"));
    }

    proptest! {
        #[test]
        fn any_soup_has_a_title_or_none(soup in "(<h1>|<font size=|<p style='font-size:|[0-9]|-|%|em|px|e9|>|'| |a|<b>|</b>|</p>){0,40}") {
            published_title(&soup);
        }
    }
}
