//! Facts that a text repeats: a price in structured data is not reported beside the same price in the text.

use crate::pairing::UnitPair;
use crate::unit_texts::{STRUCTURED_DATA, ShownUnit};
use document::stated::mentions;

/// The most pairs of texts that are searched for the values of facts.
const MAX_SEARCHED: usize = 64;

/// Leaves out facts that the text repeats: a removed text has the old value, and an added text the new one.
pub(crate) fn leave_out(pairs: &mut Vec<UnitPair<'_>>) {
    let is_fact = |pair: &UnitPair<'_>| pair.1.or(pair.0).is_some_and(|unit| unit.place == STRUCTURED_DATA);
    if !pairs.iter().any(is_fact) {
        return;
    }
    let texts: Vec<UnitPair<'_>> = pairs.iter().filter(|pair| !is_fact(pair)).take(MAX_SEARCHED).copied().collect();
    let old: Vec<ShownUnit<'_>> = texts.iter().filter_map(|text| text.0).collect();
    let new: Vec<ShownUnit<'_>> = texts.iter().filter_map(|text| text.1).collect();
    pairs.retain(|pair| !(is_fact(pair) && said(pair.0, &old) && said(pair.1, &new)));
}

/// Whether one of the texts has the value of a fact, if there is a fact.
fn said(fact: Option<ShownUnit<'_>>, texts: &[ShownUnit<'_>]) -> bool {
    fact.is_none_or(|fact| value(fact).is_some_and(|value| texts.iter().any(|text| mentions(text.text, value))))
}

/// The value of a fact. A title has no name and is a text of its own.
fn value(fact: ShownUnit<'_>) -> Option<&str> {
    fact.text.rsplit_once(": ").map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use crate::{Version, diff};
    use page::UrlRules;

    fn reported(old: &str, new: &str) -> Vec<(Option<String>, Option<String>)> {
        static URLS: UrlRules = UrlRules::none();
        let version = |html: &str| Version::new(html.as_bytes(), Some("text/html"), None, &URLS);
        let record = diff(&version(old), &version(new)).record;
        record.changes.into_iter().map(|unit| (unit.before, unit.after)).collect()
    }

    #[test]
    fn a_fact_is_not_reported_beside_the_text_that_says_it() {
        let page = |price: &str, fact: &str, stock: &str| {
            format!(
                "<main><h1>Lamp</h1><p>It costs {price} €.<p>{stock}<p itemprop=offers><meta itemprop=price content={fact}>\
                 <script type=application/ld+json>{{\"offers\":{{\"price\":\"{fact}\",\"availability\":\"{stock}\"}}}}</script>\
                 </main>"
            )
        };
        let pair = |before: &str, after: &str| (Some(before.to_owned()), Some(after.to_owned()));
        let old = page("29,90", "29.90", "InStock");
        assert_eq!(
            reported(&old, &page("24,90", "24.90", "InStock")),
            [pair("It costs 29,90 €.", "It costs 24,90 €.")]
        );
        assert_eq!(
            reported(&old, &page("29,90", "24.90", "InStock")),
            [pair("price: 29.90", "price: 24.90"), pair("offers price: 29.90", "offers price: 24.90")]
        );
        let stock = reported(&old, &page("29,90", "29.90", "OutOfStock"));
        let texts = ["InStock", "OutOfStock"].map(|text| Some(text.to_owned()));
        assert!(
            stock.iter().flat_map(|(old, new)| [old, new]).flatten().all(|text| texts.contains(&Some(text.clone())))
        );
    }
}
