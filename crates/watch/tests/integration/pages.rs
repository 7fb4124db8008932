//! Stock on whole pages: buttons, cells, headings and facts beside each other.

use document::Body;
use settings::Rule;
use watch::{Sight, WatchMemory, WatchRule};

fn rule(watch: &[&str], trigger: &str) -> WatchRule {
    let watch = watch.iter().map(|part| (*part).to_owned()).collect();
    let text = Rule { pages: vec!["*".to_owned()], watch, trigger: vec![trigger.to_owned()], ..Rule::default() };
    WatchRule::new(text).expect("the rule is right")
}

fn sight(html: &str, watch: &[&str]) -> Sight {
    let rule = rule(watch, "in stock");
    let body = Body::new(html.as_bytes(), Some("text/html; charset=utf-8"), None);
    rule.sights(&body.with_selection(rule.selection()).blocks())[0].1
}

fn check(html: &str, expected: Sight) {
    assert_eq!(sight(html, &[]), expected, "{html}");
}

#[test]
fn an_offer_to_be_notified_is_no_stock() {
    check("<p>Out of stock</p><button>Notify me when back in stock</button>", Sight::Words(false));
    check("<p>Ausverkauft</p><button>Benachrichtigen, wenn wieder lieferbar</button>", Sight::Words(false));
    check("<p>In stock</p><button>Add to basket</button>", Sight::Words(true));
    check("<button>Notify me when in stock</button>", Sight::Words(false));
}

#[test]
fn a_cell_answers_the_one_before_it() {
    check("<table><tr><td>In stock<td>No<tr><td>Colour<td>red</table>", Sight::Words(false));
    check("<table><tr><td>In stock<td>Yes</table>", Sight::Words(true));
    check("<table><tr><td>Auf Lager<td>0</table>", Sight::Words(false));
    check("<table><tr><td>Lagerbestand<td>12 Stück</table>", Sight::Words(true));
    check("<dl><dt>Availability<dd>Out of stock</dl>", Sight::Words(false));
    check("<div>In stock:</div><div>No</div>", Sight::Words(false));
    check("<p>In stock</p><p>0</p>", Sight::Words(true));
}

#[test]
fn other_products_are_not_this_one() {
    let related = "<h2>Similar products</h2><ul><li>Clip lamp: in stock<li>Tin lamp: sold out</ul>";
    check(&format!("<h1>Lamp</h1><p>Sold out</p>{related}"), Sight::Words(false));
    check(&format!("<h1>Lamp</h1><p>In stock</p>{related}"), Sight::Words(true));
    check(&format!("{related}<h2>Lamp</h2><p>In stock"), Sight::Words(true));
    check("<p>Sold out</p><aside><p>Clip lamp: in stock</aside>", Sight::Words(false));
    check("<p>Sold out</p><p>Clip lamp: in stock", Sight::Unclear);
}

#[test]
fn one_row_in_stock_is_enough() {
    check("<ul><li>S: sold out<li>M: in stock</ul>", Sight::Words(true));
    check("<ul><li>S: sold out<li>M: sold out</ul>", Sight::Words(false));
}

#[test]
fn facts_of_several_equal_things_are_not_those_of_the_page() {
    let fact = |name: &str, state: &str| {
        format!(
            "<script type=application/ld+json>{{\"@type\":\"Product\",\"name\":\"{name}\",\"offers\":\
             {{\"availability\":\"https://schema.org/{state}\"}}}}</script>"
        )
    };
    let seen = |html: &str| sight(html, &["fact:availability"]);
    let page = |first, second| format!("{}{}<p>Lamp", fact("Desk lamp", first), fact("Clip lamp", second));
    assert_eq!(seen(&page("OutOfStock", "InStock")), Sight::Several);
    assert_eq!(seen(&page("InStock", "InStock")), Sight::Several);
    assert_eq!(seen(&fact("Lamp", "SoldOut")), Sight::Words(false));
    assert_eq!(seen(&fact("Lamp", "PreOrder")), Sight::Words(false));
    assert_eq!(seen(&fact("Lamp", "LimitedAvailability")), Sight::Words(true));
    let offers = fact("Lamp", "OutOfStock") + &fact("Lamp", "InStock");
    assert_eq!(seen(&offers), Sight::Words(true), "two offers for one thing");
    let variants = "<script type=application/ld+json>{\"@type\":\"ProductGroup\",\"name\":\"Lamp\",\"hasVariant\":[\
        {\"@type\":\"Product\",\"name\":\"Lamp, red\",\"offers\":{\"availability\":\"https://schema.org/OutOfStock\"}},\
        {\"@type\":\"Product\",\"name\":\"Lamp, blue\",\"offers\":{\"availability\":\"https://schema.org/InStock\"}}]}</script>";
    assert_eq!(seen(variants), Sight::Words(true), "one of two variants");
}

/// The looks at which a trigger fires, by their numbers from 1.
fn fired(watch: &[&str], versions: &[&str]) -> Vec<usize> {
    let rule = rule(watch, "in stock");
    let mut memory = WatchMemory::default();
    let mut look = |html: &str| {
        let body = Body::new(html.as_bytes(), Some("text/html; charset=utf-8"), None);
        !rule.look(&body.with_selection(rule.selection()).blocks(), &mut memory).is_empty()
    };
    (1..).zip(versions).filter(|(_, html)| look(html)).map(|(number, _)| number).collect()
}

#[test]
fn a_restock_fires_once_whatever_is_unclear_between() {
    let [out, unclear, stocked] = ["<p>Sold out", "<p>In stock?", "<p>In stock"];
    assert_eq!(fired(&[], &[out, out, stocked, stocked]), [3]);
    assert_eq!(fired(&[], &[unclear, unclear, stocked]), [3], "it was not known to be in stock");
    assert_eq!(fired(&[], &[out, unclear, stocked]), [3]);
    assert_eq!(fired(&[], &[stocked, unclear, stocked]), [0; 0]);
    let button = "<p>Out of stock<p><button>Notify me when back in stock</button>";
    assert_eq!(fired(&[], &[button, button, stocked]), [3]);
}
