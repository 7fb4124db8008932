//! Whose facts are: pages with carousels, variants, related products, and no main thing.

use super::*;
use crate::Body;
use proptest::prelude::*;

const ADDRESS: &str = "https://www.shop.test/lamps/desk?variant=2";

/// The facts that are stated as data or shown, each with the first sign of its owner.
fn owners_at(html: &str, address: Option<&str>) -> Vec<String> {
    let blocks = Body::new(html.as_bytes(), Some("text/html"), address).blocks();
    let stated = blocks.stated.iter().filter(|stated| {
        let property = stated.property();
        ["price", "lowPrice", "highPrice", "amount", "availability", "datePublished", "eventStatus"].contains(&property)
    });
    let line = |stated: &StatedValue| {
        let sign = match blocks.owner(stated) {
            FactOwner::Main => "M",
            FactOwner::Another => "A",
            FactOwner::Unclear => "U",
            FactOwner::Chosen => "C",
        };
        format!("{sign} {}", &blocks.all_text()[stated.place.clone()].trim())
    };
    stated.map(line).collect()
}

fn check(html: &str, expected: &[&str]) {
    assert_eq!(owners_at(html, Some(ADDRESS)), expected, "{html}");
}

fn script(json: &str) -> String {
    format!("<script type=application/ld+json>{json}</script>")
}

fn product(name: &str, price: u32) -> String {
    format!(r#"{{"@type":"Product","name":"{name}","offers":{{"@type":"Offer","price":{price}}}}}"#)
}

#[test]
fn a_product_owns_its_price_and_a_carousel_does_not() {
    let list = format!(
        r#"{{"@type":"ItemList","itemListElement":[{{"@type":"ListItem","item":{}}},{}]}}"#,
        product("Clip lamp", 9),
        product("Tin lamp", 8)
    );
    let lamp = product("Desk lamp", 24);
    check(&(script(&list) + &script(&lamp)), &["A 9", "A 8", "M 24"]);
    check(&(script(&lamp) + &script(&list)), &["M 24", "A 9", "A 8"]);
    check(&script(&format!("[{list},{lamp}]")), &["A 9", "A 8", "M 24"]);
    check(&script(&format!(r#"{{"@graph":[{list},{lamp}]}}"#)), &["A 9", "A 8", "M 24"]);
    for edge in
        ["isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor", "isConsumableFor", "recommendations", "addOn"]
    {
        let related = lamp.replacen("\"name\"", &format!("\"{edge}\":[{}],\"name\"", product("Clip lamp", 9)), 1);
        check(&script(&related), &["A 9", "M 24"]);
    }
    check(&script(&list), &["U 9", "U 8"]);
    check(&script(&format!(r#"{{"@type":"ItemList","itemListElement":[{lamp}]}}"#)), &["A 24"]);
}

#[test]
fn the_page_names_its_main_thing() {
    let [lamp, clip] = [product("Desk lamp", 24), product("Clip lamp", 9)];
    check(&script(&format!("[{clip},{lamp}]")), &["U 9", "U 24"]);
    check(&script(&format!(r#"[{clip},{{"@type":"ItemPage","mainEntity":{lamp}}}]"#)), &["A 9", "M 24"]);
    let with = |lamp: &str, more: &str| lamp.replacen("\"name\"", &format!("{more},\"name\""), 1);
    let lamp_with = |more: &str| script(&format!("[{clip},{}]", with(&lamp, more)));
    let main = &["A 9", "M 24"];
    check(&lamp_with(r#""url":"https://shop.test/lamps/desk""#), main);
    check(&lamp_with(r#""url":"/lamps/desk?variant=2""#), main);
    check(&lamp_with(r#""@id":"https://www.shop.test/lamps/desk""#), main);
    check(&lamp_with(r#""mainEntityOfPage":{"@id":"https://www.shop.test/lamps/desk#page"}"#), main);
    check(&lamp_with(r#""mainEntityOfPage":true"#), main);
    check(&lamp_with(r#""url":"https://shop.test/lamps/desk?variant=1""#), &["U 9", "U 24"]);
    check(&lamp_with(r#""mainEntityOfPage":"https://shop.test/lamps/other""#), &["U 9", "U 24"]);
    let by_id = format!(
        r##"{{"@graph":[{clip},{},{{"@type":"WebPage","mainEntity":{{"@id":"#lamp"}}}}]}}"##,
        with(&lamp, r##""@id":"#lamp""##)
    );
    check(&script(&by_id), main);
    let canonical = "<link rel=canonical href=https://shop.test/d>";
    check(&(canonical.to_owned() + &lamp_with(r#""url":"https://shop.test/d""#)), main);
    check(&lamp_with(r#""@id":"https://shop.test/lamps/desk#product""#), main);
    // The title and the first heading name it.
    check(&format!("<title>Desk lamp | Shop</title>{}", script(&format!("[{clip},{lamp}]"))), main);
    check(&format!("{}<h1>Desk lamp</h1>", script(&format!("[{clip},{lamp}]"))), main);
    check(&format!("<title>Desk lamps</title>{}", script(&format!("[{clip},{lamp}]"))), &["U 9", "U 24"]);
}

#[test]
fn offers_that_stand_apart_belong_to_the_product_that_mentions_them() {
    let graph = r##"{"@graph":[{"@type":"Offer","@id":"#o","price":24},
        {"@type":"Product","name":"Desk lamp","offers":{"@id":"#o"}},
        {"@type":"Product","name":"Clip lamp","mainEntityOfPage":"https://shop.test/clip","isRelatedTo":{"@id":"#p"}},
        {"@type":"Product","@id":"#p","name":"Tin lamp","offers":{"price":8}}]}"##;
    check(&script(graph), &["M 24", "A 8"]);
    // Two that mention each other.
    let circle = r##"[{"@id":"#a","@type":"Product","offers":{"@id":"#b"}},{"@id":"#b","@type":"Offer","price":5,"itemOffered":{"@id":"#a"}}]"##;
    check(&script(circle), &["M 5"]);
    check(&script(r#"{"@type":"Offer","price":5,"itemOffered":{"@type":"Product","name":"Desk lamp"}}"#), &["M 5"]);
}

#[test]
fn of_several_prices_of_an_offer_the_one_that_is_paid_counts() {
    let offer =
        |inside: &str| script(&format!(r#"{{"@type":"Product","name":"Lamp","offers":{{"@type":"Offer",{inside}}}}}"#));
    check(&offer(r#""price":24,"priceSpecification":{"@type":"UnitPriceSpecification","price":3}"#), &["M 24", "A 3"]);
    check(
        &offer(r#""priceSpecification":[{"price":30,"priceType":"https://schema.org/ListPrice"},{"price":24}]"#),
        &["A 30", "M 24"],
    );
    check(&offer(r#""priceSpecification":{"price":24}"#), &["M 24"]);
    check(&offer(r#""price":24,"shippingDetails":{"@type":"OfferShippingDetails","price":5}"#), &["M 24", "A 5"]);
    let offers = |list: &str| script(&format!(r#"{{"@type":"Product","name":"Lamp","offers":[{list}]}}"#));
    check(
        &offers(
            r#"{"price":24,"itemCondition":"https://schema.org/NewCondition"},{"price":9,"itemCondition":"UsedCondition"}"#,
        ),
        &["M 24", "A 9"],
    );
    check(&offers(r#"{"price":9,"itemCondition":"UsedCondition"}"#), &["M 9"]);
    check(&offers(r#"{"sku":"S","price":18},{"sku":"M","price":24}"#), &["M 18", "M 24"]);
    // The variant of the page's address.
    let variant = |number: u32, price: u32| {
        format!(r#"{{"price":{price},"url":"https://shop.test/lamps/desk?variant={number}"}}"#)
    };
    check(&offers(&format!("{},{}", variant(1, 18), variant(2, 24))), &["A 18", "M 24"]);
    check(&offers(&format!("{},{}", variant(1, 18), variant(3, 24))), &["M 18", "M 24"]);
    check(
        &script(
            r#"{"@type":"ProductGroup","name":"Lamp","hasVariant":[{"@type":"Product","sku":"a","offers":{"price":1}},{"@type":"Product","sku":"b","offers":{"price":2}}]}"#,
        ),
        &["M 1", "M 2"],
    );
}

#[test]
fn metadata_of_the_page_is_its_own() {
    let meta = |name: &str, amount: u32| format!("<meta property={name}:amount content={amount}>");
    check(&meta("og:price", 24), &["M 24"]);
    check(&(meta("product:price", 30) + &meta("product:sale_price", 24)), &["A 30", "M 24"]);
    check(&(meta("product:shipping_cost", 5) + &meta("product:price", 24)), &["A 5", "M 24"]);
    let list = script(&format!("[{},{}]", product("Clip lamp", 9), product("Tin lamp", 8)));
    check(&(meta("og:price", 24) + &list), &["M 24", "U 9", "U 8"]);
    let page = r#"{"@type":"WebPage","datePublished":"2026-01-01"}"#;
    let article = r#"{"@type":"Article","headline":"x","datePublished":"2026-01-02"}"#;
    check(&script(&format!("[{page},{article}]")), &["M 2026-01-01", "M 2026-01-02"]);
}

#[test]
fn the_same_holds_in_microdata_and_rdfa() {
    let item = |name: &str, price: u32| {
        format!(
            "<div itemscope itemtype=https://schema.org/Product><h2 itemprop=name>{name}</h2><div itemprop=offers itemscope>\
             <meta itemprop=price content={price}></div></div>"
        )
    };
    let [lamp, clip] = [item("Desk lamp", 24), item("Clip lamp", 9)];
    check(&lamp, &["M 24"]);
    check(&(lamp.clone() + &clip), &["U 24", "U 9"]);
    check(&format!("{lamp}<aside>{clip}</aside>"), &["M 24", "A 9"]);
    check(&format!("{lamp}<div class='You_may also like'>{clip}</div>"), &["M 24", "A 9"]);
    check(&format!("{lamp}<ul id=related-products><li>{clip}</ul>"), &["M 24", "A 9"]);
    check(&format!("<body class=has-related>{lamp}"), &["M 24"]);
    check(&format!("{}{}", lamp, clip.replacen("itemscope", "itemscope itemprop=isRelatedTo", 1)), &["U 24", "U 9"]);
    let inside = lamp.replacen(
        "</div></div>",
        &format!("</div>{}</div>", clip.replacen("itemscope", "itemscope itemprop=isSimilarTo", 1)),
        1,
    );
    check(&inside, &["M 24", "A 9"]);
    // Without a property, an item inside another one stands by itself.
    check(&lamp.replacen("</div></div>", &format!("</div>{clip}</div>"), 1), &["U 24", "U 9"]);
    check(&format!("{}{lamp}", script(&product("Desk lamp", 24))), &["M 24", "M 24"]);
    check(&format!("{}{lamp}{clip}", script(&product("Desk lamp", 24))), &["M 24", "M 24", "A 9"]);
    let rdfa = |name: &str, price: u32| {
        format!(
            "<div vocab=https://schema.org/ typeof=Product><b property=name>{name}</b><p property=offers typeof=Offer>\
             <span property=price content={price}.00></span><link property=availability href=https://schema.org/InStock></div>"
        )
    };
    check(&rdfa("Desk lamp", 24), &["M 24.00", "M InStock"]);
    check(&(rdfa("Desk lamp", 24) + &rdfa("Clip lamp", 9)), &["U 24.00", "U InStock", "U 9.00", "U InStock"]);
    check("<div typeof=schema:Offer><meta property=schema:price content=5>", &["M 5"]);
    check(
        "<p>a <span itemscope itemtype=Product><span itemprop=name>L</span> <span itemprop=price>5 €</span></span> b",
        &["M 5 €"],
    );
}

#[test]
fn what_is_shown_of_another_thing_is_not_the_pages() {
    let item = |name: &str, price: &str| {
        format!(
            "<div itemscope itemtype=//schema.org/Product><b itemprop=name>{name}</b><p itemprop=price>{price}</p></div>"
        )
    };
    check(&format!("{}<aside>{}</aside>", item("Desk lamp", "24 €"), item("Clip lamp", "9 €")), &["M 24 €", "A 9 €"]);
    check(&(item("Desk lamp", "24 €") + &item("Clip lamp", "9 €")), &["U 24 €", "U 9 €"]);
}

#[test]
fn hostile_things_take_linear_time() {
    let pieces = [
        "<div itemscope itemprop=offers class='a b c'>",
        "<span itemscope>",
        "<span typeof=Product>",
        "<b itemprop=name>",
        "<i property=price content=1>",
        "<div class=x><p itemscope>",
        "<span itemprop=price>1</span>",
    ];
    for piece in pieces {
        drop(owners_at(&piece.repeat(200_000 / piece.len()), Some(ADDRESS)));
    }
    let product = product("Desk lamp", 24);
    drop(owners_at(&script(&format!("[{}]", [product.as_str(); 3_000].join(","))), Some(ADDRESS)));
    let mention = r##"{"@id":"#a","@type":"Product","offers":{"@id":"#b"}},"##;
    drop(owners_at(&script(&format!("[{}]", mention.repeat(4_000))), Some(ADDRESS)));
    let deep = r#"{"name":"a long name of a thing","x":"#.repeat(5_000);
    drop(owners_at(&script(&deep), Some(ADDRESS)));
}

proptest! {
    #[test]
    fn a_main_product_owns_its_price_wherever_the_others_stand(order in Just(vec![0, 1, 2, 3]).prop_shuffle(), price in 1_u32..1_000) {
        let list = |name: &str| format!(r#"{{"@type":"ItemList","itemListElement":[{}]}}"#, product(name, 7));
        let all = [product("Desk lamp", price), list("A"), list("B"), r#"{"@type":"Organization","name":"Shop"}"#.to_owned()];
        let page: String = order.into_iter().map(|index: usize| script(&all[index])).collect();
        let owners = owners_at(&page, None);
        let main: Vec<String> = owners.into_iter().filter(|owner| owner.starts_with('M')).collect();
        prop_assert_eq!(main, vec![format!("M {price}")]);
    }
}
