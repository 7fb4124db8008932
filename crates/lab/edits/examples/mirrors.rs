//! Prints the table of mirrors of docs/MEASUREMENTS.md: `mirrors [SHARE]` makes copies of the real pages of
//! `$RECRAWL_CORPORA` and searches for them, with SHARE (.8) of their links as the least of copies by links.

use anyhow::Context;
use edits::{MirrorRow, measure_mirrors, mirror_total, real_pages};
use mirrors::Threshold;
use settings::Settings;

fn main() -> anyhow::Result<()> {
    let share = std::env::args().nth(1).unwrap_or_else(|| ".8".to_owned());
    let links = Threshold::of_decimal(&share, false).context("the share is a number such as .8")?;
    let pages = real_pages().context("the corpora are missing; set RECRAWL_CORPORA")?;
    let rows = measure_mirrors(&pages, links, &Settings::default().urls.rules());
    println!("{} pages, copies by links from {share} on", pages.len());
    println!(
        "| copies | of | by text | wrong | by links | wrong | by both | wrong |\n|---|---|---|---|---|---|---|---|"
    );
    for row in rows.iter().chain([&mirror_total(&rows)]) {
        print(row);
    }
    let total = mirror_total(&rows);
    let [texts, links, both] = total.by.map(|found| {
        format!("precision {:.4}, recall {:.4}", found.precision(), found.found as f64 / total.mirrors as f64)
    });
    println!("by text: {texts}\nby links: {links}\nby both: {both}");
    Ok(())
}

fn print(row: &MirrorRow) {
    let cells: Vec<String> = row.by.iter().map(|found| format!("{} | {}", found.found, found.wrong)).collect();
    println!("| {} | {} | {} |", row.name, row.mirrors, cells.join(" | "));
}
