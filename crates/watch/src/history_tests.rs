//! Rules over many looks: which of them fire, while other things of the page change.

use crate::{WatchMemory, WatchRule};
use document::Body;
use settings::Rule;

/// The numbers of the looks, from 1, at which triggers fire, each with the triggers.
fn fired(kind: &str, watch: &[&str], triggers: &[&str], looks: &[String]) -> Vec<(usize, Vec<String>)> {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let text = Rule { pages: list(&["*"]), watch: list(watch), trigger: list(triggers), ..Rule::default() };
    let rule = WatchRule::new(text).unwrap();
    let mut memory = WatchMemory::default();
    let mut look = |body: &String| {
        let body = Body::new(body.as_bytes(), Some(kind), Some("https://shop.test/lamp"));
        rule.look(&body.with_selection(rule.selection()).blocks(), &mut memory)
    };
    (1..).zip(looks).map(|(number, body)| (number, look(body))).filter(|(_, fired)| !fired.is_empty()).collect()
}

fn once(number: usize, trigger: &str) -> Vec<(usize, Vec<String>)> {
    vec![(number, vec![trigger.to_owned()])]
}

fn script(json: &str) -> String {
    format!("<script type=\"application/ld+json\">{json}</script>")
}

fn offer(name: &str, price: u32, stock: &str) -> String {
    format!(
        r#"{{"@type":"Product","name":"{name}","offers":{{"@type":"Offer","price":{price},"availability":"https://schema.org/{stock}"}}}}"#
    )
}

/// A list of other lamps, which is drawn anew at each look.
fn carousel(look: u32) -> String {
    let item = |nth: u32| {
        let stock = if (look + nth).is_multiple_of(2) { "InStock" } else { "OutOfStock" };
        offer(&format!("Other {nth}"), 5 + (look * 7 + nth * 13) % 70, stock)
    };
    let items: Vec<String> = (1..4).map(|nth| format!(r#"{{"@type":"ListItem","item":{}}}"#, item(nth))).collect();
    script(&format!(r#"{{"@type":"ItemList","itemListElement":[{}]}}"#, items.join(",")))
}

#[test]
fn a_rate_in_json_fires_when_it_crosses_its_threshold_and_never_by_its_decimals() {
    let rates = ["1.08", "1.085", "1.0912", "1.1", "1.095", "1.07", "1.075", "1.08", "1.088", "1.04", "1.045", "1.06"];
    let looks = rates.map(|rate| format!("{{\"base\":\"EUR\",\"rate\":{rate}}}"));
    let triggers = ["rate below 1.05", "rate above 100"];
    for watch in [&["/rate"][..], &[]] {
        assert_eq!(fired("application/json", watch, &triggers, &looks), once(10, "rate below 1.05"));
    }
}

#[test]
fn a_price_of_fuel_fires_by_its_thousandths() {
    let looks =
        ["1.819", "1.799"].map(|price| script(&format!(r#"{{"@type":"Product","offers":{{"price":{price}}}}}"#)));
    assert_eq!(fired("text/html", &["fact:price"], &["price below 1.8"], &looks), once(2, "price below 1.8"));
}

#[test]
fn a_price_that_falls_fires_once_whatever_a_carousel_shows() {
    for is_first in [true, false] {
        let page = |look: u32| {
            let lamp = script(&offer("Desk lamp", if look < 19 { 24 } else { 19 }, "InStock"));
            if is_first { carousel(look) + &lamp } else { lamp + &carousel(look) }
        };
        let looks: Vec<String> = (1..25).map(page).collect();
        for watch in [&["fact:price"][..], &[]] {
            assert_eq!(fired("text/html", watch, &["price below 20"], &looks), once(19, "price below 20"));
        }
    }
}

#[test]
fn something_is_back_in_stock_beside_things_that_always_are() {
    let page = |look: u32| {
        let stock = if look < 7 { "OutOfStock" } else { "InStock" };
        format!("{}{}<p>Order", script(&offer("Desk lamp", 24, stock)), carousel(look))
    };
    let looks: Vec<String> = (1..13).map(page).collect();
    assert_eq!(fired("text/html", &["fact:availability"], &["in stock"], &looks), once(7, "in stock"));
}

#[test]
fn cents_above_the_line_are_part_of_the_price() {
    let looks = ["$1,299<sup>99</sup>", "$1,299<sup>99</sup>", "$1,099<sup>00</sup>"];
    let looks = looks.map(|price| format!("<main><p class=price>{price}</p></main>"));
    assert_eq!(fired("text/html", &[".price"], &["price below 1200"], &looks), once(3, "price below 1200"));
}

#[test]
fn variants_in_another_order_fire_nothing() {
    let page = |look: usize| {
        let mut offers = [r#"{"sku":"S","price":18}"#, r#"{"sku":"M","price":24}"#, r#"{"sku":"L","price":30}"#];
        offers.rotate_left(look % 3);
        script(&format!(r#"{{"@type":"Product","name":"Lamp","offers":[{}]}}"#, offers.join(",")))
    };
    let looks: Vec<String> = (1..13).map(page).collect();
    let triggers = ["price below 20", "price falls", "price rises", "price above 29"];
    assert_eq!(fired("text/html", &["fact:price"], &triggers, &looks), []);
}

#[test]
fn a_main_thing_that_is_not_clear_for_a_while_is_remembered() {
    let clear = |price: u32| script(&offer("Desk lamp", price, "InStock"));
    let unclear = script(&format!("[{},{}]", offer("Desk lamp", 9, "InStock"), offer("Clip lamp", 8, "InStock")));
    let looks = [clear(24), unclear.clone(), clear(23), unclear, clear(19)];
    assert_eq!(fired("text/html", &["fact:price"], &["price below 20"], &looks), once(5, "price below 20"));
}
