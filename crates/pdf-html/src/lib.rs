//! PDF documents as HTML: paragraphs in the order in which they were written, headings by their size, rows, links, the title.
//!
//! Only what a reader sees becomes HTML. Dates, authors, numbers of pages, fonts and places are left out, and heads and feet that
//! pages repeat are kept once. So a document that is made again is the same, and a word that comes does not move the lines behind it.
//!
//! The work of [`html`] is not bounded by the bytes of its document: a page of a kilobyte can unfold to gigabytes, or never end.
//! It runs in a process with limits (`crates/confined`) and nowhere else.

mod furniture;
mod glyphs;
mod line;
mod links;
mod order;
mod out;
mod paragraphs;
mod rich;
mod text_string;

use crate::glyphs::PageReader;
use crate::links::PageLinks;
use crate::text_string::text_string;
use document::NotRead;
use hayro_interpret::hayro_syntax::object::{Dict, String as PdfString, dict::keys};
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};

/// Most pages of a document.
const MAX_PAGES: usize = 4000;
/// Most glyphs of a document: some 700 full pages.
const MAX_GLYPHS: usize = 2 << 20;
/// Share of glyphs without a meaning in Unicode, beyond which a text cannot be read.
const MAX_UNKNOWN_SHARE: f64 = 0.25;

/// A document as HTML.
///
/// # Errors
/// Why it cannot be read. A document that needs too much time or memory ends the process or never returns.
pub fn html(bytes: Vec<u8>) -> Result<String, NotRead> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => NotRead::Encrypted,
        LoadPdfError::Decryption(_) | LoadPdfError::Invalid => NotRead::Damaged,
    })?;
    if pdf.pages().len() > MAX_PAGES {
        return Err(NotRead::TooMuch);
    }
    let (cache, settings) = (InterpreterCache::new(), InterpreterSettings::default());
    let (mut links, mut pages) = (Vec::new(), Vec::new());
    let (mut glyphs, mut unknown) = (0, 0);
    for page in pdf.pages().iter() {
        // Upright, in points, with the origin at the lower left.
        let to_upright = Affine::new(page.initial_transform(false).as_coeffs());
        let page_links = PageLinks::of(page, to_upright, &mut links);
        let mut reader = PageReader::new(&page_links, MAX_GLYPHS - glyphs);
        let bounds = Rect::new(0.0, 0.0, 1.0, 1.0);
        let mut context = Context::new(to_upright, bounds, &cache, pdf.xref(), settings.clone());
        interpret_page(page, &mut context, &mut reader);
        glyphs += reader.glyphs;
        unknown += reader.unknown;
        if glyphs >= MAX_GLYPHS {
            return Err(NotRead::TooMuch);
        }
        pages.push(order::page(reader.finish(), f64::from(page.render_dimensions().1)));
    }
    if unknown as f64 > MAX_UNKNOWN_SHARE * glyphs as f64 {
        return Err(NotRead::NoText);
    }
    let furniture = furniture::remove(&mut pages);
    let title = pdf.metadata().title.as_deref().map(text_string).unwrap_or_default();
    let mut parts = paragraphs::of_pages(pages);
    parts.extend(paragraphs::of_pages(vec![furniture]));
    out::document(&title, &language(&pdf), &parts, &links)
}

/// The language that the document declares, if it looks like one.
fn language(pdf: &Pdf) -> String {
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let declared = catalog.and_then(|catalog| catalog.get::<PdfString<'_>>(keys::LANG));
    let is_tag = |tag: &String| tag.len() <= 35 && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    declared.map(|declared| text_string(declared.as_bytes())).filter(is_tag).unwrap_or_default()
}
