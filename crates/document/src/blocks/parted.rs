//! Places within a block that matter by their markup: cents beside their price, and elements that are about a thing.

use crate::attributes::values_of;
use crate::blocks::microdata::ItemAttributes;
use crate::blocks::reader::BlockReader;
use crate::cents::{MAX_PRICE_BYTES, Parting, parting};
use crate::markup::StartTag;
use crate::numbers::NumberFormat;
use crate::text::Gap;
use std::ops::Range;

/// Words in the class, id or label of a box with other things than the page's own.
const BOXES: &[&str] = &[
    "related",
    "recommend",
    "similar",
    "upsell",
    "up-sell",
    "cross-sell",
    "crosssell",
    "carousel",
    "also-bought",
    "also-viewed",
    "also-like",
    "recently-viewed",
    "you-may-",
    "accessories",
    "bestseller",
    "complementary",
];

impl BlockReader<'_> {
    /// Parts the content of an element that has just begun from the digits before it, if a reader sees them apart.
    #[cold]
    pub(super) fn part(&mut self, tag: StartTag<'_>) {
        if self.skipped || self.text.len() == self.text_start {
            return;
        }
        let start = self.text_start.max(self.text.len().saturating_sub(MAX_PRICE_BYTES));
        let text = self.text.behind(start).into_owned();
        let is_whole = start == self.text_start;
        match parting(self.html, tag, &text, is_whole, self.text.has_gap()) {
            Some(Parting::Cents(sign)) => {
                let by_language = || NumberFormat::of_language(self.blocks.language.as_deref()).decimal_sign();
                let sign = sign.unwrap_or_else(by_language);
                self.text.push_joined(sign);
            }
            Some(Parting::Blank) => self.text.separate(Gap::SPACE),
            Some(Parting::Raised) => self.is_raised = true,
            None => {}
        }
    }

    /// Appends the raised digit at the start of a text, and returns the place of the rest.
    #[cold]
    pub(super) fn raise(&mut self, place: Range<usize>) -> Range<usize> {
        self.is_raised = false;
        self.text.push_joined('⁹');
        (place.start + 1).min(place.end)..place.end
    }

    /// Begins the thing of the element that was opened last.
    pub(super) fn begin_item(&mut self, item: &ItemAttributes<'_>, is_block: bool) {
        let is_beside = self.part.chrome || self.is_in_box();
        let Some(item) = self.facts.begin_thing(item, self.item, is_beside) else { return };
        if let Some(open) = self.open.last_mut() {
            open.item = item;
            open.scoped |= !is_block;
            (self.item, self.scoped) = (open.item, open.scoped);
        }
    }

    /// Whether an open element is a box of other things. The attributes of each are looked at once.
    fn is_in_box(&mut self) -> bool {
        let html = self.html;
        let is_box = |attributes: &Range<usize>| {
            let names = values_of(&html[attributes.clone()], ["class", "id", "aria-label"]);
            names.into_iter().flatten().any(is_name_of_box)
        };
        self.open.iter_mut().any(|open| match open.name.as_bytes() {
            // The classes of the whole page say which boxes it has.
            b"html" | b"body" | b"main" => false,
            _ => *open.is_box.get_or_insert_with(|| is_box(&open.attributes)),
        })
    }
}

/// Whether a class, id or label is that of a box of other things.
fn is_name_of_box(name: &str) -> bool {
    if name.len() < MIN_BOX_BYTES {
        return false;
    }
    let plain = |byte: u8| if matches!(byte, b'_' | b' ') { b'-' } else { byte.to_ascii_lowercase() };
    let name: Vec<u8> = name.bytes().map(plain).collect();
    BOXES.iter().any(|word| memchr::memmem::find(&name, word.as_bytes()).is_some())
}

/// The length of the shortest word in [`BOXES`].
const MIN_BOX_BYTES: usize = 7;
