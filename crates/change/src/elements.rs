//! Elements of JSON lists that have no id. Each is reported as one thing, because a single value does not say which element it
//! is of.

use crate::rows::shape;
use chance::splitmix64;
use document::blocks::Blocks;
use std::ops::Range;

/// Between a key and what it leads to.
const KEY_END: &str = ": ";

/// The element that a block is in, if it is in one.
pub(crate) fn element_of(blocks: &Blocks, block: usize) -> Option<&Range<usize>> {
    let behind = blocks.elements.partition_point(|element| element.start <= block);
    let element = blocks.elements.get(behind.checked_sub(1)?)?;
    element.contains(&block).then_some(element)
}

/// The name of an element, from those of its blocks, and its slot: its place and its first value without digits.
pub(crate) fn name_and_slot(blocks: &Blocks, element: &Range<usize>, names: &[u64]) -> (u64, u64) {
    let name = names[element.clone()].iter().fold(0, |name, block| splitmix64(name ^ block));
    let first = &blocks.list[element.start];
    let begins_with = shape(blocks.text(first)).unwrap_or(names[element.start]);
    (name, splitmix64(first.path ^ begins_with))
}

/// Replaces the text by an element's: the keys that lead to it once, and its values with their own keys.
pub(crate) fn send_element(blocks: &Blocks, element: &Range<usize>, reported: &mut String) {
    reported.clear();
    let texts = || blocks.list[element.clone()].iter().map(|block| blocks.text(block));
    let first = texts().next().unwrap_or_default();
    let same = |length: usize, text: &str| {
        first.bytes().zip(text.bytes()).take(length).take_while(|(one, other)| one == other).count()
    };
    let length = first.floor_char_boundary(texts().skip(1).fold(first.len(), same));
    let shared = first[..length].rfind(KEY_END).map_or(0, |at| at + KEY_END.len());
    for text in texts() {
        reported.push_str(if reported.is_empty() { &first[..shared] } else { ", " });
        reported.push_str(&text[shared..]);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Version, diff};
    use page::UrlRules;

    fn reported(old: &str, new: &str) -> Vec<[String; 2]> {
        static URLS: UrlRules = UrlRules::none();
        let version = |json: &str| {
            let json = format!("{{\"title\":\"Water of the lakes\",\"lakes\":{{\"now\":[{json}]}}}}");
            Version::new(json.as_bytes(), Some("application/json"), None, &URLS)
        };
        let changes = diff(&version(old), &version(new)).record.changes.into_iter();
        changes.map(|unit| [unit.before, unit.after].map(Option::unwrap_or_default)).collect()
    }

    const NORTH: &str = r#"{"lake":"North","degrees":18,"wind":{"from":"west","knots":5}}"#;
    const SOUTH: &str = r#"{"lake":"South","degrees":21,"wind":{"from":"east","knots":7}}"#;

    #[test]
    fn an_element_without_an_id_is_reported_as_one_thing() {
        let both = format!("{NORTH},{SOUTH}");
        let south = "lakes: now: degrees: 21, lake: South, wind: from: east, wind: knots: 7";
        assert_eq!(reported(NORTH, &both), [["", south]]);
        assert_eq!(reported(&both, NORTH), [[south, ""]]);
        assert_eq!(reported(&both, &both.replace("21", "22")), [[south, &south.replace("21", "22")]]);
        assert!(reported(&both, &format!("{SOUTH},{NORTH}")).is_empty());
    }

    #[test]
    fn two_values_that_change_places_between_elements_are_reported() {
        let both = format!("{NORTH},{SOUTH}");
        let swapped = both.replace("18", "#").replace("21", "18").replace('#', "21");
        assert_eq!(reported(&both, &swapped).len(), 2);
    }

    #[test]
    fn an_element_with_an_id_is_reported_value_by_value() {
        let sluice = |state: &str| format!(r#"{{"id":"sluice-4","state":"{state}","boats":3}}"#);
        let expected = [["lakes: now: sluice-4: state: open", "lakes: now: sluice-4: state: shut"]];
        assert_eq!(reported(&sluice("open"), &sluice("shut")), expected);
    }
}
