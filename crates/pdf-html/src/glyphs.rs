//! The glyphs of a page, with their texts and places, and the lines that they are written in.

use crate::line::{Line, Placed};
use crate::links::PageLinks;
use hayro_interpret::font::{Glyph, GlyphRun, PositionedGlyph};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Vec2};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};

/// The smallest and largest size of a font in points whose text is read. Others are not seen.
const READABLE_SIZE: std::ops::Range<f64> = 0.5..2000.0;

/// Takes the glyphs of a page. Everything else that is drawn is passed over, and no picture is unpacked.
pub(crate) struct PageReader<'p> {
    links: &'p PageLinks,
    lines: Vec<Line>,
    most_glyphs: usize,
    pub(crate) glyphs: usize,
    /// Glyphs without a meaning in Unicode.
    pub(crate) unknown: usize,
}

impl<'p> PageReader<'p> {
    pub(crate) fn new(links: &'p PageLinks, most_glyphs: usize) -> Self {
        Self { links, lines: Vec::new(), most_glyphs, glyphs: 0, unknown: 0 }
    }

    /// The lines of the page, in the order in which they were written.
    pub(crate) fn finish(self) -> Vec<Line> {
        self.lines
    }

    fn take(&mut self, glyph: &PositionedGlyph<'_>, to_page: Affine, is_vertical: bool) {
        let transform = to_page * glyph.transform();
        let Some(text) = glyph.as_unicode().map(in_characters) else {
            self.unknown += 1;
            return;
        };
        let Some(placed) = placed(glyph, transform, is_vertical) else { return };
        let middle = Point::new(placed.at.x, placed.at.y) + placed.direction * (placed.advance / 2.0) + placed.up * 0.3;
        let link = self.links.at(middle);
        let is_taken = self.lines.last_mut().is_some_and(|line| line.take(&placed, &text, link));
        if !is_taken && !text.trim().is_empty() {
            self.lines.push(Line::new(&placed, &text, link));
        }
    }
}

/// The place of a glyph on its page. `None` if it is too small or too large to be read.
fn placed(glyph: &PositionedGlyph<'_>, transform: Affine, is_vertical: bool) -> Option<Placed> {
    let [a, b, c, d, e, f] = transform.as_coeffs();
    // Glyphs have a thousand units to the em.
    let (across, up) = (Vec2::new(a, b) * 1000.0, Vec2::new(c, d) * 1000.0);
    let size = up.hypot();
    let width = match &**glyph {
        Glyph::Outline(outline) => outline.advance_width(),
        Glyph::Type3(drawn) => drawn.advance_width(),
    };
    let width = f64::from(width.unwrap_or(500.0)) / 1000.0;
    if !READABLE_SIZE.contains(&size) || !(e + f + a + b + width).is_finite() {
        return None;
    }
    // A glyph of another font in place of its own is stretched to the width of that, so its width says less than its height.
    let (direction, advance) = match is_vertical {
        true => (-up / size, size),
        false if across.hypot() > 0.0 => {
            (across / across.hypot(), width.max(0.0) * size.min(across.hypot().max(size * 0.3)))
        }
        false => return None,
    };
    Some(Placed { at: Point::new(e, f), direction, up: up / size * size, size, advance })
}

/// The text of a glyph, its ligatures as characters, without what is not seen.
fn in_characters(text: BfString) -> String {
    let text = match text {
        BfString::Char(char) => char.to_string(),
        BfString::String(text) => text,
    };
    if text.chars().all(|char| char.is_ascii_graphic() || char == ' ') {
        return text;
    }
    let mut characters = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\u{fb00}' => characters.push_str("ff"),
            '\u{fb01}' => characters.push_str("fi"),
            '\u{fb02}' => characters.push_str("fl"),
            '\u{fb03}' => characters.push_str("ffi"),
            '\u{fb04}' => characters.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => characters.push_str("st"),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' | '\t' | '\n' | '\r' => characters.push(' '),
            '\u{feff}' | '\u{fffd}' | '\u{fffe}' | '\u{ffff}' => {}
            char if char.is_control() => {}
            char => characters.push(char),
        }
    }
    characters
}

impl<'a> Device<'a> for PageReader<'_> {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        let is_vertical = run.writing_mode() == WritingMode::Vertical;
        for glyph in run.glyphs() {
            if self.glyphs >= self.most_glyphs {
                return;
            }
            self.glyphs += 1;
            self.take(glyph, props.transform, is_vertical);
        }
    }

    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_are_taken_apart_and_spaces_are_spaces() {
        let read = |text: &str| in_characters(BfString::String(text.to_owned()));
        assert_eq!(read("e\u{fb03}cient"), "efficient");
        assert_eq!(read("a\u{a0}b\u{feff}"), "a b");
        assert_eq!(read("\u{fb01}"), "fi");
        assert_eq!(read("費用"), "費用");
    }
}
