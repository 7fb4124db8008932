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
        if !self.html[place.clone()].starts_with('9') {
            return place;
        }
        self.text.push_joined('⁹');
        place.start + 1..place.end
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
const MIN_BOX_BYTES: usize = 6;

#[cfg(test)]
mod tests {
    use crate::blocks::texts;

    #[test]
    fn cents_that_stand_apart_are_decimals() {
        let check = |html: &str, expected: &[&str]| assert_eq!(texts(html), expected, "{html}");
        check("<p>$1,299<sup>99</sup>", &["$1,299.99"]);
        check("<p><span>19</span><sup>99</sup> €", &["19.99 €"]);
        check("<html lang=de><p>19<sup>99</sup> €", &["19,99 €"]);
        check("<p>1.299<sup>00</sup> €", &["1.299,00 €"]);
        check("<p><b>19</b> <sup>99</sup> €", &["19.99 €"]);
        check("<p>19<sup>99 €</sup> a piece", &["19.99 € a piece"]);
        check("<p>$<span>35</span><span>00</span>", &["$35.00"]);
        check("<p><span>35</span><span>00</span>", &["35.00"]);
        check("<p>$35<span class=cents>00</span>", &["$35.00"]);
        check("<p>19<sup>,99</sup> € or 19,<sup>99</sup> €", &["19,99 € or 19,99 €"]);
        check("<p>19<sup><span>99</span></sup> €", &["19.99 €"]);
        check("<p>1,79<sup>9</sup> €", &["1,79⁹ €"]);
        check("<p>1.79 <sup>9</sup> €", &["1.79⁹ €"]);
        check("<p><i>35</i><i>49</i> €", &["35.49 €"]);
        // Footnotes, exponents, counters and words are not cents.
        check("<p>In 2019<sup>12</sup> it was", &["In 2019 12 it was"]);
        check("<p>$1,299<sup>1</sup>", &["$1,299 1"]);
        check("<p>about 10<sup>12</sup> stars", &["about 10 12 stars"]);
        check("<p>x<sup>2</sup> and m<sup>12</sup>", &["x2 and m12"]);
        check("<p><span>12</span><span>34</span><span>56</span>", &["123456"]);
        check("<p>Call 555<span>12</span> now", &["Call 55512 now"]);
        check("<p>20<b>26</b>", &["2026"]);
        check("<p>$19.99<sup>12</sup>", &["$19.99 12"]);
        // Hidden decimals belong to no text, neither their own nor the next.
        check("<p>1.79<sup hidden>9</sup>é", &["1.79é"]);
        check("<p>1.79<sup style='display:none'>9</sup>9", &["1.799"]);
        check("<p>19<sup hidden>99</sup> €", &["19 €"]);
    }

    #[test]
    fn hostile_cents_take_linear_time() {
        for piece in [
            "<sup>99</sup>",
            "1<span>99",
            "<span>35</span><span>00</span>",
            "<sup>9",
            "1<small>99 €</small>",
            "<sup>99</",
        ] {
            drop(texts(&piece.repeat(300_000 / piece.len())));
        }
    }
}
