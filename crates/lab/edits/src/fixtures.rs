//! Blocks that are put into a page, before and after an edit.

use crate::draw::{CAPITALS, DIGITS, Draw, HEX};
use crate::markup::Markup;
use crate::places::Place;
use crate::values::{What, pair, sentence};

/// Names of rows and items.
const NAMES: [&str; 12] = [
    "Garden room",
    "Harbour hall",
    "Blue kettle",
    "Travel lamp",
    "Oak table",
    "Night train",
    "Canvas bag",
    "Wool blanket",
    "Desk clock",
    "River tour",
    "Field jacket",
    "Copper pan",
];
const DOCUMENTS: [&str; 8] = [
    "Minutes of the board",
    "Annual report",
    "Fee schedule",
    "House rules",
    "Statement on noise",
    "Call for bids",
    "Site plan",
    "List of members",
];

/// Different names in a drawn order.
pub(crate) fn rows_with(draw: &mut Draw) -> Vec<String> {
    drawn(&NAMES, 6, draw)
}

fn drawn(names: &[&str], count: usize, draw: &mut Draw) -> Vec<String> {
    let from = draw.below(names.len());
    (0..count).map(|nth| names[(from + nth) % names.len()].to_owned()).collect()
}

/// A block of a kind that holds a text, with others beside it.
pub(crate) fn element(markup: Markup, place: Place, text: &str, others: &[String]) -> String {
    match place {
        Place::Paragraph => markup.paragraph(text),
        Place::Heading => markup.heading(text),
        Place::Item => {
            let mut items = others.to_vec();
            text.clone_into(&mut items[2]);
            markup.list(&items)
        }
        Place::Cell => {
            let mut rows: Vec<Vec<String>> =
                others.iter().map(|name| vec![name.clone(), "as usual".to_owned()]).collect();
            text.clone_into(&mut rows[3][1]);
            markup.table(&["Name", "Remarks"], &rows)
        }
        Place::Caption => {
            format!(
                "\n<figure><img src=\"/figures/{}.png\" alt=\"\"><figcaption>{text}</figcaption></figure>\n",
                others[0].len()
            )
        }
    }
}

type Rows = Vec<Vec<String>>;

fn price_rows(draw: &mut Draw) -> Rows {
    let names = drawn(&NAMES, 6, draw);
    let form = draw.below(2);
    let mut amount = draw.below(40) + 10;
    let mut row = |name: String| {
        amount += 1 + draw.below(25);
        vec![name, if form == 0 { format!("${amount}.00") } else { format!("{amount},50 €") }]
    };
    names.into_iter().map(&mut row).collect()
}

/// A table of prices in which two rows change places.
pub(crate) fn swapped(markup: Markup, draw: &mut Draw) -> (String, String) {
    let before = price_rows(draw);
    let mut after = before.clone();
    let (one, two) = draw.two_below(before.len());
    after[one][1].clone_from(&before[two][1]);
    after[two][1].clone_from(&before[one][1]);
    let table = |rows: &Rows| markup.table(&["Product", "Price"], rows);
    (table(&before), table(&after))
}

/// A table in which a product is sold out, where another already was.
pub(crate) fn stock(markup: Markup, draw: &mut Draw) -> (String, String) {
    let mut before = price_rows(draw);
    let (out, edited) = draw.two_below(before.len());
    for (number, row) in before.iter_mut().enumerate() {
        row.push(if number == out { "Sold out" } else { "In stock" }.to_owned());
    }
    let mut after = before.clone();
    "Sold out".clone_into(&mut after[edited][2]);
    let table = |rows: &Rows| markup.table(&["Product", "Price", "Stock"], rows);
    (table(&before), table(&after))
}

/// Opening hours by day, one of which changes.
pub(crate) fn hours(markup: Markup, draw: &mut Draw) -> (String, String) {
    let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    let before: Rows = days.iter().map(|day| vec![(*day).to_owned(), "9:00 – 17:00".to_owned()]).collect();
    let mut after = before.clone();
    after[draw.below(6)][1] = format!("{}:00 – {}:00", 10 + draw.below(3), 14 + draw.below(3));
    let table = |rows: &Rows| markup.table(&["Day", "Open"], rows);
    (table(&before), table(&after))
}

/// Links to documents under a sentence.
fn documents(markup: Markup, list: &[(String, String)]) -> String {
    let items: Vec<String> = list.iter().map(|(text, target)| markup.link(text, target)).collect();
    format!("{}{}", markup.paragraph("These documents can be had at the desk, or from here:"), markup.list(&items))
}

fn document_list(draw: &mut Draw) -> Vec<(String, String)> {
    let year = 2018 + draw.below(8);
    let target = |name: &String| format!("/files/{year}/{}.pdf", name.to_lowercase().replace(' ', "-"));
    let names = drawn(&DOCUMENTS, 6, draw);
    names.iter().map(|name| (name.clone(), target(name))).collect()
}

pub(crate) fn link_added(markup: Markup, draw: &mut Draw) -> (String, String) {
    let (removed, added) = link_removed(markup, draw);
    (added, removed)
}

pub(crate) fn link_removed(markup: Markup, draw: &mut Draw) -> (String, String) {
    let before = document_list(draw);
    let mut after = before.clone();
    after.remove(draw.below(before.len()));
    (documents(markup, &before), documents(markup, &after))
}

pub(crate) fn link_target(markup: Markup, draw: &mut Draw) -> (String, String) {
    let before = document_list(draw);
    let mut after = before.clone();
    let edited = draw.below(before.len());
    after[edited].1 = before[edited].1.replace(".pdf", "-revised.pdf");
    (documents(markup, &before), documents(markup, &after))
}

/// A sentence with a link to either of two targets.
fn linked(markup: Markup, before: &str, after: &str, text: &str) -> (String, String) {
    let sentence = |target: &str| markup.paragraph(&format!("{text} {}.", markup.link("here", target)));
    (sentence(before), sentence(after))
}

pub(crate) fn video(markup: Markup, draw: &mut Draw) -> (String, String) {
    let mut target = || format!("https://video.example/watch?v={}", draw.token(11, CAPITALS));
    linked(markup, &target(), &target(), "The recording of the last meeting is")
}

pub(crate) fn mail(markup: Markup, draw: &mut Draw) -> (String, String) {
    let names = ["office", "desk", "sales", "press", "board"];
    let (before, after) = draw.two_below(names.len());
    let [before, after] = [before, after].map(|name| format!("mailto:{}@example.org", names[name]));
    linked(markup, &before, &after, "Questions about the plan are answered")
}

/// A sentence that holds either of two codes.
fn coded(markup: Markup, text: &str, before: &str, after: &str) -> (String, String) {
    let sentence = |code: &str| match markup {
        Markup::Html => markup.paragraph(&format!("{text} <code>{code}</code>")),
        Markup::Lines => markup.paragraph(&format!("{text} {code}")),
    };
    (sentence(before), sentence(after))
}

pub(crate) fn order_number(markup: Markup, draw: &mut Draw) -> (String, String) {
    let mut code = || format!("{}-{}-{}", draw.token(4, CAPITALS), draw.token(6, DIGITS), draw.token(8, CAPITALS));
    let (before, after) = (code(), code());
    coded(markup, "Quote this number when you order spare parts:", &before, &after)
}

pub(crate) fn iban(markup: Markup, draw: &mut Draw) -> (String, String) {
    let spaced = draw.below(2) == 0;
    let mut code = || {
        let digits = draw.token(20, DIGITS);
        let groups: Vec<&str> = (0..5).map(|group| &digits[4 * group..4 * group + 4]).collect();
        format!("DE{}", groups.join(if spaced { " " } else { "" }))
    };
    let (before, after) = (code(), code());
    coded(markup, "Please pay by transfer to this account:", &before, &after)
}

pub(crate) fn checksum(markup: Markup, draw: &mut Draw) -> (String, String) {
    let (before, after) = (draw.token(64, HEX), draw.token(64, HEX));
    coded(markup, "SHA-256 of the archive:", &before, &after)
}

fn date_pair(draw: &mut Draw) -> (String, String) {
    let form = draw.below(3);
    let (before, after) = pair(What::Date, draw);
    (sentence(What::Date, &before, form), sentence(What::Date, &after, form))
}

pub(crate) fn article_header(draw: &mut Draw) -> (String, String) {
    let (before, after) = date_pair(draw);
    let article = |deadline: &str| {
        format!(
            "\n<article><header><h3>Course for beginners</h3><p>{deadline}</p></header>\n<p>The course takes place in the large hall \
             and is led by two teachers, who bring all that is needed.</p>\n<p>Whoever took part in an earlier year pays half of the \
             usual fee and is asked to say so.</p></article>\n"
        )
    };
    (article(&before), article(&after))
}

pub(crate) fn button(draw: &mut Draw) -> (String, String) {
    let words = ["Buy now", "Sold out", "Pre-order", "Join the waiting list", "Not available"];
    let (before, after) = draw.two_below(words.len());
    let offer = |word| {
        format!(
            "\n<div><p>The travel lamp shines for nine hours and is charged by the sun.</p><button type=\"button\">{word}</button></div>\n"
        )
    };
    (offer(words[before]), offer(words[after]))
}

pub(crate) fn option(draw: &mut Draw) -> (String, String) {
    let mut before = rows_with(draw);
    let mut after = before.clone();
    let edited = draw.below(before.len());
    before[edited].push_str(" (in stock)");
    after[edited].push_str(" (sold out)");
    let select = |options: &[String]| {
        let options: String = options.iter().map(|option| format!("<option>{option}</option>")).collect();
        format!("\n<p>Choose a product: <select name=\"product\">{options}</select></p>\n")
    };
    (select(&before), select(&after))
}

pub(crate) fn image(draw: &mut Draw) -> (String, String) {
    let (before, after) = draw.two_below(30);
    let figure = |number| {
        format!("\n<p>The plan of the ground floor: <img src=\"/plans/floor-{number}.png\" alt=\"Plan\"></p>\n")
    };
    (figure(before), figure(after))
}

pub(crate) fn json_ld(draw: &mut Draw) -> (String, String) {
    let (before, after) = draw.two_below(80);
    let script = |price: usize| {
        format!(
            "\n<script type=\"application/ld+json\">{{\"@context\":\"https://schema.org\",\"@type\":\"Product\",\"name\":\"Travel \
             lamp\",\"offers\":{{\"@type\":\"Offer\",\"price\":\"{}.00\",\"priceCurrency\":\"EUR\"}}}}</script>\n",
            price + 15
        )
    };
    (script(before), script(after))
}
