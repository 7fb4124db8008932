//! Texts that moved to another heading.

use crate::order::Order;
use crate::unit_texts::UnitTexts;
use crate::version::UnitKey;
use document::text_hash;

/// The texts that moved to another heading, as the removed and the added unit. Both versions have the text and both
/// headings. A text that appears in one section more or less did not move.
pub(crate) fn moved(old: &UnitTexts, new: &UnitTexts) -> Vec<(UnitKey, UnitKey)> {
    // On most pages nothing moved.
    if !old.any_under_other_heading(new) {
        return Vec::new();
    }
    let went = statements(old, &old.shared_with(new));
    let came = statements(new, &new.shared_with(old));
    let [mut went, mut came] = [only_in(&went, &came), only_in(&came, &went)];
    went.sort_unstable_by_key(|(_, text, _)| *text);
    came.sort_unstable_by_key(|(_, text, _)| *text);
    let mut came = came.into_iter().peekable();
    let pair = |(_, text, key): (u64, u64, UnitKey)| {
        while came.next_if(|(_, other, _)| *other < text).is_some() {}
        came.next_if(|(_, other, _)| *other == text).map(|(.., other)| (key, other))
    };
    let pairs: Vec<(UnitKey, UnitKey)> = went.into_iter().filter_map(pair).collect();
    if pairs.is_empty() { pairs } else { Order::of(old, new).without_those_that_stayed(pairs) }
}

/// The heading of each text with the text, where another version has both; sorted.
fn statements(texts: &UnitTexts, shared: &[bool]) -> Vec<(u64, u64, UnitKey)> {
    let said = texts.in_sections().filter(|(unit, section, ..)| shared[*unit] && shared[*section]);
    let mut said: Vec<_> = said.map(|(_, _, heading, key, text)| (heading, text_hash(text.as_bytes()), key)).collect();
    said.sort_unstable();
    said
}

/// The statements of the first list without as many of the same in the other.
fn only_in(of: &[(u64, u64, UnitKey)], without: &[(u64, u64, UnitKey)]) -> Vec<(u64, u64, UnitKey)> {
    let said = |(heading, text, _): &(u64, u64, UnitKey)| (*heading, *text);
    let mut others = without.iter().map(said).peekable();
    let is_alone = |one: &&(u64, u64, UnitKey)| {
        while others.next_if(|other| *other < said(one)).is_some() {}
        others.next_if(|other| *other == said(one)).is_none()
    };
    of.iter().filter(is_alone).copied().collect()
}

#[cfg(test)]
mod tests {
    use crate::{Version, diff};
    use page::UrlRules;

    fn reported(old: &str, new: &str) -> Vec<String> {
        static URLS: UrlRules = UrlRules::none();
        let version = |html: &str| Version::new(html.as_bytes(), Some("text/html"), None, &URLS);
        let record = diff(&version(old), &version(new)).record;
        let reported =
            record.changes.into_iter().map(|unit| format!("{}: {}", unit.place, unit.after.unwrap_or_default()));
        reported.collect()
    }

    const PAGE: &str = "<main><h1>Pools</h1><h2>North</h2><p>Open all day.<p>Towels are there.<h2>South</h2><p>Closed for repair.\
                        <p>Towels are there.</main><p>Called by telephone.";

    #[test]
    fn a_text_under_another_heading_is_reported() {
        let swapped = PAGE.replace("Open all day", "#").replace("Closed for repair", "Open all day");
        let swapped = swapped.replace('#', "Closed for repair");
        assert_eq!(reported(PAGE, &swapped), ["South → North: Closed for repair.", "North → South: Open all day."]);
        let tables = |one, other| {
            let table = |month, price| {
                format!("<section><header><h2>{month}</h2></header><table><tr><td>Single<td>{price}</table></section>")
            };
            format!("<main>{}{}</main>", table("May", one), table("June", other))
        };
        assert_eq!(reported(&tables("80 €", "95 €"), &tables("95 €", "80 €")).len(), 2);
        let list =
            |open: &str, done: &str| format!("<main><h2>Open</h2><ul>{open}</ul><h2>Done</h2><ul>{done}</ul></main>");
        assert_eq!(
            reported(&list("<li>Paint<li>Floor", "<li>Roof"), &list("<li>Floor", "<li>Roof<li>Paint")),
            ["Open → Done: Paint"]
        );
    }

    #[test]
    fn what_stands_behind_a_section_that_moved_did_not_move() {
        let page =
            |sections: &str| format!("<main><h1>House</h1>{sections}<p>The house is old.<p>It has a garden.</main>");
        let fees = |price| format!("<h2>Fees</h2><p>Adults pay {price} coins.");
        let dogs = "<h2>Dogs</h2><p>Dogs stay outside.";
        let old = page(&format!("{}<p>Children pay nothing.{dogs}", fees(5)));
        let new = page(&format!("{dogs}{}<p>Children pay nothing.", fees(6)));
        assert_eq!(reported(&old, &new), ["Fees: Adults pay 6 coins."]);
        let (old, new) = (page(&format!("{}{dogs}", fees(5))), page(&format!("{dogs}{}", fees(6))));
        assert_eq!(reported(&old, &new), ["Fees: Adults pay 6 coins."]);
        // A heading that moves alone changes what is said below it.
        let list = |texts: &str| format!("<main><h1>Boats</h1><h2>Free</h2>{texts}</main>");
        let (old, new) = (list("<p>Swan<p>Duck<h2>Taken</h2><p>Goose"), list("<p>Swan<h2>Taken</h2><p>Duck<p>Goose"));
        assert_eq!(reported(&old, &new), ["Free → Taken: Duck"]);
    }

    #[test]
    fn a_section_that_moves_or_goes_moves_no_text() {
        let (north, south) = PAGE.split_once("<h2>South").unwrap();
        let (top, north) = north.split_once("<h2>North").unwrap();
        let (south, end) = south.split_once("</main>").unwrap();
        let other_order = format!("{top}<h2>South{south}<h2>North{north}</main>{end}");
        assert!(reported(PAGE, &other_order).is_empty());
        let without = reported(PAGE, &format!("{top}<h2>South{south}</main>{end}"));
        assert!(without.iter().all(|text| !text.contains('→')), "{without:?}");
    }
}
