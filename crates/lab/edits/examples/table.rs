//! Prints the tables of edits, noise and histories of docs/meaningful-change.md: `table [SEED]` makes them on the pages of
//! `$RECRAWL_CORPORA/content`. SEED draws other pages, places and values.

use anyhow::Context;
use archives::Archive;
use edits::{
    HistoryRow, Origin, ReportedRow, changes_on_made_pages, measure, noise_on_made_pages, noise_on_real_pages,
    pairs_on_made_pages,
};
use settings::{Layers, Settings};

/// Widths of the columns.
const WIDTHS: [usize; 6] = [44, 9, 5, 8, 5, 6];

fn main() -> anyhow::Result<()> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse()).context("the seed is no number")?;
    let urls =
        Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] })?.urls.rules();
    let mut archive = Archive::open(&corpora::path("content"), None)?;
    let report = measure(&mut archive, seed, &urls)?;
    let (known, held_out) = (report.known_pages, report.held_out_pages);
    println!("{} pages: {known} known, {held_out} held out", known + held_out);
    print("edits that were reported", &[&report.edits[..], &[report.all_edits()]].concat());
    println!();
    print("noise that was reported", &[&report.noise[..], &[report.all_noise()]].concat());
    println!();
    print("must be reported", &report.must_be_reported);
    print_histories("noise on made pages", &noise_on_made_pages(seed, &urls));
    print_histories("noise on real pages", &noise_on_real_pages(&mut archive, seed, &urls)?);
    print_histories("changes without noise", &changes_on_made_pages(&urls));
    print_histories("pairs of versions", &pairs_on_made_pages(&urls));
    Ok(())
}

fn print_histories(rows_are: &str, rows: &[HistoryRow]) {
    println!("\n| {rows_are} | edits reported | of | noise reported | of |\n|---|---|---|---|---|");
    for HistoryRow { name, edits, noise } in rows.iter().chain([&HistoryRow::total(rows)]) {
        println!("| {name} | {edits} | {} | {noise} | {} |", edits.of, noise.of);
    }
}

fn print(rows_are: &str, rows: &[ReportedRow]) {
    print_line([rows_are, "text", "known", "held out", "all", "of"].map(str::to_owned));
    print_line(WIDTHS.map(|width| "-".repeat(width)));
    for row in rows {
        let origin = match row.origin {
            Origin::Real => "real",
            Origin::Inserted => "inserted",
            Origin::Either => "either",
        };
        let all = row.all();
        let [known, held_out, reported] = [row.known, row.held_out, all].map(|rate| rate.to_string());
        print_line([row.name.to_owned(), origin.to_owned(), known, held_out, reported, all.of.to_string()]);
    }
}

fn print_line(cells: [String; 6]) {
    let cells: Vec<String> = cells.iter().zip(WIDTHS).map(|(cell, width)| format!("{cell:<width$}")).collect();
    println!("| {} |", cells.join(" | "));
}
