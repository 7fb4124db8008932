//! How much of the edits and noise is reported at least and at most, where the corpora are at hand.

use archives::Archive;
use edits::{ReportedRow, measure};
use settings::{Layers, Settings};

/// Least percentage of the edits of each kind that are reported: the measured one, rounded down. Raise a limit when the
/// detector does better; the aim is 90 of each and 95 of all.
const EDITS_REPORTED_AT_LEAST: &[(&str, u32)] = &[
    ("word in a paragraph", 99),
    ("number in a paragraph", 100),
    ("price in a paragraph", 100),
    ("date in a paragraph", 100),
    ("time in a paragraph", 100),
    ("word in a heading", 98),
    ("number in a heading", 99),
    ("price in a heading", 99),
    ("date in a heading", 99),
    ("time in a heading", 99),
    ("word in an item", 99),
    ("number in an item", 100),
    ("price in an item", 100),
    ("date in an item", 100),
    ("time in an item", 100),
    ("word in a cell", 100),
    ("number in a cell", 100),
    ("price in a cell", 100),
    ("date in a cell", 100),
    ("time in a cell", 100),
    ("word in a caption", 99),
    ("number in a caption", 100),
    ("price in a caption", 100),
    ("date in a caption", 100),
    ("time in a caption", 100),
    ("word behind 32 KiB of text", 100),
    ("item added", 99),
    ("item removed", 99),
    ("item moved", 98),
    ("row added", 99),
    ("row removed", 99),
    ("row moved", 98),
    ("two values swapped between rows", 100),
    ("stock cell, as another row says", 100),
    ("opening hours in a table", 100),
    ("link added to a list of links", 99),
    ("link removed from a list of links", 99),
    ("target changed in a list of links", 99),
    ("target changed in a paragraph", 100),
    ("?v= of a link", 100),
    ("mail address of a link", 100),
    ("order number", 100),
    ("IBAN", 100),
    ("checksum", 100),
    ("fee in a second column", 99),
    ("date in the header of an article", 100),
    ("button", 100),
    ("option of a select", 100),
    ("image", 100),
    ("button that is disabled or not", 100),
    ("button that comes or goes", 98),
    ("button without text", 100),
    ("option that comes or goes", 98),
    ("option disabled or selected", 100),
    ("choice that is made or not", 100),
    ("text of a field", 100),
    ("target of a form", 100),
    ("film, frame or file that is embedded", 100),
    ("words of an image", 100),
    ("price struck through or not", 100),
    ("bar that measures", 100),
    ("texts swapped between headings", 99),
    ("item moved under another heading", 100),
    ("price in JSON-LD", 100),
    ("title", 100),
    ("description in the head", 100),
    ("edit in German", 100),
    ("edit in French", 100),
    ("edit in Spanish", 100),
    ("edit in Russian", 100),
    ("edit in Chinese", 99),
    ("edit in Japanese", 99),
    ("edit in Korean", 100),
    ("edit in Arabic", 100),
    ("edit in Hebrew", 99),
    ("value in JSON", 100),
    ("status of one JSON element", 100),
    ("feed: item added", 100),
    ("feed: item with a known title added", 100),
    ("feed: title changed", 100),
    ("feed: description changed", 100),
    ("feed: file of an item", 100),
    ("XML: attribute", 100),
];

/// As above, for what is no single edit.
const OTHERS_REPORTED_AT_LEAST: &[(&str, u32)] =
    &[("most of the page changes at every look", 99), ("word in a paragraph, while noise goes on", 100)];

/// Greatest percentage of the looks at noise that are reported as changes, rounded up. Lower a limit when the detector
/// does better; the aim is 5.
const NOISE_REPORTED_AT_MOST: &[(&str, u32)] = &[
    ("counter, its number first", 0),
    ("counter, its number last", 0),
    ("counter, its number second", 0),
    ("counter in Chinese", 0),
    ("counter in Japanese", 0),
    ("age in German", 0),
    ("age in French", 0),
    ("age in Spanish", 0),
    ("age in Russian", 0),
    ("age in Chinese", 0),
    ("age in Japanese", 0),
    ("age in Korean", 0),
    ("age in Arabic", 0),
    ("age in Hebrew", 0),
    ("age in English", 0),
    ("teaser in the main text", 0),
    ("teaser beside the main text", 0),
    ("list of related pages, drawn anew", 1),
    ("quotation of the day", 10),
    ("advertisement", 2),
    ("nonce in an attribute", 0),
    ("class names, drawn anew", 0),
    ("token in a form", 0),
    ("session in a link", 0),
    ("cache-busting in a link", 0),
    ("cache-busting of images", 0),
    ("A/B halves", 9),
    ("two whole versions in turn", 5),
    ("copyright year, of two servers", 5),
    ("build date in a comment", 0),
    ("time of rendering", 0),
    ("countdown", 0),
    ("date and time of the server", 0),
    ("counter in each row", 1),
    ("frame of an advertisement", 0),
    ("film with a signed address", 0),
    ("bar that measures", 0),
    ("words in an empty field", 3),
    ("choice that two servers make otherwise", 9),
    ("session in the target of a form", 0),
    ("words of an advertisement's image", 3),
    ("JSON: time and number of the request", 0),
    ("feed: date of the build", 0),
];

/// As above, over all kinds.
const ALL_EDITS_REPORTED_AT_LEAST: &[(&str, u32)] = &[("all edits", 99)];

/// As above, over all kinds.
const ALL_NOISE_REPORTED_AT_MOST: &[(&str, u32)] = &[("all noise", 1)];

/// Rows on the wrong side of their limit. Every row has a limit, and every limit a row.
fn wrong(rows: &[ReportedRow], limits: &[(&str, u32)], is_wrong: fn(f64, f64) -> bool) -> Vec<String> {
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    assert_eq!(names, limits.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let share = |row: &ReportedRow| row.all().share().unwrap_or_else(|| panic!("{}: on no page", row.name));
    let pairs = rows.iter().zip(limits).filter(|(row, (_, limit))| is_wrong(share(row), f64::from(*limit) / 100.0));
    pairs.map(|(row, (name, limit))| format!("{name}: {} instead of {limit} %", row.all())).collect()
}

#[test]
fn edits_of_each_kind_are_reported_and_noise_is_not() {
    let Some(directory) = corpora::find("content") else { return };
    let layers = Layers { files: &[], environment: std::iter::empty(), overrides: &[] };
    let urls = Settings::from_layers(layers).unwrap().urls.rules();
    let mut archive = Archive::open(&directory, None).unwrap();
    let report = measure(&mut archive, 1, &urls).unwrap();
    assert!(report.known_pages.min(report.held_out_pages) >= 250, "{} {}", report.known_pages, report.held_out_pages);
    for row in report.edits.iter().chain(&report.noise).chain(&report.must_be_reported) {
        assert!(row.known.of.min(row.held_out.of) >= 15, "{}: too few in a half", row.name);
    }
    let mut wrong_rows = wrong(&report.edits, EDITS_REPORTED_AT_LEAST, |share, limit| share < limit);
    wrong_rows.extend(wrong(&report.must_be_reported, OTHERS_REPORTED_AT_LEAST, |share, limit| share < limit));
    wrong_rows.extend(wrong(&report.noise, NOISE_REPORTED_AT_MOST, |share, limit| share > limit));
    wrong_rows.extend(wrong(&[report.all_edits()], ALL_EDITS_REPORTED_AT_LEAST, |share, limit| share < limit));
    wrong_rows.extend(wrong(&[report.all_noise()], ALL_NOISE_REPORTED_AT_MOST, |share, limit| share > limit));
    assert!(wrong_rows.is_empty(), "{}", wrong_rows.join("\n"));
}
