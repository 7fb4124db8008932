//! Edits of JSON, feeds and other XML.

use crate::draw::Draw;
use crate::editable_page::{Edit, EditablePage, Form};
use crate::places::{Patch, words};
use crate::values::{other_number, stranger};
use std::ops::Range;

/// The texts of a JSON document, with their keys.
fn json_texts(json: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let mut texts = Vec::new();
    for (at, _) in json.match_indices("\":") {
        let Some(key) = json[..at].rfind('"') else { continue };
        let behind = at + 2;
        let value = behind + (json[behind..].len() - json[behind..].trim_start().len());
        if !json[value..].starts_with('"') {
            continue;
        }
        let Some(length) = json[value + 1..].find('"') else { continue };
        let range = value + 1..value + 1 + length;
        if length > 2 && !json[range.clone()].contains('\\') {
            texts.push((key + 1..at, range));
        }
    }
    texts
}

/// A text of a JSON document: a digit of it if it has one, otherwise all.
pub(crate) fn json_value(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let texts = (page.form == Form::Json).then(|| json_texts(&page.text))?;
    let (_, range) = draw.pick(&texts)?.clone();
    let text = &page.text[range.clone()];
    let patch = match text.find(|character: char| character.is_ascii_digit()) {
        Some(digit) => {
            let place = range.start + digit..range.start + digit + 1;
            Patch::new(place.clone(), other_number(&page.text[place], draw))
        }
        None => Patch::new(range, stranger(draw)),
    };
    Some(Edit::of_page(vec![patch]))
}

/// The status of one of several elements, where another has the same already.
pub(crate) fn json_status(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let open = (page.form == Form::Json).then(|| page.text.find('{'))?? + 1;
    let rest = page.text[open..].trim_start();
    let (down, edited) = draw.two_below(8);
    let sensors = |also: Option<usize>| {
        let sensor = |number: usize| {
            let status = if number == down || Some(number) == also { "down" } else { "ok" };
            format!("{{\"id\": {number}, \"status\": \"{status}\"}}")
        };
        let list: Vec<String> = (0..8).map(sensor).collect();
        let comma = if rest.starts_with('}') { "" } else { "," };
        format!("\"sensors\": [{}]{comma}", list.join(", "))
    };
    Some(Edit::of_inserted(open, sensors(None), sensors(Some(edited))))
}

/// The place of the first item of a feed, and whether it is an Atom feed.
fn first_item(page: &EditablePage) -> Option<(usize, bool)> {
    let find = |mark: &str| (page.form == Form::Feed).then(|| page.text.find(mark)).flatten();
    find("<item>").or_else(|| find("<item ")).map(|at| (at, false)).or_else(|| find("<entry>").map(|at| (at, true)))
}

fn feed_item(is_atom: bool, title: &str, number: usize, description: &str) -> String {
    let link = format!("https://status.example/{number}");
    match is_atom {
        true => format!(
            "<entry><title>{title}</title><link href=\"{link}\"/><id>{link}</id><summary>{description}</summary></entry>\n"
        ),
        false => format!(
            "<item><title>{title}</title><link>{link}</link><guid>{link}</guid><description>{description}</description></item>\n"
        ),
    }
}

/// A new item.
pub(crate) fn item_added(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let (at, is_atom) = first_item(page)?;
    let title = format!("The {} opens in spring", stranger(draw));
    let item = feed_item(is_atom, &title, 1_000 + draw.below(900), "Everybody is welcome on the first day.");
    Some(Edit::of_page(vec![Patch::insert(at, item)]))
}

/// The texts of an element in the items of a feed.
fn in_items(page: &EditablePage, names: &[&str]) -> Vec<Range<usize>> {
    let Some((from, _)) = first_item(page) else { return Vec::new() };
    let mut found = Vec::new();
    for name in names {
        for (at, _) in page.text[from..].match_indices(&format!("<{name}")) {
            let tag = from + at;
            let Some(open) = page.text[tag..].find('>').map(|length| tag + length + 1) else { continue };
            let Some(close) = page.text[open..].find("</").map(|length| open + length) else { continue };
            found.push(open..close);
        }
    }
    found
}

/// A new item with the title of an earlier one, as reports of maintenance have.
pub(crate) fn item_repeated(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let (at, is_atom) = first_item(page)?;
    let titles = in_items(page, &["title"]);
    let title = page.text[draw.pick(&titles)?.clone()].to_owned();
    let item = feed_item(is_atom, &title, 2_000 + draw.below(900), "This will take some two hours.");
    Some(Edit::of_page(vec![Patch::insert(at, item)]))
}

/// A word of an item's title.
pub(crate) fn title(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    word_of(page, &in_items(page, &["title"]), draw)
}

/// A word of an item's description, if the feed has descriptions; otherwise, of an item that is added.
pub(crate) fn description(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let own = in_items(page, &["description", "summary"]);
    if let Some(edit) = word_of(page, &own, draw) {
        return Some(edit);
    }
    let (at, is_atom) = first_item(page)?;
    let item = |state| feed_item(is_atom, "Trouble with the login", 77, state);
    Some(Edit::of_inserted(at, item("We are looking into it."), item("It was found and repaired.")))
}

/// The file that belongs to an item, as episodes have.
pub(crate) fn enclosure(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let (at, is_atom) = first_item(page)?;
    let (before, after) = draw.two_below(90);
    let item = |number| {
        let file = format!("https://talks.example/{number}.mp3");
        let (element, end) = match is_atom {
            true => (format!("<link rel=\"enclosure\" href=\"{file}\"/>"), "</entry>"),
            false => (format!("<enclosure url=\"{file}\" type=\"audio/mpeg\"/>"), "</item>"),
        };
        feed_item(is_atom, "A talk on bridges", 78, "An hour, with questions.").replace(end, &format!("{element}{end}"))
    };
    Some(Edit::of_inserted(at, item(before), item(after)))
}

fn word_of(page: &EditablePage, texts: &[Range<usize>], draw: &mut Draw) -> Option<Edit> {
    let text = draw.pick(texts)?;
    let words = words(&page.text[text.clone()]);
    let word = draw.pick(&words)?;
    Some(Edit::of_page(vec![Patch::new(text.start + word.start..text.start + word.end, stranger(draw))]))
}

/// An attribute of an element of XML that is no feed. No source has such pages, so a JSON page is written as one.
pub(crate) fn attribute(page: &EditablePage, draw: &mut Draw) -> Option<Edit> {
    let texts = (page.form == Form::Json).then(|| json_texts(&page.text))?;
    let edited = draw.below(texts.len().min(40));
    let document = |edit: bool| {
        let mut xml = "<?xml version=\"1.0\"?>\n<package>\n".to_owned();
        for (number, (key, value)) in texts.iter().take(40).enumerate() {
            let escape = |range: &Range<usize>| page.text[range.clone()].replace('&', "&amp;").replace('<', "&lt;");
            let other = if edit && number == edited { "-2" } else { "" };
            xml.push_str(&format!("  <field name=\"{}\" value=\"{}{other}\"/>\n", escape(key), escape(value)));
        }
        xml + "</package>\n"
    };
    let all = 0..page.text.len();
    (!texts.is_empty()).then(|| Edit {
        before: vec![Patch::new(all.clone(), document(false))],
        after: vec![Patch::new(all, document(true))],
        content_type: Some("application/xml; charset=utf-8"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Half;

    #[test]
    fn texts_of_json_are_found() {
        let json = "{\"a\": \"one two\", \"b\":5, \"c\" : {\"d\":\"three\"}}";
        let texts: Vec<_> = json_texts(json).into_iter().map(|(key, text)| (&json[key], &json[text])).collect();
        assert_eq!(texts, [("a", "one two"), ("d", "three")]);
    }

    #[test]
    fn a_feed_item_is_edited_in_its_title_and_description() {
        let feed = "<rss><channel><title>All</title><item><title>First story</title><description>Nobody knows</description></item>";
        let page = EditablePage::new(String::new(), Half::Known, "application/xml", vec![feed.to_owned()]).unwrap();
        let found = |names: &[&str]| in_items(&page, names).into_iter().map(|range| &feed[range]).collect::<Vec<_>>();
        assert_eq!(found(&["title"]), ["First story"]);
        assert_eq!(found(&["description", "summary"]), ["Nobody knows"]);
    }
}
