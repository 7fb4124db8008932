//! The parts of a document that are read, and those that are left out.

use crate::writer::{MANNERS, Making, Manner, Part, document};
use document::NotRead;

const MAKING: Making = Making { manner: Manner::Lines, day: 1, is_packed: true, has_furniture: true };

fn long_document() -> Vec<Part> {
    let sentence = "The keeper of the lock writes down the name of each boat, its length and its home port. ";
    let paragraph = |number: usize| Part::Paragraph(format!("Number {number}. {}", sentence.repeat(4).trim_end()));
    let mut parts = vec![Part::Heading("Locks and bridges".into())];
    parts.extend((1..=30).map(paragraph));
    parts.push(Part::Row(vec!["Canoe".into(), "free".into()]));
    parts.push(Part::Row(vec!["Barge".into(), "40.00 EUR".into()]));
    parts.push(Part::Link("Timetable of bridges".into(), "https://port.test/bridges?a=1&b=2".into()));
    parts
}

#[test]
fn paragraphs_headings_rows_and_links_are_distinguished() {
    for manner in MANNERS {
        let html = pdf_html::html(document("Bridges & locks", &long_document(), Making { manner, ..MAKING })).unwrap();
        assert!(
            html.contains("<title>Bridges &amp; locks</title>") && html.contains("<html lang=\"en-GB\">"),
            "{html}"
        );
        assert!(html.contains("<h2>Locks and bridges</h2>") || html.contains("<h1>Locks and bridges</h1>"), "{html}");
        assert_eq!(html.matches("<p>Number ").count(), 30, "{html}");
        assert!(html.contains("<tr><td>Barge</td><td>40.00 EUR</td></tr>"), "{html}");
        assert!(html.contains("<a href=\"https://port.test/bridges?a=1&amp;b=2\">Timetable of bridges</a>"), "{html}");
    }
}

#[test]
fn numbers_of_pages_and_dates_are_left_out_and_heads_are_kept_once() {
    let html = pdf_html::html(document("", &long_document(), MAKING)).unwrap();
    for absent in ["Page 1", "of 3", "Writer", "2026"] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
    let head = "<p>Harbour office, list of the year</p>";
    assert_eq!((html.matches("Harbour office").count(), html.contains(head)), (1, true), "{html}");
}

#[test]
fn a_paragraph_goes_on_over_a_page() {
    // Pages end within paragraphs, and each paragraph has its four sentences.
    let html = pdf_html::html(document("", &long_document(), MAKING)).unwrap();
    for paragraph in html.split("<p>Number ").skip(1) {
        let text = paragraph.split("</p>").next().unwrap();
        assert_eq!(text.matches("home port.").count(), 4, "{text}");
    }
}

#[test]
fn bytes_that_are_no_document_and_documents_without_text_are_not_read() {
    assert_eq!(pdf_html::html(b"%PDF-1.7 nothing".to_vec()), Err(NotRead::Damaged));
    assert_eq!(pdf_html::html(Vec::new()), Err(NotRead::Damaged));
    let without_text = document("Pictures", &[], Making { has_furniture: false, ..MAKING });
    assert_eq!(pdf_html::html(without_text), Err(NotRead::NoText));
}
