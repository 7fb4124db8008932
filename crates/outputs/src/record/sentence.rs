//! A change as the sentence that a person would write, for the heads of notifications, feeds and lines on a terminal.

use crate::record::change_text::excerpt;
use crate::record::failure;
use crate::record::presence::kind_in_words;
use messages::{ChangeLine, ChangedUnit, NumberOrText, ValueLine, Verdict};

/// The most characters of a title, and of a text that is quoted.
const TITLE_CHARACTERS: usize = 80;
const QUOTE_CHARACTERS: usize = 60;
/// The most characters of the name of a rule, and of a unit that a page states.
const RULE_CHARACTERS: usize = 60;
const UNIT_CHARACTERS: usize = 12;
/// The most values that a sentence gives, and the most triggers.
const MAX_VALUES: usize = 3;
const MAX_TRIGGERS: usize = 3;

/// The values of schema.org that say that something is to be had.
const IN_STOCK: [&str; 5] = ["instock", "limitedavailability", "onlineonly", "instoreonly", "madetoorder"];

/// The sentence with the name of the rule: "Bike pump is no longer in stock, rule products".
pub fn sentence(change: &ChangeLine) -> String {
    match &change.rule {
        Some(rule) if !is_of_sight(change) => {
            format!("{}, rule {}", headline(change), excerpt(rule, RULE_CHARACTERS))
        }
        _ => headline(change),
    }
}

/// The sentence without the name of the rule, unless that is its subject.
pub fn headline(change: &ChangeLine) -> String {
    let page = subject(change);
    match change.verdict {
        Verdict::First => format!("{page} is new here"),
        Verdict::Gone => format!("{page} is gone"),
        Verdict::Forgotten => format!("{page} was forgotten, and what was published of it is to be deleted"),
        Verdict::Failed => format!("Seed {page} cannot be fetched: {}", failure::reason(change)),
        Verdict::Missing => match change.status {
            Some(status) => format!("{page} is not found ({status})"),
            None => format!("{page} is not found"),
        },
        Verdict::Obscured => format!("{page} now shows {} in its place", stand_in(change)),
        Verdict::Redirected => redirected(change, &page),
        Verdict::Unwatched => unwatched(change, &page),
        Verdict::Watched => watched(change, &page),
        Verdict::Returned => match edit(change, &page) {
            Some(edit) => format!("{page} is back; {edit}"),
            None => format!("{page} is back"),
        },
        Verdict::Minor | Verdict::Major => edit(change, &page).unwrap_or_else(|| format!("{page} has changed")),
        Verdict::Unchanged | Verdict::Cosmetic | Verdict::Unknown => format!("{page} was looked at"),
    }
}

/// The title of the page, or its address without the scheme.
fn subject(change: &ChangeLine) -> String {
    let title = change.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    excerpt(title.unwrap_or_else(|| without_scheme(&change.url)), TITLE_CHARACTERS)
}

fn without_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

/// The kind of text served in the page's place.
fn stand_in(change: &ChangeLine) -> &str {
    change.looks_like.as_deref().map_or("something else", kind_in_words)
}

fn redirected(change: &ChangeLine, page: &str) -> String {
    let address = change.leads_to.as_deref().map_or("another page", without_scheme);
    let looks_like = change.looks_like.as_deref().filter(|kind| *kind != "other_page").map(kind_in_words);
    let looks_like = looks_like.map_or(String::new(), |kind| format!(", which looks like {kind}"));
    format!("{page} now leads to {}{looks_like}", excerpt(address, TITLE_CHARACTERS))
}

fn is_of_sight(change: &ChangeLine) -> bool {
    matches!(change.verdict, Verdict::Unwatched | Verdict::Watched)
}

fn rule(change: &ChangeLine) -> String {
    change.rule.as_ref().map_or("The rule".to_owned(), |rule| format!("Rule {}", excerpt(rule, RULE_CHARACTERS)))
}

fn unwatched(change: &ChangeLine, page: &str) -> String {
    let last = change.values.iter().find_map(|value| Some((value, value.before.as_ref()?)));
    let last = last.map_or(String::new(), |(value, before)| format!("; last it was {}", shown(before, value)));
    format!("{} no longer sees {} on {page}{last}", rule(change), parts(&change.lost))
}

fn watched(change: &ChangeLine, page: &str) -> String {
    let now = change.values.iter().find_map(|value| Some((value, value.after.as_ref()?)));
    let now = now.map_or(String::new(), |(value, after)| format!("; now it is {}", shown(after, value)));
    format!("{} sees {} on {page} again{now}", rule(change), parts(&change.found_again))
}

/// Watched parts and triggers, as many as are read easily.
fn parts(lost: &[String]) -> String {
    match lost {
        [] => "something".to_owned(),
        [one] => excerpt(one, QUOTE_CHARACTERS),
        [one, other] => format!("{} and {}", excerpt(one, QUOTE_CHARACTERS), excerpt(other, QUOTE_CHARACTERS)),
        [one, others @ ..] => format!("{} and {} others", excerpt(one, QUOTE_CHARACTERS), others.len()),
    }
}

/// The sentence on an edit: by the values that the rule watches, by the words that came or went, or by the first text.
fn edit(change: &ChangeLine, page: &str) -> Option<String> {
    let mut said: Vec<String> =
        change.values.iter().filter_map(|value| value_change(value, page)).take(MAX_VALUES).collect();
    if said.is_empty() {
        said = change.triggers.iter().take(MAX_TRIGGERS).map(|trigger| words_change(trigger, page)).collect();
        let others = change.triggers.len() - said.len();
        said.extend((others > 0).then(|| format!("and {others} more triggers")));
    }
    if said.is_empty() {
        return text_change(change, page);
    }
    said.dedup();
    Some(said.join("; "))
}

fn value_change(value: &ValueLine, page: &str) -> Option<String> {
    use NumberOrText::{Number, Text};
    let name = excerpt(&value.watch, QUOTE_CHARACTERS);
    match (&value.before, &value.after) {
        (Some(Number(before)), Some(after @ Number(now))) => {
            let is_price = name == "price" || name.starts_with("price[");
            let (verb, way) = if now < before { ("fell", "down") } else { ("rose", "up") };
            let from = number(*before, value);
            Some(match is_price {
                true => format!("{page} now costs {}, {way} from {from}", shown(after, value)),
                false => format!("{name} of {page} {verb} from {from} to {}", shown(after, value)),
            })
        }
        (before, Some(Text(now))) if value.watch.starts_with("availability") => {
            let was_in = matches!(before, Some(Text(before)) if is_in_stock(before));
            Some(match (was_in, is_in_stock(now)) {
                (false, true) => format!("{page} is in stock"),
                (true, false) => format!("{page} is no longer in stock"),
                _ => format!("{page} is now {}", words(now)),
            })
        }
        (_, Some(after)) => Some(match &value.before {
            Some(before) => format!("{name} of {page} is now {}, it was {}", shown(after, value), shown(before, value)),
            None => format!("{name} of {page} is {}", shown(after, value)),
        }),
        (_, None) => None,
    }
}

/// Whether a value is one of these, as an address or in words. "Not in stock" only ends like one.
fn is_in_stock(value: &str) -> bool {
    let name = value.trim().trim_end_matches('/').rsplit(['/', '#']).next().unwrap_or_default();
    let name = name.strip_prefix("schema:").unwrap_or(name);
    let bare: String = name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    IN_STOCK.contains(&&*bare)
}

/// A value of a vocabulary in words: `OutOfStock` is "out of stock".
fn words(value: &str) -> String {
    excerpt(&document::stated::words_of_value(value).to_lowercase(), QUOTE_CHARACTERS)
}

/// The sentence on a trigger about words.
fn words_change(trigger: &str, page: &str) -> String {
    let (is_gone, words) = match (trigger.strip_prefix("not:"), trigger.strip_prefix("words:")) {
        (Some(words), _) => (true, words.trim()),
        (_, Some(words)) => (false, words.trim()),
        (None, None) => (false, trigger.trim()),
    };
    // These read as what a thing is.
    let is_state =
        matches!(words, "in stock" | "sold out" | "available" | "out of stock" | "unavailable" | "back in stock");
    match (is_state, is_gone) {
        (true, false) => format!("{page} is {words}"),
        (true, true) => format!("{page} is no longer {words}"),
        (false, false) => format!("{page} now says “{}”", excerpt(words, QUOTE_CHARACTERS)),
        (false, true) => format!("{page} no longer says “{}”", excerpt(words, QUOTE_CHARACTERS)),
    }
}

/// The sentence on the texts that changed.
fn text_change(change: &ChangeLine, page: &str) -> Option<String> {
    let count = change.changes.len() + usize::try_from(change.left_out).unwrap_or(0);
    let is_short = |side: &Option<String>| side.as_ref().is_none_or(|text| text.chars().count() <= QUOTE_CHARACTERS);
    match &change.changes[..] {
        [] => None,
        [unit] if count == 1 && is_short(&unit.before) && is_short(&unit.after) => Some(unit_change(unit, page)),
        _ if change.verdict == Verdict::Major => Some(format!("{page} has changed a lot, in {}", places(count))),
        _ => Some(format!("{page} has changed in {}", places(count))),
    }
}

fn unit_change(unit: &ChangedUnit, page: &str) -> String {
    match (&unit.before, &unit.after) {
        (Some(before), Some(after)) => format!("{page} says “{after}” in place of “{before}”"),
        (None, Some(after)) => format!("{page} has a new text: “{after}”"),
        (Some(before), None) => format!("{page} has no longer the text “{before}”"),
        (None, None) => format!("{page} has changed"),
    }
}

fn places(count: usize) -> String {
    if count == 1 { "one place".to_owned() } else { format!("{count} places") }
}

fn shown(side: &NumberOrText, value: &ValueLine) -> String {
    match (side, value.unit.as_deref()) {
        (NumberOrText::Number(it), Some("%")) => format!("{} %", number(*it, value)),
        (NumberOrText::Number(it), Some(unit)) => {
            format!("{} {}", number(*it, value), excerpt(unit, UNIT_CHARACTERS))
        }
        (NumberOrText::Number(it), None) => number(*it, value),
        (NumberOrText::Text(text), _) => format!("“{}”", excerpt(text, QUOTE_CHARACTERS)),
    }
}

/// A number, with two decimals if it is money and one of the two has cents.
fn number(number: f64, value: &ValueLine) -> String {
    let is_money = value.unit.as_deref().is_some_and(|unit| unit != "%");
    let cents = |side: &Option<NumberOrText>| match side {
        Some(NumberOrText::Number(side)) => {
            let hundredths = 100.0 * side;
            side.fract() != 0.0 && (hundredths - hundredths.round()).abs() < 1e-6
        }
        Some(NumberOrText::Text(_)) | None => false,
    };
    let whole = |side: &Option<NumberOrText>| match side {
        Some(NumberOrText::Number(side)) => side.fract() == 0.0,
        Some(NumberOrText::Text(_)) | None => true,
    };
    let sides = [&value.before, &value.after];
    let has_cents = sides.iter().any(|side| cents(side)) && sides.iter().all(|side| cents(side) || whole(side));
    if is_money && has_cents { format!("{number:.2}") } else { number.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::PublishedChange;

    fn change(verdict: Verdict) -> ChangeLine {
        let [_, little] = PublishedChange::examples();
        ChangeLine { verdict, title: Some("Bike pump".to_owned()), rule: Some("products".to_owned()), ..little.line }
    }

    fn value(watch: &str, before: Option<NumberOrText>, after: Option<NumberOrText>, unit: &str) -> ValueLine {
        let unit = Some(unit.to_owned()).filter(|unit| !unit.is_empty());
        ValueLine { watch: watch.to_owned(), before, after, unit }
    }

    fn number(number: f64) -> Option<NumberOrText> {
        Some(NumberOrText::Number(number))
    }

    fn text(text: &str) -> Option<NumberOrText> {
        Some(NumberOrText::Text(text.to_owned()))
    }

    #[test]
    fn values_make_the_sentence() {
        let check = |values: Vec<ValueLine>, expected: &str| {
            let line = ChangeLine { values, triggers: vec!["price below 100".to_owned()], ..change(Verdict::Minor) };
            assert_eq!(sentence(&line), expected);
        };
        let price = || value("price", number(121.55), number(99.0), "EUR");
        let stock = || value("availability", text("InStock"), text("OutOfStock"), "");
        check(vec![price()], "Bike pump now costs 99.00 EUR, down from 121.55, rule products");
        check(vec![stock()], "Bike pump is no longer in stock, rule products");
        check(
            vec![value("availability", text("https://schema.org/SoldOut"), text("InStock"), "")],
            "Bike pump is in stock, rule products",
        );
        check(
            vec![value("availability", text("In stock"), text("Not in stock"), "")],
            "Bike pump is no longer in stock, rule products",
        );
        check(
            vec![value("availability", text("NotInStock"), text("Currently not in stock"), "")],
            "Bike pump is now currently not in stock, rule products",
        );
        check(
            vec![value("availability", text("schema:SoldOut"), text("schema:InStock"), "")],
            "Bike pump is in stock, rule products",
        );
        check(
            vec![value("availability", text("OutOfStock"), text("PreOrder"), "")],
            "Bike pump is now pre order, rule products",
        );
        check(
            vec![price(), stock()],
            "Bike pump now costs 99.00 EUR, down from 121.55; Bike pump is no longer in stock, rule products",
        );
        check(vec![value("seats", number(3.0), number(5.0), "")], "seats of Bike pump rose from 3 to 5, rule products");
        check(
            vec![value("discount", number(5.0), number(7.5), "%")],
            "discount of Bike pump rose from 5 to 7.5 %, rule products",
        );
        check(
            vec![value("price", number(1.819), number(1.799), "EUR")],
            "Bike pump now costs 1.799 EUR, down from 1.819, rule products",
        );
        check(
            vec![value(".left", text("Only 3 left"), text("Sold out"), "")],
            ".left of Bike pump is now “Sold out”, it was “Only 3 left”, rule products",
        );
    }

    #[test]
    fn triggers_and_texts_make_the_sentence_where_no_value_does() {
        let fired =
            |trigger: &str| headline(&ChangeLine { triggers: vec![trigger.to_owned()], ..change(Verdict::Minor) });
        assert_eq!(fired("not: in stock"), "Bike pump is no longer in stock");
        assert_eq!(fired("in stock"), "Bike pump is in stock");
        assert_eq!(fired("registration open"), "Bike pump now says “registration open”");
        assert_eq!(fired("not: operational"), "Bike pump no longer says “operational”");
        let unit = |before: &str, after: &str| ChangedUnit {
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
            place: String::new(),
        };
        let edited =
            |changes, left_out| sentence(&ChangeLine { changes, left_out, rule: None, ..change(Verdict::Minor) });
        assert_eq!(edited(vec![unit("Open daily", "Closed")], 0), "Bike pump says “Closed” in place of “Open daily”");
        assert_eq!(edited(vec![unit("Open daily", "Closed")], 3), "Bike pump has changed in 4 places");
        assert_eq!(edited(vec![unit("a", &"long ".repeat(40))], 0), "Bike pump has changed in one place");
        assert_eq!(edited(Vec::new(), 0), "Bike pump has changed");
    }

    #[test]
    fn a_sentence_is_short_however_long_its_texts_are() {
        let long = "日本語 ".repeat(1_000);
        let texts = || ChangeLine {
            title: Some(long.clone()),
            rule: Some(long.clone()),
            triggers: vec![format!("not: {long}"); 60],
            lost: vec![long.clone(); 60],
            leads_to: Some(format!("https://shop.test/{long}")),
            ..change(Verdict::Minor)
        };
        let money = value(&long, number(1.0), number(2.0), &long);
        let state = value("availability", text(&long), text(&long), "");
        let lines = [
            texts(),
            ChangeLine { values: vec![money.clone(); 60], ..texts() },
            ChangeLine { values: vec![state], ..texts() },
            ChangeLine { verdict: Verdict::Unwatched, values: vec![money], ..texts() },
            ChangeLine { verdict: Verdict::Redirected, ..texts() },
        ];
        for line in lines {
            let sentence = sentence(&line);
            assert!(sentence.contains('…') && sentence.chars().count() < 900, "{sentence}");
        }
        let said = headline(&ChangeLine { title: None, triggers: vec![format!("words: {long}"); 5], ..texts() });
        let quoted: String = long.chars().take(QUOTE_CHARACTERS - 1).collect();
        assert_eq!(said, format!("shop.test/lamp now says “{quoted}…”; and 2 more triggers"));
    }

    #[test]
    fn each_verdict_has_its_sentence() {
        let check = |change: ChangeLine, expected: &str| assert_eq!(sentence(&change), expected);
        check(change(Verdict::First), "Bike pump is new here, rule products");
        check(
            ChangeLine { status: Some(404), ..change(Verdict::Missing) },
            "Bike pump is not found (404), rule products",
        );
        check(change(Verdict::Gone), "Bike pump is gone, rule products");
        check(change(Verdict::Returned), "Bike pump is back, rule products");
        let kind = |kind: &str| Some(kind.to_owned());
        let wall = ChangeLine { looks_like: kind("maintenance"), ..change(Verdict::Obscured) };
        check(wall, "Bike pump now shows a page of maintenance in its place, rule products");
        let leads_to = Some("https://shop.test/login".to_owned());
        let login = ChangeLine { leads_to: leads_to.clone(), looks_like: kind("login"), ..change(Verdict::Redirected) };
        check(login, "Bike pump now leads to shop.test/login, which looks like a login, rule products");
        let moved = ChangeLine { leads_to, ..change(Verdict::Redirected) };
        check(moved, "Bike pump now leads to shop.test/login, rule products");
        let lost = ChangeLine {
            lost: vec!["#price".to_owned()],
            values: vec![value("#price", number(24.9), None, "EUR")],
            ..change(Verdict::Unwatched)
        };
        check(lost, "Rule products no longer sees #price on Bike pump; last it was 24.90 EUR");
        let found = ChangeLine {
            found_again: vec!["#price".to_owned(), "#stock".to_owned()],
            values: vec![value("#price", number(24.9), number(20.0), "EUR")],
            ..change(Verdict::Watched)
        };
        check(found, "Rule products sees #price and #stock on Bike pump again; now it is 20.00 EUR");
        let untitled = ChangeLine { title: None, rule: None, ..change(Verdict::Gone) };
        check(untitled, "shop.test/lamp is gone");
    }
}
