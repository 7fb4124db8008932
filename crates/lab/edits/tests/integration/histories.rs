//! Holds how much of histories is reported. The aim of each kind: .95 of the edits are reported and .05 of the noise at most. Kinds
//! that miss it are listed in [`below_the_aim`](crate::below_the_aim).

use crate::below_the_aim::{
    ALL_CHANGES, ALL_NOISE, ALL_NOISE_ON_REAL_PAGES, ALL_PAIRS, BelowTheAim, CHANGES, NOISE, NOISE_ON_REAL_PAGES, PAIRS,
};
use archives::Archive;
use edits::{HistoryRow, changes_on_made_pages, noise_on_made_pages, noise_on_real_pages, pairs_on_made_pages};
use page::UrlRules;
use settings::{Layers, Settings};

fn urls() -> UrlRules {
    let layers = Layers { files: &[], environment: std::iter::empty(), overrides: &[] };
    Settings::from_layers(layers).unwrap().urls.rules()
}

/// Percentage of a row's edits, rounded down, and of its noise, rounded up.
fn percentages(row: &HistoryRow) -> (u32, u32) {
    let edits = row.edits.share().map_or(100, |share| (share * 100.0).floor() as u32);
    (edits, row.noise.share().map_or(0, |share| (share * 100.0).ceil() as u32))
}

/// The fault of a row; `None` if it reaches the aim, or its limits if it is on the list.
fn fault(row: &HistoryRow, below_the_aim: &[BelowTheAim]) -> Option<String> {
    let (edits, noise) = percentages(row);
    let reaches_the_aim = edits >= 95 && noise <= 5;
    match below_the_aim.iter().find(|(name, ..)| *name == row.name) {
        Some(_) if reaches_the_aim => Some(format!("reaches the aim, take it off the list: {:?}", row.name)),
        Some((_, least, most)) if edits >= *least && noise <= *most => None,
        None if reaches_the_aim => None,
        _ => Some(format!("    ({:?}, {edits}, {noise}),", row.name)),
    }
}

fn print(rows: &[HistoryRow], total: &HistoryRow) {
    for row in rows.iter().chain([total]) {
        let HistoryRow { name, edits, noise } = row;
        println!("| {name:<78} | {edits:>5} of {:>4} | {noise:>5} of {:>5} |", edits.of, noise.of);
    }
}

/// # Panics
/// If a kind is at fault, or all together miss the limits.
fn assert_none(mut faults: Vec<String>, total: &HistoryRow, (least, most): (u32, u32)) {
    let (edits, noise) = percentages(total);
    if edits < least || noise > most {
        faults.push(format!("all: ({edits}, {noise}) instead of ({least}, {most})"));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Prints the rows, and checks each by the list and all together by their limits.
fn check(rows: &[HistoryRow], below_the_aim: &[BelowTheAim], limits: (u32, u32)) {
    let total = HistoryRow::total(rows);
    print(rows, &total);
    let empty = rows.iter().find(|row| row.edits.of + row.noise.of == 0);
    assert_eq!(empty, None, "a kind without looks");
    let unknown = below_the_aim.iter().find(|(name, ..)| !rows.iter().any(|row| row.name == *name));
    assert_eq!(unknown, None, "a kind of the list has another name");
    assert_none(rows.iter().filter_map(|row| fault(row, below_the_aim)).collect(), &total, limits);
}

#[test]
fn edits_within_each_kind_of_noise_are_reported_and_the_noise_is_not() {
    check(&noise_on_made_pages(1, &urls()), NOISE, ALL_NOISE);
}

#[test]
fn each_change_is_reported_whenever_it_comes() {
    check(&changes_on_made_pages(&urls()), CHANGES, ALL_CHANGES);
}

#[test]
fn what_says_the_same_is_not_reported_and_what_is_hard_to_read_is_reported_in_few_lines() {
    check(&pairs_on_made_pages(&urls()), PAIRS, ALL_PAIRS);
}

/// Kinds that miss the aim on made pages are only printed.
#[test]
fn edits_within_noise_of_real_pages_are_reported_and_the_noise_is_not() {
    let Some(directory) = corpora::find("content") else { return };
    let rows = noise_on_real_pages(&mut Archive::open(&directory, None).unwrap(), 1, &urls()).unwrap();
    let total = HistoryRow::total(&rows);
    print(&rows, &total);
    let hold_on_made_pages = rows.iter().filter(|row| !NOISE.iter().any(|(name, ..)| *name == row.name));
    let faults = hold_on_made_pages.filter_map(|row| fault(row, NOISE_ON_REAL_PAGES)).collect();
    assert_none(faults, &total, ALL_NOISE_ON_REAL_PAGES);
}
