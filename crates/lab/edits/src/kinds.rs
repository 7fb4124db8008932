//! The kinds of edit: the table of the benchmark.

use crate::draw::Draw;
use crate::editable_page::{Edit, EditablePage};
use crate::fixtures as fixture;
use crate::languages::{LANGUAGES, Language};
use crate::markup::Markup;
use crate::places::Place::{self, Caption, Cell, Heading, Item, Paragraph};
use crate::values::What::{self, Date, Number, Price, Time, Word};
use crate::{controls as control, data, in_place, structure};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The text stands on the real page.
    Real,
    /// The text was put into the main text of the real page, before the edit.
    Inserted,
    /// The text is the page's own where it has one, otherwise inserted.
    Either,
}

/// How an edit of a kind is made. `None` if the page has no place for it.
#[derive(Clone, Copy)]
enum Make {
    /// A value in a block.
    InPlace(What, Place),
    /// A block that is inserted: its text before and after.
    Block(fn(Markup, &mut Draw) -> (String, String)),
    /// The same, with elements that only HTML has.
    HtmlBlock(fn(&mut Draw) -> (String, String)),
    /// A paragraph in another language.
    Translated(&'static Language),
    /// Anything else.
    Page(fn(&EditablePage, &mut Draw) -> Option<Edit>),
}

pub(crate) struct EditKind {
    pub(crate) name: &'static str,
    pub(crate) origin: Origin,
    make: Make,
}

const fn kind(name: &'static str, origin: Origin, make: Make) -> EditKind {
    EditKind { name, origin, make }
}

const fn block(name: &'static str, make: fn(Markup, &mut Draw) -> (String, String)) -> EditKind {
    kind(name, Origin::Inserted, Make::Block(make))
}

const fn html(name: &'static str, make: fn(&mut Draw) -> (String, String)) -> EditKind {
    kind(name, Origin::Inserted, Make::HtmlBlock(make))
}

const fn page(name: &'static str, origin: Origin, make: fn(&EditablePage, &mut Draw) -> Option<Edit>) -> EditKind {
    kind(name, origin, Make::Page(make))
}

const fn value(name: &'static str, what: What, place: Place) -> EditKind {
    let origin = match (what, place) {
        (Word | Number, Paragraph | Heading | Item | Cell) => Origin::Either,
        _ => Origin::Inserted,
    };
    kind(name, origin, Make::InPlace(what, place))
}

const fn translated(name: &'static str, number: usize) -> EditKind {
    kind(name, Origin::Inserted, Make::Translated(&LANGUAGES[number]))
}

/// All kinds of edit.
pub(crate) static EDITS: [EditKind; 83] = [
    value("word in a paragraph", Word, Paragraph),
    value("number in a paragraph", Number, Paragraph),
    value("price in a paragraph", Price, Paragraph),
    value("date in a paragraph", Date, Paragraph),
    value("time in a paragraph", Time, Paragraph),
    value("word in a heading", Word, Heading),
    value("number in a heading", Number, Heading),
    value("price in a heading", Price, Heading),
    value("date in a heading", Date, Heading),
    value("time in a heading", Time, Heading),
    value("word in an item", Word, Item),
    value("number in an item", Number, Item),
    value("price in an item", Price, Item),
    value("date in an item", Date, Item),
    value("time in an item", Time, Item),
    value("word in a cell", Word, Cell),
    value("number in a cell", Number, Cell),
    value("price in a cell", Price, Cell),
    value("date in a cell", Date, Cell),
    value("time in a cell", Time, Cell),
    value("word in a caption", Word, Caption),
    value("number in a caption", Number, Caption),
    value("price in a caption", Price, Caption),
    value("date in a caption", Date, Caption),
    value("time in a caption", Time, Caption),
    page("word behind 32 KiB of text", Origin::Real, in_place::far_word),
    page("item added", Origin::Either, structure::item_added),
    page("item removed", Origin::Either, structure::item_removed),
    page("item moved", Origin::Either, structure::item_moved),
    page("row added", Origin::Either, structure::row_added),
    page("row removed", Origin::Either, structure::row_removed),
    page("row moved", Origin::Either, structure::row_moved),
    block("two values swapped between rows", fixture::swapped),
    block("stock cell, as another row says", fixture::stock),
    block("opening hours in a table", fixture::hours),
    block("link added to a list of links", fixture::link_added),
    block("link removed from a list of links", fixture::link_removed),
    block("target changed in a list of links", fixture::link_target),
    page("target changed in a paragraph", Origin::Real, structure::target),
    block("?v= of a link", fixture::video),
    block("mail address of a link", fixture::mail),
    block("order number", fixture::order_number),
    block("IBAN", fixture::iban),
    block("checksum", fixture::checksum),
    page("fee in a second column", Origin::Inserted, structure::column),
    html("date in the header of an article", fixture::article_header),
    html("button", fixture::button),
    html("option of a select", fixture::option),
    html("image", fixture::image),
    html("button that is disabled or not", control::disabled),
    html("button that comes or goes", control::button_added),
    html("button without text", control::button_without_text),
    html("option that comes or goes", control::option_added),
    html("option disabled or selected", control::option_state),
    html("choice that is made or not", control::choice),
    html("text of a field", control::field),
    html("target of a form", control::form_target),
    html("film, frame or file that is embedded", control::embedded),
    html("words of an image", control::words_of_image),
    html("price struck through or not", control::struck),
    html("bar that measures", control::measure),
    block("texts swapped between headings", control::swapped_sections),
    html("item moved under another heading", control::item_to_other_list),
    html("price in JSON-LD", fixture::json_ld),
    page("title", Origin::Real, structure::title),
    page("description in the head", Origin::Inserted, structure::head_description),
    translated("edit in German", 0),
    translated("edit in French", 1),
    translated("edit in Spanish", 2),
    translated("edit in Russian", 3),
    translated("edit in Chinese", 4),
    translated("edit in Japanese", 5),
    translated("edit in Korean", 6),
    translated("edit in Arabic", 7),
    translated("edit in Hebrew", 8),
    page("value in JSON", Origin::Real, data::json_value),
    page("status of one JSON element", Origin::Inserted, data::json_status),
    page("feed: item added", Origin::Real, data::item_added),
    page("feed: item with a known title added", Origin::Real, data::item_repeated),
    page("feed: title changed", Origin::Real, data::title),
    page("feed: description changed", Origin::Either, data::description),
    page("feed: file of an item", Origin::Inserted, data::enclosure),
    page("XML: attribute", Origin::Inserted, data::attribute),
];

impl EditKind {
    /// An edit of this kind, if the page has a place for one.
    pub(crate) fn edit(&self, page: &EditablePage, mut draw: Draw) -> Option<Edit> {
        let draw = &mut draw;
        let inserted = |draw: &mut Draw, (before, after): (String, String)| {
            page.anchor(draw).map(|at| Edit::of_inserted(at, before, after))
        };
        match self.make {
            Make::InPlace(what, place) => in_place::edit(page, what, place, draw),
            Make::Block(make) => {
                let blocks = make(page.markup()?, draw);
                inserted(draw, blocks)
            }
            Make::HtmlBlock(make) if page.markup() == Some(Markup::Html) => {
                let blocks = make(draw);
                inserted(draw, blocks)
            }
            Make::HtmlBlock(_) => None,
            Make::Translated(language) => {
                let (before, after) = language.pair(draw);
                let blocks = match page.markup()? {
                    Markup::Html => [before, after].map(|text| format!("\n<p {}>{text}</p>\n", language.attributes())),
                    markup => [before, after].map(|text| markup.paragraph(&text)),
                };
                inserted(draw, blocks.into())
            }
            Make::Page(make) => make(page, draw),
        }
    }
}
