//! Data of a page: numbers count by their value, attributes in any order, and what other readers repair is read.

use change::{Diff, Version, VersionVerdict, diff};
use page::UrlRules;

fn compared(kind: &str, old: &str, new: &str) -> Diff {
    static URLS: UrlRules = UrlRules::none();
    let version = |body: &str| Version::new(body.as_bytes(), Some(kind), Some("https://a.test/"), &URLS);
    diff(&version(old), &version(new))
}

fn is_quiet(kind: &str, old: &str, new: &str) {
    for (old, new) in [(old, new), (new, old)] {
        let diff = compared(kind, old, new);
        let is_quiet = matches!(diff.verdict, VersionVerdict::Unchanged | VersionVerdict::Cosmetic);
        assert!(is_quiet && diff.record.changes.is_empty(), "{:?}: {old} -> {new}", diff.verdict);
    }
}

fn is_reported(kind: &str, old: &str, new: &str) -> Vec<(Option<String>, Option<String>)> {
    let diff = compared(kind, old, new);
    assert!(
        matches!(diff.verdict, VersionVerdict::Minor | VersionVerdict::Major),
        "{:?}: {old} -> {new}",
        diff.verdict
    );
    diff.record.changes.into_iter().map(|unit| (unit.before, unit.after)).collect()
}

fn page(head: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>Harbour lamps</title>{head}</head><body><main><h1>Harbour lamps</h1>{body}\
         <p>Visitors can park behind the building, where six places are kept free for them.</main></body></html>"
    )
}

fn with_price(price: &str) -> String {
    let script = format!(
        r#"<script type="application/ld+json">{{"@type":"Product","name":"Desk lamp","offers":{{"price":{price}}}}}</script>"#
    );
    page(&script, "<p>Desk lamp")
}

#[test]
fn numbers_of_equal_value_are_no_change() {
    is_quiet("application/json", r#"{"a":5,"b":1000,"c":0.10}"#, r#"{"a":5.0,"b":1e3,"c":0.1}"#);
    is_quiet("application/json", r#"{"offer":{"price":"24.00"}}"#, r#"{"offer":{"price":24}}"#);
    for price in ["2879.20", "\"2879.2\"", "\"2879.20\"", "2.8792e3", "\"2879.200\""] {
        is_quiet("text/html", &with_price("2879.2"), &with_price(price));
    }
    let meta = |price: &str| page(&format!("<meta property=og:price:amount content={price}>"), "<p>Desk lamp");
    is_quiet("text/html", &meta("24"), &meta("24.00"));
    let item = |price: &str| page("", &format!("<div itemscope><meta itemprop=price content={price}></div>"));
    is_quiet("text/html", &item("24.5"), &item("24.50"));
}

#[test]
fn other_values_and_types_are_a_change() {
    is_reported("application/json", r#"{"a":5}"#, r#"{"a":5.01}"#);
    is_reported("application/json", r#"{"version":"1.1"}"#, r#"{"version":"1.10"}"#);
    assert_eq!(
        is_reported("text/html", &with_price("2879.20"), &with_price("2799.00")),
        [(Some("Desk lamp offers price: 2879.20".to_owned()), Some("Desk lamp offers price: 2799.00".to_owned()))],
        "as the page writes it"
    );
}

#[test]
fn attributes_in_another_order_are_no_change() {
    let old = "<?xml version=\"1.0\"?><a x=\"1\" y=\"2\"><b></b><c>t</c></a>";
    let new = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a y=\"2\" x=\"1\"><b/><c>t</c></a>\n";
    is_quiet("application/xml", old, new);
    is_quiet("application/xml", "<a><b y='2' x='1'>t</b></a>", "<a><b x='1' y='2'>t</b></a>");
    is_reported("application/xml", old, &new.replace("y=\"2\"", "y=\"3\""));
    is_reported("application/xml", old, &new.replace("y=\"2\" x=\"1\"", "y=\"1\" x=\"2\""));
}

#[test]
fn json_ld_as_shops_write_it_is_read() {
    let check = |write: &dyn Fn(&str) -> String| {
        let page =
            |price: &str| page(&format!("<script type=application/ld+json>{}</script>", write(price)), "<p>Lamp");
        let changes = is_reported("text/html", &page("24.00"), &page("19.00"));
        assert_eq!(changes.len(), 1, "{}", write("24.00"));
        is_quiet("text/html", &page("24.00"), &page("24.0"));
    };
    let json =
        |price: &str| format!(r#"{{"@type":"Product","name":"Lamp","offers":{{"@type":"Offer","price":"{price}"}}}}"#);
    check(&|price| json(price).replace("Lamp", "Lamp\nof tin"));
    check(&|price| format!("{};", json(price)));
    check(&|price| json(price).replace("}}", ",}}"));
    check(&|price| format!("<!--\n{}\n-->", json(price)));
    check(&|price| format!("//<![CDATA[\n{}\n//]]>", json(price)));
    check(&|price| format!("/*<![CDATA[*/{}/*]]>*/", json(price)));
    check(&|price| format!("{{\"@type\":\"WebSite\"}}{}", json(price)));
    check(&|price| json(price).replace("\"offers\"", "// what it costs\n\"offers\""));
    check(&|price| json(price).replace('"', "&quot;"));
    let rdfa = |price: &str| {
        page(
            "",
            &format!("<div vocab=https://schema.org/ typeof=Offer><span property=price content={price}></span></div>"),
        )
    };
    assert_eq!(is_reported("text/html", &rdfa("24.00"), &rdfa("19.00")).len(), 1);
}

#[test]
fn cents_above_the_line_are_reported_as_cents() {
    let price = |price: &str| page("", &format!("<p class=price>{price}"));
    let changes = is_reported("text/html", &price("$1,299<sup>99</sup>"), &price("$1,099<sup>00</sup>"));
    assert_eq!(changes, [(Some("$1,299.99".to_owned()), Some("$1,099.00".to_owned()))]);
}

#[test]
fn variants_in_another_order_are_no_change() {
    let offer = |sku: &str, price: u32| format!(r#"{{"sku":"{sku}","price":{price}}}"#);
    let page = |offers: [String; 3]| {
        let json = format!(r#"{{"@type":"Product","name":"Lamp","offers":[{}]}}"#, offers.join(","));
        page(&format!("<script type=application/ld+json>{json}</script>"), "<p>Lamp")
    };
    let [small, medium, large] = [offer("S", 18), offer("M", 24), offer("L", 30)];
    is_quiet("text/html", &page([small.clone(), medium.clone(), large.clone()]), &page([large, small, medium]));
}
