//! Pages that are made to cost as much as they can to compare. The work must be linear in their bytes: one step for each pair
//! of units would make these tests take minutes.

use change::{PageState, Version};
use page::UrlRules;

static URLS: UrlRules = UrlRules::none();
const DAY_S: i64 = 86_400;

/// Looks at the versions in turn, with a day between two looks.
fn look_at_in_turn(kind: &str, versions: &[String]) {
    let mut state = PageState::default();
    for (day, body) in (0_i64..).zip(versions.iter().cycle().take(2 * versions.len())) {
        let version = Version::new(body.as_bytes(), Some(kind), Some("https://a.test/"), &URLS);
        let judgement = state.observe(&version.seen_at(day * DAY_S), (day > 0).then_some(DAY_S));
        assert!(judgement.record.changes.len() <= change::MAX_CHANGED_UNITS);
    }
}

fn html(body: impl Fn(usize) -> String) {
    look_at_in_turn("text/html", &[0, 1, 2].map(|number| format!("<main><h1>All</h1>{}</main>", body(number))));
}

fn repeated(times: usize, piece: impl Fn(usize) -> String) -> String {
    (0..times).map(piece).collect()
}

#[test]
fn lists_that_are_drawn_anew_take_linear_work() {
    let prose = "<p>We keep what you give us for as long as the law asks, and no longer than that.".repeat(5_000);
    html(|look| {
        let link = |list: usize, item: usize| format!("<li><a href=/{look}{list}{item}>{item}</a>");
        let list = |list: usize| format!("<ul>{}{}{}</ul>", link(list, look), link(list, look + 1), link(list, 7));
        format!("{prose}{}", repeated(5_000, list))
    });
}

#[test]
fn texts_with_links_that_are_shaped_anew_take_linear_work() {
    let blank = [" ", "", "\u{a0}"];
    html(|look| repeated(5_000, |n| format!("<p>To{}<a href=/x>x</a><b>{n}</b>", blank[look])));
    let links = |look: usize| format!("<p>All{}of", blank[look]) + &"<a href=/x>x</a>".repeat(10_000);
    html(|look| links(look) + "<p>end");
}

#[test]
fn places_and_forms_that_differ_take_linear_work() {
    html(|look| repeated(500, |n| format!("<p>a{n} {look} b{n} {look} c{n} {look} d{n} {look} e{n} {look} f{n}")));
    html(|look| repeated(20_000, |n| format!("<p>a{n} {look}")));
    html(|look| repeated(20_000, |n| format!("<li>{look}{n}")));
}

#[test]
fn feeds_and_facts_take_linear_work() {
    let item = |look: usize, n: usize| format!("<item><title>{look} {n}</title><link>/{look}/{n}</link></item>");
    let feed = |look: usize| format!("<rss><channel>{}</channel></rss>", repeated(5_000, |n| item(look, n)));
    look_at_in_turn("application/rss+xml", &[0, 1, 2].map(feed));
    let fact = |look: usize, n: usize| format!("<meta itemprop=price{n} content={look}{n}>");
    let text = |look: usize| format!("<p>{}", format!("word {look} ").repeat(1_000));
    let facts = |look: usize| {
        format!("<div itemscope>{}</div>{}", repeated(5_000, |n| fact(look, n)), repeated(60, |_| text(look)))
    };
    html(facts);
}
