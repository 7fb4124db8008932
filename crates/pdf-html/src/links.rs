//! The links of a page: rectangles that lead somewhere (ISO 32000-2, 12.5.6.5).

use crate::rich::LinkId;
use crate::text_string::text_string;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Rect as PdfRect, String as PdfString, dict::keys};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::kurbo::{Affine, Point, Rect};

/// Most links of a page. Each glyph is looked for in each.
const MAX_LINKS_OF_PAGE: usize = 200;
/// The most bytes of an address.
const MAX_ADDRESS_BYTES: usize = 2048;
/// Points around a glyph's middle that may lie outside of a link's rectangle.
const TOLERANCE: f64 = 1.0;

pub(crate) struct PageLinks(Vec<(Rect, LinkId)>);

impl PageLinks {
    /// Reads the links of a page to addresses. New addresses are added to the document's.
    pub(crate) fn of(page: &Page<'_>, to_upright: Affine, addresses: &mut Vec<String>) -> Self {
        let annotations = page.raw().get::<Array<'_>>(keys::ANNOTS);
        let found = annotations.iter().flat_map(|list| list.iter::<Dict<'_>>());
        let found = found.filter_map(|annotation| link(&annotation)).take(MAX_LINKS_OF_PAGE);
        let numbered = found.map(|(place, address)| {
            let known = addresses.iter().rev().take(MAX_LINKS_OF_PAGE).position(|known| *known == address);
            let id = known.map_or(addresses.len(), |back| addresses.len() - 1 - back);
            if id == addresses.len() {
                addresses.push(address);
            }
            (to_upright.transform_rect_bbox(place).inflate(TOLERANCE, TOLERANCE), id as LinkId)
        });
        Self(numbered.collect())
    }

    /// The link at a point.
    pub(crate) fn at(&self, point: Point) -> Option<LinkId> {
        self.0.iter().find(|(place, _)| place.contains(point)).map(|(_, id)| *id)
    }
}

fn link(annotation: &Dict<'_>) -> Option<(Rect, String)> {
    if &*annotation.get::<Name<'_>>(keys::SUBTYPE)? != b"Link" {
        return None;
    }
    let address = annotation.get::<Dict<'_>>(keys::A)?.get::<PdfString<'_>>(keys::URI)?;
    let address = text_string(address.as_bytes());
    let place = annotation.get::<PdfRect>(keys::RECT)?;
    (address.len() <= MAX_ADDRESS_BYTES).then_some((Rect::new(place.x0, place.y0, place.x1, place.y1), address))
}
