//! Brings the text of all blocks into the form in which it is shown, and moves the places in it along.

use crate::blocks::block::Blocks;
use crate::unseen::{may_hold_unseen, shown};

impl Blocks {
    /// The blocks without signs that cannot be seen. Most pages have none.
    pub(super) fn into_shown(mut self) -> Self {
        if !may_hold_unseen(&self.text) {
            return self;
        }
        let old = std::mem::take(&mut self.text);
        let mut text = String::with_capacity(old.len());
        let (mut read, mut stated, mut was_emptied) = (0, 0, false);
        for (index, block) in self.list.iter_mut().enumerate() {
            // A line that nothing is left of ends with the one before it.
            text.push_str(if was_emptied { "" } else { &old[read..block.text.start] });
            let (place, start) = (block.text.clone(), text.len());
            text.push_str(shown(&old[place.clone()]).trim());
            block.text = start..text.len();
            was_emptied = block.text.is_empty() && (was_emptied || !place.is_empty());
            read = place.end;
            if block.text.len() != place.len() {
                block.anchor_bytes = block.anchor_bytes * block.text.len() / place.len().max(1);
            }
            while let Some(value) = self.stated.get_mut(stated).filter(|value| value.block == index) {
                let moved = |at: usize| (start + shown(&old[place.start..at]).len()).min(text.len());
                value.place = text.floor_char_boundary(moved(value.place.start))
                    ..text.floor_char_boundary(moved(value.place.end));
                stated += 1;
            }
        }
        text.push_str(&old[read..]);
        Self { text, ..self }
    }
}

#[cfg(test)]
mod tests {
    use crate::blocks::Blocks;

    #[test]
    fn texts_and_the_values_in_them_are_those_that_are_shown() {
        let page = "<title>Ca\u{ad}fe\u{301}</title><p>Kaf&shy;fee\u{200b}<p>\u{feff}<p><a href=/b>e\u{301}x</a> <img src=/i alt='o\u{ad}k'>\
                    <p>Price&#8203; <b itemprop=price>1\u{200b}9,90 \u{20ac}</b>";
        let blocks = Blocks::of_html(page);
        let texts: Vec<_> = blocks.list.iter().map(|block| blocks.text(block)).collect();
        assert_eq!(texts, ["Kaffee", "", "éx", "Price 19,90 €", "Café"]);
        assert_eq!(blocks.all_text(), "Kaffee\néx\nPrice 19,90 €\nCafé\n");
        assert!(blocks.list[2].is_links());
        assert_eq!(blocks.href(1), "/i “ok”");
        let places: Vec<_> =
            blocks.stated.iter().map(|stated| blocks.all_text()[stated.place.clone()].trim()).collect();
        assert_eq!(places, ["19,90 €", "Café"]);
    }
}
