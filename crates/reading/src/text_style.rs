//! How text is set: its size, emphasis, centring and colour, as far as the markup itself says.

use crate::text_blocks::TextBlock;
use crate::tree::{NodeContent, Tree};
use document::attributes::{attribute, values_of};
use document::markup::StartTag;

/// Sizes of text by `<font size>`, 1 to 7, relative to normal text.
const FONT_SIZES: [f64; 7] = [0.63, 0.82, 1.0, 1.13, 1.5, 2.0, 3.0];
/// Normal text in CSS pixels.
const NORMAL_PIXELS: f64 = 16.0;
/// The longest value that is read as a colour, in bytes.
const MAX_COLOUR_BYTES: usize = 32;

/// How the first text of a block is set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextStyle {
    /// Relative to normal text.
    pub(crate) size: f64,
    pub(crate) is_emphasised: bool,
    pub(crate) is_centred: bool,
    /// The colour as it is written, in one form for black and for digits. `None` for that of the page.
    pub(crate) colour: Option<String>,
    /// 1 to 6 within `<h1>` to `<h6>`.
    pub(crate) heading: Option<u8>,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { size: 1.0, is_emphasised: false, is_centred: false, colour: None, heading: None }
    }
}

impl TextStyle {
    /// How many signs besides size it has that this text has not: emphasis, centring and colour.
    pub(crate) fn signs(&self, text: &Self) -> usize {
        let signs = [
            self.is_emphasised && !text.is_emphasised,
            self.is_centred && !text.is_centred,
            self.colour != text.colour,
        ];
        signs.into_iter().filter(|sign| *sign).count()
    }

    /// Whether it stands out from this text. Small print in another colour does not.
    pub(crate) fn stands_out(&self, text: &Self) -> bool {
        self.size > text.size || self.size == text.size && self.signs(text) > 0
    }
}

/// The style of each block, by the elements around its first text.
pub(crate) fn styles(tree: &Tree<'_>, blocks: &[TextBlock]) -> Vec<TextStyle> {
    let mut styles = Vec::with_capacity(blocks.len());
    let mut open: Vec<(usize, TextStyle)> = Vec::new();
    for (place, node) in tree.nodes.iter().enumerate() {
        while open.pop_if(|(end, _)| *end <= place).is_some() {}
        if let NodeContent::Element(tag) = &node.content {
            let style = style_of(tag, open.last().map(|(_, style)| style));
            open.push((node.end, style));
        } else if blocks.get(styles.len()).is_some_and(|block| block.start == place) {
            styles.push(open.last().map_or_else(TextStyle::default, |(_, style)| style.clone()));
        }
    }
    styles
}

fn style_of(tag: &StartTag<'_>, around: Option<&TextStyle>) -> TextStyle {
    let around = around.cloned().unwrap_or_default();
    let size_around = around.size;
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
        b"center" => style.is_centred = true,
        b"font" => {
            let [size, colour] = values_of(tag.attributes(), ["size", "color"]);
            style.size = size.and_then(font_size).unwrap_or(style.size);
            style.colour = colour.map_or(style.colour, colour_of);
        }
        _ => {}
    }
    // The attribute of a table places the table, not its text.
    if tag.name.as_bytes() != b"table"
        && let Some(align) = attribute(tag.attributes(), "align")
    {
        style.is_centred = is_centre(&align);
    }
    if let [Some(css)] = values_of(tag.attributes(), ["style"]) {
        for (property, value) in css.split(';').filter_map(|rule| rule.split_once(':')) {
            let value = value.trim().to_ascii_lowercase();
            match property.trim().to_ascii_lowercase().as_str() {
                "font-size" => style.size = css_size(&value, size_around).unwrap_or(style.size),
                "font-weight" => {
                    let is_bold = value.starts_with("bold") || value.parse().is_ok_and(|weight: f64| weight >= 600.0);
                    style.is_emphasised = is_bold;
                }
                "text-align" => style.is_centred = is_centre(&value),
                "color" => style.colour = colour_of(&value),
                _ => {}
            }
        }
    }
    // Sizes multiply with every level; that of a deep page stays a number.
    style.size = style.size.clamp(0.1, 10.0);
    style
}

fn is_centre(align: &str) -> bool {
    let align = align.trim();
    ["center", "middle"].iter().any(|name| align.eq_ignore_ascii_case(name))
}

/// A colour in one form; `None` for black, the default of pages, and for other texts.
fn colour_of(value: &str) -> Option<String> {
    let value = value.trim().trim_end_matches("!important").trim_end().to_ascii_lowercase();
    let is_of_page = matches!(
        value.as_str(),
        "" | "black" | "inherit" | "initial" | "unset" | "currentcolor" | "windowtext" | "#000" | "#000000" | "000000"
    );
    if is_of_page || value.len() > MAX_COLOUR_BYTES {
        return None;
    }
    let digits = value.strip_prefix('#').unwrap_or(&value);
    let is_number = matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_number {
        true if digits.len() == 3 => Some(digits.chars().flat_map(|digit| [digit, digit]).collect()),
        true => Some(digits.to_owned()),
        false => Some(value),
    }
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

    #[test]
    fn colours_have_one_form() {
        let check = |value: &str, expected: Option<&str>| assert_eq!(colour_of(value).as_deref(), expected, "{value}");
        check(" Red ", Some("red"));
        check("#C00", Some("cc0000"));
        check("#CC0000 !important", Some("cc0000"));
        check("cc0000", Some("cc0000"));
        check("rgb(1, 2, 3)", Some("rgb(1, 2, 3)"));
        check("black", None);
        check("#000", None);
        check("", None);
        check(&"x".repeat(MAX_COLOUR_BYTES + 1), None);
    }
}
