//! Edits of things that a page shows by other means than text: fields and buttons, embedded content, struck-through
//! text.

use crate::draw::{Draw, HEX};
use crate::fixtures::rows_with;
use crate::markup::Markup;

/// An offer with a button, or another control.
fn offer(control: &str) -> String {
    format!("\n<div><p>The travel lamp shines for nine hours and is charged by the sun.</p>{control}</div>\n")
}

/// The pair, or the pair turned round: content that appears may disappear as well.
fn either_way(draw: &mut Draw, before: String, after: String) -> (String, String) {
    if draw.below(2) == 0 { (before, after) } else { (after, before) }
}

pub(crate) fn disabled(draw: &mut Draw) -> (String, String) {
    let forms = [
        ["<button type=\"button\">Order</button>", "<button type=\"button\" disabled>Order</button>"],
        ["<button><div>Order</div></button>", "<button aria-disabled=\"true\"><div>Order</div></button>"],
        ["<input type=\"submit\" value=\"Order\">", "<input type=\"submit\" value=\"Order\" disabled>"],
    ];
    let form = forms[draw.below(forms.len())];
    either_way(draw, offer(form[0]), offer(form[1]))
}

pub(crate) fn button_added(draw: &mut Draw) -> (String, String) {
    let button = ["<button type=\"button\">Register</button>", "<div role=\"button\">Register</div>"][draw.below(2)];
    either_way(draw, offer(""), offer(button))
}

pub(crate) fn button_without_text(draw: &mut Draw) -> (String, String) {
    let words = ["Add to the basket", "Tell me when it is back", "Remember it"];
    let (before, after) = draw.two_below(words.len());
    let button = |word| offer(&format!("<button aria-label=\"{word}\"><svg><path d=\"M0 0h9\"/></svg></button>"));
    (button(words[before]), button(words[after]))
}

fn select(draw: &mut Draw, edit: impl Fn(&mut Vec<String>, usize)) -> (String, String) {
    let options: Vec<String> = rows_with(draw).iter().map(|name| format!("<option>{name}</option>")).collect();
    let mut edited = options.clone();
    edit(&mut edited, draw.below(options.len()));
    let select =
        |options: &[String]| format!("\n<p>Choose: <select name=\"product\">{}</select></p>\n", options.concat());
    (select(&options), select(&edited))
}

pub(crate) fn option_added(draw: &mut Draw) -> (String, String) {
    let (before, after) = select(draw, |options, at| {
        options.remove(at);
    });
    either_way(draw, before, after)
}

pub(crate) fn option_state(draw: &mut Draw) -> (String, String) {
    let state = ["disabled", "selected"][draw.below(2)];
    select(draw, |options, at| options[at] = options[at].replace("<option", &format!("<option {state}")))
}

pub(crate) fn choice(draw: &mut Draw) -> (String, String) {
    let kind = ["checkbox", "radio"][draw.below(2)];
    let field = |state| {
        format!(
            "\n<form action=\"/ask\"><label><input type=\"{kind}\" name=\"news\"{state}> Send me letters</label></form>\n"
        )
    };
    either_way(draw, field(""), field(" checked"))
}

pub(crate) fn field(draw: &mut Draw) -> (String, String) {
    let form = draw.below(3);
    let field = |text: usize| {
        let field = match form {
            0 => format!("<textarea name=\"text\">I order {text} lamps.</textarea>"),
            1 => format!("<input name=\"day\" placeholder=\"not before May {text}\">"),
            _ => format!("<input type=\"tel\" name=\"call\" value=\"030 70{text}\">"),
        };
        format!("\n<form action=\"/ask\">{field}</form>\n")
    };
    let (before, after) = draw.two_below(20);
    (field(before + 10), field(after + 10))
}

pub(crate) fn form_target(draw: &mut Draw) -> (String, String) {
    let (before, after) = draw.two_below(50);
    let form = |number| {
        format!(
            "\n<form action=\"https://pay-{number}.example/order\"><input name=\"card\"><button>Pay</button></form>\n"
        )
    };
    (form(before), form(after))
}

pub(crate) fn embedded(draw: &mut Draw) -> (String, String) {
    let form = draw.below(5);
    let embedded = |name: &str| {
        let element = match form {
            0 => format!("<iframe src=\"https://films.example/embed/{name}\"></iframe>"),
            1 => format!("<video src=\"/films/{name}.mp4\" controls></video>"),
            2 => format!("<audio controls><source src=\"/talks/{name}.mp3\" type=\"audio/mpeg\"></audio>"),
            3 => format!("<object data=\"/plans/{name}.pdf\" type=\"application/pdf\"></object>"),
            _ => format!("<embed src=\"/plans/{name}.pdf\">"),
        };
        format!("\n<p>The hall as it will be: {element}</p>\n")
    };
    (embedded(&draw.token(8, HEX)), embedded(&draw.token(8, HEX)))
}

pub(crate) fn words_of_image(draw: &mut Draw) -> (String, String) {
    let words = ["in service", "out of service", "under repair"];
    let (before, after) = draw.two_below(words.len());
    let sign = format!("/signs/{}.png", draw.token(12, HEX));
    let lift = |words| format!("\n<p>The lift at the northern door: <img src=\"{sign}\" alt=\"{words}\"></p>\n");
    (lift(words[before]), lift(words[after]))
}

pub(crate) fn struck(draw: &mut Draw) -> (String, String) {
    let element = ["s", "del", "strike"][draw.below(3)];
    let price = draw.below(80) + 12;
    let line = |price: String| format!("\n<p>Tickets at the door cost {price} for grown-ups.</p>\n");
    either_way(draw, line(format!("${price}")), line(format!("<{element}>${price}</{element}>")))
}

pub(crate) fn measure(draw: &mut Draw) -> (String, String) {
    let element = ["meter", "progress"][draw.below(2)];
    let (before, after) = draw.two_below(100);
    let bar = |value| format!("\n<p>Seats that are taken: <{element} value=\"{value}\" max=\"100\"></{element}></p>\n");
    (bar(before), bar(after))
}

/// Two sections whose texts change places, while the headings stay.
pub(crate) fn swapped_sections(markup: Markup, draw: &mut Draw) -> (String, String) {
    let texts = ["Open from nine to five.", "Closed for repair until autumn.", "Open to members alone."];
    let (one, other) = draw.two_below(texts.len());
    let sections = |north: &str, south: &str| {
        [("North pool", north), ("South pool", south)]
            .map(|(name, text)| format!("{}{}", markup.heading(name), markup.paragraph(text)))
            .concat()
    };
    (sections(texts[one], texts[other]), sections(texts[other], texts[one]))
}

/// An item that goes from the list under one heading to that under another.
pub(crate) fn item_to_other_list(draw: &mut Draw) -> (String, String) {
    let items = rows_with(draw);
    let moved = draw.below(3);
    let board = |is_done: bool| {
        let list = |done: bool| {
            let is_here = |(number, _): &(usize, &String)| done == (*number >= 3 || (is_done && *number == moved));
            let items: Vec<String> =
                items.iter().enumerate().filter(is_here).map(|(_, item)| format!("Repair: {item}")).collect();
            Markup::Html.list(&items)
        };
        format!("{}{}{}{}", Markup::Html.heading("Planned"), list(false), Markup::Html.heading("Done"), list(true))
    };
    (board(false), board(true))
}
