//! The numbers and words that triggers see on pages like those of public reports.

use super::*;
use document::Body;
use document::select::{PartUse, Selection};
use proptest::prelude::*;

fn sight_of(kind: &str, trigger: &str, watch: &[&str], body: &str) -> Sight {
    let mut selection = Selection::default();
    watch.iter().for_each(|part| selection.add(PartUse::Watch, part).unwrap());
    let body = Body::new(body.as_bytes(), Some(kind), Some("https://shop.test/lamp")).with_selection(&selection);
    SeenBlocks::new(&body.blocks()).reading(&Trigger::parse(trigger).unwrap()).sight
}

fn sight(trigger: &str, watch: &[&str], html: &str) -> Sight {
    sight_of("text/html", trigger, watch, html)
}

const PRICE: &str = "price below 20";

/// The page that the cases of public reports share.
fn page(watched: &str) -> String {
    format!(
        "<!doctype html><html lang=en><title>Harbour lamps</title><main><h1>Harbour lamps</h1><p class=price>{watched}</p>\
         <p>Visitors can park behind the building, where six places are kept free for them.</main><footer>&copy; 2026</footer>"
    )
}

#[test]
fn a_shown_price_is_read_as_a_buyer_reads_it() {
    let check = |watched: &str, expected: f64| {
        let low = match sight(PRICE, &[".price"], &page(watched)) {
            Sight::Number(value) | Sight::Range { low: value, .. } => Some(value),
            Sight::Nothing | Sight::Words(_) | Sight::Several | Sight::Unclear => None,
        };
        assert_eq!(low, Some(expected), "{watched}");
    };
    check("₹1,29,900.00", 129_900.0);
    check("₹ 1,29,900", 129_900.0);
    check(",89 €", 0.89);
    check("$ .75", 0.75);
    check("12€99", 12.99);
    check("99p", 0.99);
    check("99¢", 0.99);
    check("１，２９９円", 1_299.0);
    check("1万2800円", 12_800.0);
    check("12.99 - 19.99 €", 12.99);
    check("<span>19</span><sup>99</sup> €", 19.99);
    check("$1,299<sup>99</sup>", 1_299.99);
    check("$1,099<sup>00</sup>", 1_099.0);
    check("<span>35</span><span>00</span>", 35.0);
    check("<span>35</span> <span>99</span>", 35.99);
    check("$<span>1,299</span><sup>99</sup>", 1_299.99);
    check("24,90 €", 24.9);
    check("1.299 €", 1_299.0);
    check("1.299,00 €", 1_299.0);
    check("€1,299.00", 1_299.0);
    check("CHF 1'299.–", 1_299.0);
    check("1&nbsp;299,50 kr", 1_299.5);
    check("<s>29,90 €</s> 19,90 €", 19.9);
    check("Price (incl. 19% VAT): 24 €", 24.0);
    check("١٬٢٩٩٫٥٠ ر.س", 1_299.5);
    check("2 lamps for 19,90 €", 19.9);
    check("on offer: £2", 2.0);
}

/// Rows of a language, watched parts, a trigger, what it sees, and a page: HTML of a price, a whole page (`raw`), or JSON.
const SIGHTS: &str = include_str!("cases/sights.tsv");

#[test]
fn every_row_of_the_table_is_seen_as_it_says() {
    for row in SIGHTS.lines().skip(1) {
        let [language, watch, trigger, expected, page] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("a row has five columns: {row}");
        };
        let watch: Vec<&str> = watch.split('|').filter(|part| !part.is_empty()).collect();
        let (kind, page) = match (language, page.starts_with('{')) {
            (_, true) => ("application/json", page.to_owned()),
            ("raw", _) => ("text/html", page.to_owned()),
            _ => ("text/html", format!("<html lang={language}><main><h1>Harbour</h1><p class=price>{page}</p></main>")),
        };
        let seen = match sight_of(kind, trigger, &watch, &page) {
            Sight::Nothing => "-".to_owned(),
            Sight::Number(value) => value.to_string(),
            Sight::Range { low, high } => format!("{low}..{high}"),
            Sight::Words(there) => there.to_string(),
            Sight::Several => "several".to_owned(),
            Sight::Unclear => "unclear".to_owned(),
        };
        assert_eq!(seen, expected, "{row}");
    }
}

#[test]
fn of_a_range_the_end_that_is_compared_counts() {
    let range = Sight::Range { low: 12.99, high: 19.99 };
    for watched in ["12.99 - 19.99 €", "from €12.99 to €19.99", "$12.99–$19.99"] {
        assert_eq!(sight(PRICE, &[".price"], &page(watched)), range, "{watched}");
    }
    let number = |trigger: &str| Trigger::parse(trigger).unwrap().number(range);
    assert_eq!((number(PRICE), number("price above 15")), (Some(12.99), Some(19.99)));
    assert_eq!(Trigger::parse("price above 15").unwrap().holds(range), Some(true));
    assert_eq!(Trigger::parse("price at most 12").unwrap().holds(range), Some(false));
    let aggregate = r#"<script type=application/ld+json>{"@type":"Product","name":"L","offers":{"@type":"AggregateOffer","lowPrice":"12.99","highPrice":19.990}}</script>"#;
    assert_eq!(sight(PRICE, &["fact:price"], aggregate), range);
    assert_eq!(sight(PRICE, &[], aggregate), range);
}

#[test]
fn numbers_of_data_are_read_as_data() {
    let json = |trigger: &str, watch: &[&str], body: &str| sight_of("application/json", trigger, watch, body);
    let check = |body: &str, expected: f64| {
        assert_eq!(json("rate below 1", &["/rate"], body), Sight::Number(expected), "{body}");
        assert_eq!(json("rate below 1", &[], body), Sight::Number(expected), "{body}");
        assert_eq!(json("below 1", &["/rate"], body), Sight::Number(expected), "{body}");
    };
    check(r#"{"base":"EUR","rate":1.08}"#, 1.08);
    check(r#"{"base":"EUR","rate":1.085}"#, 1.085);
    check(r#"{"base":"EUR","rate":1.1}"#, 1.1);
    check(r#"{"base":"2024","rate":1e3}"#, 1_000.0);
    check(r#"{"base":"EUR","rate":"1.085"}"#, 1.085);
    check(r#"{"base":"EUR","rate":-0.125}"#, -0.125);
    assert_eq!(json("rate below 1", &["/rate"], r#"{"rate":"1.085,00"}"#), Sight::Number(1_085.0));
    for (written, expected) in [("1,799.00", 1_799.0), ("19,90", 19.9), ("EUR 19.90", 19.9)] {
        let body = format!("{{\"rate\":\"{written}\"}}");
        assert_eq!(json("rate below 1", &["/rate"], &body), Sight::Number(expected), "{body}");
    }
    assert_eq!(json("rate below 1", &["/rate"], r#"{"rate":"on request"}"#), Sight::Nothing);
    assert_eq!(json("rate below 1", &["/rate"], r#"{"rate":true}"#), Sight::Nothing);
    assert_eq!(json("seats below 1", &["/text"], r#"{"text":"Seats: 12"}"#), Sight::Number(12.0));
    assert_eq!(json("2024 below 1", &[], r#"{"2024":{"price":5}}"#), Sight::Number(5.0));
    let ld = |price: &str| {
        let html = format!(
            "<script type=application/ld+json>{{\"@type\":\"Product\",\"offers\":{{\"price\":{price}}}}}</script>"
        );
        sight("price below 1.8", &["fact:price"], &html)
    };
    assert_eq!(ld("1.799"), Sight::Number(1.799));
    assert_eq!(ld("\"1.799\""), Sight::Number(1.799));
    assert_eq!(ld("\"1.799,00\""), Sight::Number(1_799.0));
    assert_eq!(ld("\"1,799.00\""), Sight::Number(1_799.0));
    assert_eq!(ld("\"€ 19,90\""), Sight::Number(19.9));
    assert_eq!(ld("2.8792e3"), Sight::Number(2_879.2));
    assert_eq!(ld("19,90"), Sight::Number(19.9));
    assert_eq!(sight("price below 2", &[], "<meta itemprop=price content=1.799>"), Sight::Number(1.799));
    assert_eq!(sight("price below 2", &[], "<meta property=og:price:amount content=1.799>"), Sight::Number(1.799));
}

fn script(json: &str) -> String {
    format!("<script type=application/ld+json>{json}</script>")
}

fn product(name: &str, price: u32, stock: &str) -> String {
    format!(
        r#"{{"@type":"Product","name":"{name}","sku":"{}","offers":{{"@type":"Offer","price":{price},"availability":"https://schema.org/{stock}"}}}}"#,
        &name[..1]
    )
}

fn list(items: &[String]) -> String {
    format!(r#"{{"@type":"ItemList","itemListElement":[{}]}}"#, items.join(","))
}

#[test]
fn a_trigger_sees_the_main_thing_beside_a_carousel() {
    let carousel = script(&list(&[product("Clip lamp", 9, "InStock"), product("Tin lamp", 8, "InStock")]));
    for watch in [&["fact:price", "fact:availability"][..], &[]] {
        for stock in ["OutOfStock", "InStock"] {
            let lamp = script(&product("Desk lamp", 24, stock));
            for html in [format!("{carousel}{lamp}<p>Sorry"), format!("{lamp}{carousel}<p>Sorry")] {
                assert_eq!(sight(PRICE, watch, &html), Sight::Number(24.0), "{html}");
                assert_eq!(sight("in stock", watch, &html), Sight::Words(stock == "InStock"), "{html}");
                assert_eq!(sight("not: out of stock", watch, &html), Sight::Words(stock != "InStock"), "{html}");
            }
        }
    }
    // A carousel alone decides nothing.
    assert_eq!(sight(PRICE, &["fact:price"], &carousel), Sight::Several);
    assert_eq!(sight("in stock", &["fact:availability"], &carousel), Sight::Several);
    assert_eq!(sight("sold out", &["fact:availability"], &carousel), Sight::Words(false));
}

#[test]
fn a_rule_can_name_another_thing() {
    let pair = [product("Desk lamp", 24, "InStock"), product("Clip lamp", 9, "OutOfStock")];
    let html = script(&list(&pair));
    let number = |trigger: &str, watch: &[&str]| sight(trigger, watch, &html);
    assert_eq!(number(PRICE, &["fact:price[sku=C]"]), Sight::Number(9.0));
    assert_eq!(number(PRICE, &["fact:price[name=\"clip  LAMP\"]"]), Sight::Number(9.0));
    assert_eq!(number("price[sku=D] below 20", &[]), Sight::Number(24.0));
    assert_eq!(number("price[name=Clip lamp] falls", &["fact:price"]), Sight::Number(9.0));
    assert_eq!(number(PRICE, &["fact:price[sku=C]", "fact:price[sku=D]"]), Sight::Several);
    assert_eq!(number("price[sku=D] below 20", &["fact:price[sku=C]", "fact:price[sku=D]"]), Sight::Number(24.0));
    assert_eq!(number("price[sku=X] below 20", &[]), Sight::Nothing);
    assert_eq!(number("in stock", &["fact:availability[sku=D]"]), Sight::Words(true));
    assert_eq!(number("in stock", &["fact:availability[sku=C]"]), Sight::Words(false));
    let variants = |first: &str, second: &str| {
        script(&format!(r#"{{"@type":"Product","name":"Lamp","offers":[{first},{second}]}}"#))
    };
    let (small, large) = (r#"{"sku":"S","price":18}"#, r#"{"sku":"L","price":24}"#);
    for html in [variants(small, large), variants(large, small)] {
        assert_eq!(sight("price[sku=L] below 20", &[], &html), Sight::Number(24.0));
        assert_eq!(sight(PRICE, &["fact:price[sku=S]"], &html), Sight::Number(18.0));
        assert_eq!(sight(PRICE, &["fact:price"], &html), Sight::Range { low: 18.0, high: 24.0 }, "whatever the order");
    }
}

#[test]
fn what_people_see_of_another_thing_is_passed_over() {
    let item = |name: &str, price: &str| {
        format!(
            "<div itemscope itemtype=//schema.org/Product><b itemprop=name>{name}</b><p itemprop=price>{price}</p></div>"
        )
    };
    let html = format!("<aside>{}</aside>{}", item("Clip lamp", "9,90 €"), item("Desk lamp", "24,90 €"));
    for watch in [&["fact:price"][..], &[]] {
        assert_eq!(sight(PRICE, watch, &html), Sight::Number(24.9), "{watch:?}");
    }
    let equal = item("Clip lamp", "9,90 €") + &item("Desk lamp", "24,90 €");
    assert_eq!(sight(PRICE, &["fact:price"], &equal), Sight::Several);
    assert_eq!(sight(PRICE, &["fact:price[name=Clip lamp]"], &equal), Sight::Number(9.9));
    assert_eq!(sight(PRICE, &["p"], &equal), Sight::Several);
}

#[test]
fn the_page_shows_how_it_writes_numbers() {
    let price = |language: &str, text: &str| sight(PRICE, &[], &format!("<html lang={language}><p>{text}"));
    assert_eq!(price("de", "Diesel: Price 1,799 €"), Sight::Number(1.799));
    assert_eq!(price("en", "Price 1.299 € <p>Lamp 19.90 € <p>Table 2.50 €"), Sight::Number(1.299));
    assert_eq!(price("de", "Price 1.299 € <p>Lamp 19,90 €"), Sight::Number(1_299.0));
    let data = script(r#"{"@type":"Product","name":"Diesel","offers":{"price":1.799}}"#);
    assert_eq!(sight(PRICE, &[".price"], &(data + &page("1,799 €"))), Sight::Number(1.799), "as the data says");
}

proptest! {
    #[test]
    fn the_order_of_variants_decides_nothing(order in Just(vec![3_u32, 18, 24, 30]).prop_shuffle()) {
        let offers: Vec<String> = order.iter().map(|price| format!(r#"{{"sku":"v{price}","price":{price}}}"#)).collect();
        let html = script(&format!(r#"{{"@type":"Product","name":"Lamp","offers":[{}]}}"#, offers.join(",")));
        prop_assert_eq!(sight(PRICE, &["fact:price"], &html), Sight::Range { low: 3.0, high: 30.0 });
    }
}
