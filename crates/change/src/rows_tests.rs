//! Reports of rows that no element names.

use crate::{Version, diff};
use page::UrlRules;

fn reported(old: &str, new: &str) -> Vec<String> {
    static URLS: UrlRules = UrlRules::none();
    let version = |html: &str| Version::new(format!("<main>{html}</main>").as_bytes(), Some("text/html"), None, &URLS);
    let record = diff(&version(old), &version(new)).record;
    let line = |text: &Option<String>| text.clone().unwrap_or_default();
    record
        .changes
        .iter()
        .map(|unit| format!("{}: {} → {}", unit.place, line(&unit.before), line(&unit.after)))
        .collect()
}

/// Cards of three boats with a state each.
fn cards(card: impl Fn(&str, &str) -> String, states: [&str; 3]) -> String {
    let boats = ["Swan", "Duck", "Goose"].into_iter().zip(states);
    format!("<div>{}</div><p>Boats are for hire.", boats.map(|(name, state)| card(name, state)).collect::<String>())
}

#[test]
fn a_state_that_moves_to_another_card_is_reported_with_both_names() {
    let shapes: [fn(&str, &str) -> String; 9] = [
        |name, state| format!("<div><div>{name}</div><div>{state}</div></div>"),
        |name, state| format!("<div><h3>{name}</h3><p>{state}</p></div>"),
        |name, state| format!("<div><p>New</p><h3>{name}</h3><p>{state}</p></div>"),
        |name, state| format!("<div role=row><div role=cell>{name}</div><div role=cell>{state}</div></div>"),
        |name, state| format!("<p><b>{name}</b><br>{state}</p>"),
        |name, state| format!("<article><div><a href=/{name}>{name}</a></div><div>{state}</div></article>"),
        |name, state| format!("<a href=/{name}><div>{name}</div><div>{state}</div></a>"),
        |name, state| format!("<li><span>For two</span><div><a href=/{name}>{name}</a></div><div>{state}</div></li>"),
        |name, state| format!("<div><div>{name}</div><ul><li>{state}</ul><a href=/{name}>Details</a></div>"),
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let old = cards(shape, ["on the lake", "sold out", "at the pier"]);
        let new = cards(shape, ["on the lake", "at the pier", "sold out"]);
        let expected = ["Duck: sold out → at the pier", "Goose: at the pier → sold out"];
        assert_eq!(reported(&old, &new), expected, "shape {number}");
        let new = cards(shape, ["on the lake", "sold out", "under repair"]);
        assert_eq!(reported(&old, &new), ["Goose: at the pier → under repair"], "shape {number}");
    }
}

#[test]
fn a_card_with_a_badge_or_without_an_image_is_like_the_others() {
    let shape = |name: &str, state: &str| {
        let before = if name == "Duck" { "<p>New" } else { "<div><img src=/boat.jpg></div>" };
        format!("<div>{before}<h3>{name}</h3><p>{state}</p></div>")
    };
    let [old, new] = ["sold out", "at the pier"].map(|state| cards(shape, ["at the pier", state, "on the lake"]));
    assert_eq!(reported(&old, &new), ["Duck: sold out → at the pier"]);
}

#[test]
fn an_advertisement_among_cards_or_in_a_row_changes_no_other_text() {
    let advertisement = "<div><a href=/ad>Shoes for every road</a><p>Order now.</p></div>";
    let card = |name: &str, _: &str| format!("<section><h3>{name}</h3><p>on the lake</p></section><!--{name}-->");
    let item = |name: &str, _: &str| format!("<li><p>{name}</p><p>on the lake</p><!--{name}--></li>");
    for page in [cards(card, [""; 3]), cards(item, [""; 3])] {
        let new = page.replace("<!--Duck-->", advertisement);
        let texts = ["/ad", "Shoes for every road", "Order now."];
        let is_of_advertisement = |line: &String| texts.iter().any(|text| line.ends_with(text));
        let reported = reported(&page, &new);
        assert!(reported.iter().all(is_of_advertisement), "{reported:?}");
    }
}

#[test]
fn rows_of_cards_are_no_cards() {
    let card = |name: &str, price: u8| format!("<div><h3>{name}</h3><p>{price} euro</p></div>");
    let grid = |price| {
        let row = |names: [&str; 3], price| names.map(|name| card(name, price)).concat();
        let rows = [row(["Swan", "Duck", "Goose"], 5), row(["Heron", "Crane", "Stork"], price)];
        rows.map(|row| format!("<section><div>{row}</div></section>")).concat()
    };
    let expected = ["Heron: 8 euro → 9 euro", "Crane: 8 euro → 9 euro", "Stork: 8 euro → 9 euro"];
    assert_eq!(reported(&grid(8), &grid(9)), expected);
}

/// Two weeks, with an event on one day.
fn calendar(event: u8, cell: fn(u8, &str) -> String) -> String {
    let week = |first: u8| {
        let days = (first..first + 7).map(|day| cell(day, if day == event { "Choir" } else { "" }));
        format!("<tr>{}</tr>", days.collect::<String>())
    };
    format!("<h2>May</h2><table>{}{}</table><p>Come and see.", week(8), week(15))
}

#[test]
fn an_event_that_moves_is_reported_with_its_days() {
    let plain = |day: u8, event: &str| format!("<td>{day} {event}</td>");
    let expected = ["May: 12 Choir → 12", "May: 17 → 17 Choir"];
    assert_eq!(reported(&calendar(12, plain), &calendar(17, plain)), expected);
    let expected = ["May: 12 Choir → 12", "May: 13 → 13 Choir"];
    assert_eq!(reported(&calendar(12, plain), &calendar(13, plain)), expected);
    let nested = |day: u8, event: &str| match event {
        "" => format!("<td><div>{day}</div></td>"),
        event => format!("<td><div>{day}</div><ul><li>{event}</ul></td>"),
    };
    assert_eq!(reported(&calendar(12, nested), &calendar(17, nested)), ["12 → 17: Choir → Choir"]);
}

#[test]
fn the_order_of_a_list_is_reported_whatever_its_items_are() {
    let list = |names: [&str; 3], item: fn(&str) -> String| {
        format!(
            "<h2>Jobs</h2><ul>{}</ul><p>We hire at the lake all year, also those who never rowed a boat.",
            names.map(item).concat()
        )
    };
    let items: [fn(&str) -> String; 3] = [
        |name| format!("<li>{name}"),
        |name| format!("<li><a href=/{name}>{name}</a>"),
        |name| format!("<li><div><a href=/{name}>{name}</a></div><div>full time</div>"),
    ];
    for item in items {
        let reported = reported(&list(["Cook", "Guard", "Rower"], item), &list(["Rower", "Cook", "Guard"], item));
        assert_eq!(reported, ["Jobs: Cook, Guard, Rower → Rower, Cook, Guard"]);
    }
}
