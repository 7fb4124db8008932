//! Documents that are edited, and documents that are only made again.

use crate::writer::{MANNERS, Making, Part, document};
use change::{Diff, Version, VersionVerdict, diff};
use document::{Body, NotRead, ReadConfined};
use page::UrlRules;

/// Reads in the process of the test.
#[derive(Debug)]
pub(crate) struct Direct;

impl ReadConfined for Direct {
    fn html(&self, body: &[u8]) -> Result<String, NotRead> {
        pdf_html::html(body.to_vec())
    }
}

pub(crate) fn compared(old: &[u8], new: &[u8]) -> Diff {
    let urls = UrlRules::none();
    let [old, new] = [old, new].map(|bytes| {
        let body = Body::new(bytes, Some("application/pdf"), Some("https://port.test/fees.pdf")).with_reader(&Direct);
        Version::of_body(&body, &urls)
    });
    diff(&old, &new)
}

const SUBJECTS: [&str; 6] =
    ["The harbour office", "A visiting boat", "The crane", "Every berth", "The pilot", "Our slipway"];
const VERBS: [&str; 6] = [
    "opens at nine and closes at",
    "pays a fee that depends on",
    "may be used after asking",
    "is reserved for members of",
    "waits near the northern entrance for",
    "needs a permit that is issued by",
];
const OBJECTS: [&str; 6] = [
    "the length of the mooring",
    "the lock keeper in summer",
    "the association of owners",
    "weather that allows it",
    "half past six on weekdays",
    "the inspector of the district",
];

/// A document of some pages, whose words depend on the number.
fn parts(number: usize) -> Vec<Part> {
    let pick = |list: &[&'static str], at: usize| list[(at * 7 + number * 5 + at / 3) % list.len()];
    let sentence = |at: usize| {
        let (subject, verb, object) = (pick(&SUBJECTS, at), pick(&VERBS, at + 1), pick(&OBJECTS, at + 2));
        format!("{subject} {verb} {object}, as paragraph {} of the rules says.", at * 3 + number)
    };
    let mut parts = Vec::new();
    for section in 0..4 {
        parts.push(Part::Heading(format!("{}. {}", section + 1, pick(&SUBJECTS, section))));
        for paragraph in 0..3 {
            let at = section * 20 + paragraph * 5;
            parts.push(Part::Paragraph((at..at + 4).map(sentence).collect::<Vec<_>>().join(" ")));
        }
        for row in 0..4 {
            let price = format!("{}.50 EUR", 10 + section * 7 + row * 3 + number % 9);
            parts.push(Part::Row(vec![
                format!("Boats up to {} m", 6 + row * 2 + section * 8),
                price,
                "a night".into(),
            ]));
        }
    }
    parts.push(Part::Link("Rules of the port".into(), "https://port.test/rules".into()));
    parts
}

/// An edit: the parts after it, and words that its record shows, in what has come or in what has gone.
fn edited(number: usize, mut parts: Vec<Part>) -> (Vec<Part>, String) {
    let place = (number * 3) % 4 * 8;
    let words = match number % 6 {
        0 => {
            let Part::Row(cells) = &mut parts[place + 5] else { unreachable!("rows stand behind paragraphs") };
            cells[1] = "99.90 EUR".into();
            "99.90"
        }
        1 => {
            let Part::Paragraph(text) = &mut parts[place + 2] else { unreachable!("paragraphs stand behind headings") };
            *text = text.replacen(", as paragraph", " or the deputy, as paragraph", 1);
            "deputy"
        }
        2 => {
            let Part::Paragraph(text) = &mut parts[place + 1] else { unreachable!("paragraphs stand behind headings") };
            text.push_str(" Dogs are kept on a lead between the sheds and the lighthouse.");
            "lighthouse"
        }
        3 => {
            parts.insert(place + 4, Part::Row(vec!["Rafts of scouts".into(), "free".into(), "always".into()]));
            "Rafts of scouts"
        }
        4 => {
            parts.insert(place + 3, Part::Paragraph("Fuel is sold at the western quay, card payments only.".into()));
            "western quay"
        }
        _ => {
            parts[place] = Part::Heading("Winter storage".into());
            "Winter storage"
        }
    };
    (parts, words.to_owned())
}

#[test]
fn edits_are_reported_by_their_words_and_their_place() {
    let (mut missed, mut unplaced, count) = (Vec::new(), Vec::new(), 120);
    for number in 0..count {
        let making = |day| Making {
            manner: MANNERS[number % 4],
            day,
            is_packed: number % 3 == 0,
            has_furniture: number % 5 != 0,
        };
        let (after, words) = edited(number, parts(number));
        let old = document("Port rules", &parts(number), making(1));
        let Diff { verdict, record, .. } = compared(&old, &document("Port rules", &after, making(2)));
        let found = record.changes.iter().find(|unit| unit.after.as_ref().is_some_and(|after| after.contains(&words)));
        let is_reported = matches!(verdict, VersionVerdict::Minor | VersionVerdict::Major) && record.changes.len() <= 3;
        match found.filter(|_| is_reported) {
            None => missed.push(format!("{number} {verdict:?} {words}: {record:?}")),
            // A heading is a place of its own.
            Some(unit) if unit.place.is_empty() && words != "Winter storage" => {
                unplaced.push(format!("{number}: {unit:?}"))
            }
            Some(_) => {}
        }
    }
    assert!((missed.len() + unplaced.len()) * 20 <= count, "missed {missed:#?}\nwithout a place {unplaced:#?}");
}

#[test]
fn documents_that_are_made_again_are_no_change() {
    let mut loud = Vec::new();
    for number in 0..120 {
        let (manner, has_furniture) = (MANNERS[number % 4], number % 5 != 0);
        let [old, new] = [(1, false), (17, true)].map(|(day, is_packed)| {
            document("Port rules", &parts(number), Making { manner, day, is_packed, has_furniture })
        });
        let verdict = compared(&old, &new).verdict;
        assert_ne!(old, new);
        if !matches!(verdict, VersionVerdict::Unchanged | VersionVerdict::Cosmetic) {
            loud.push((number, verdict));
        }
    }
    assert!(loud.is_empty(), "{loud:?}");
}

#[test]
fn the_manner_in_which_a_program_writes_is_no_change() {
    for number in 0..8 {
        let made = MANNERS.map(|manner| {
            let making = Making { manner, day: 1, is_packed: false, has_furniture: true };
            pdf_html::html(document("Port rules", &parts(number), making)).unwrap()
        });
        for (html, manner) in made.iter().zip(MANNERS) {
            assert_eq!(*html, made[0], "{manner:?}");
        }
    }
}
