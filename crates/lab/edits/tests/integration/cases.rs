//! Cases from public reports of watchers, which lie beside the project ([`corpora::cases`]): two versions of a page or a
//! history of looks at one, and the right report to a watcher.

mod expected;
mod player;
mod table;

use expected::{Expected, fault_of_history, fault_of_pair};
use player::{LookReport, WatchedPage, compiled, content_type_of, play, requests, rule};
use settings::{Layers, Settings};
use std::path::{Path, PathBuf};
use watch::Sight;

/// The cases that fail today. One that begins to hold is taken off the list.
const KNOWN_FAILURES: &[&str] = &["pdf-same-text", "pdf-one-fee", "js-only"];

/// Its own name as the address, so that nothing depends on it.
const ADDRESS: &str = "https://a.test/page";

fn settings() -> Settings {
    Settings::from_layers(Layers { files: &[], environment: std::iter::empty(), overrides: &[] }).unwrap()
}

/// The fault of a case; `None` if it gives its right value.
fn fault(directory: &Path, expected: &Expected) -> Option<String> {
    let urls = settings().urls.rules();
    let rule = rule(directory);
    match expected {
        Expected::Prices => wrong_lines(directory, "prices.tsv", price_is_wrong),
        Expected::Phrases => wrong_lines(directory, "phrases.tsv", phrase_is_wrong),
        Expected::Quiet | Expected::Reported(_) | Expected::ReportedWithoutEqualLines => {
            let [old, new] = ["old", "new"].map(|name| version(directory, name));
            let content_type = content_type_of(&old);
            let mut page = WatchedPage::new(&urls, &content_type, rule.as_ref());
            let mut look = |file: &Path, now_s| page.look(&std::fs::read(file).unwrap(), ADDRESS, now_s).0;
            fault_of_pair(expected, &[look(&old, 0), look(&new, 3_600)])
        }
        _ => {
            let requests = requests(directory);
            // A history with looks a minute later than others has its second looks.
            let has_second_looks = requests.iter().any(|request| request.since_last_s <= 60);
            let ways: &[bool] = if has_second_looks { &[false] } else { &[false, true] };
            ways.iter().find_map(|&with_second_looks| {
                let reports = play(&requests, (&urls, rule.as_ref(), ADDRESS), with_second_looks);
                if std::env::var_os("RECRAWL_CASE").is_some() {
                    print_reports(&reports);
                }
                let fault = fault_of_history(expected, &requests, &reports)?;
                Some(if with_second_looks { format!("with second looks: {fault}") } else { fault })
            })
        }
    }
}

fn print_reports(reports: &[LookReport]) {
    for report in reports.iter().filter(|report| report.is_reported || !report.triggers.is_empty()) {
        println!("    look {}: {} {:?}", report.look, report.text(), report.triggers);
    }
}

/// The file of a pair with this name, whatever its ending.
fn version(directory: &Path, name: &str) -> PathBuf {
    let mut files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.file_stem().is_some_and(|stem| stem == name)).unwrap()
}

/// The lines of a table that give another value than they say.
fn wrong_lines(directory: &Path, table: &str, is_wrong: fn(&[&str]) -> bool) -> Option<String> {
    let table = std::fs::read_to_string(directory.join(table)).unwrap();
    let lines = table.lines().skip(1).filter(|line| is_wrong(&line.split('\t').collect::<Vec<_>>()));
    let wrong: Vec<&str> = lines.collect();
    (!wrong.is_empty()).then(|| format!("{} wrong: {}", wrong.len(), wrong.join("; ")))
}

/// The sight of a trigger on a page that shows this.
fn sight(trigger: &str, html: &str) -> Sight {
    let rule = compiled(&format!("[[rules]]\npages = [\"a.test\"]\nwatch = [\".w\"]\ntrigger = [{trigger:?}]\n"));
    let html = format!("<html lang=en><title>Lamps</title><h1>Lamps</h1><p class=w>{html}</p><p>Made by hand.</p>");
    let body = document::Body::new(html.as_bytes(), Some("text/html; charset=utf-8"), Some(ADDRESS));
    rule.sights(&body.with_selection(rule.selection()).blocks())[0].1
}

fn price_is_wrong(cells: &[&str]) -> bool {
    let expected: f64 = cells[1].parse().unwrap();
    !matches!(sight("price below 1", cells[0]), Sight::Number(seen) | Sight::Range { low: seen, .. } if (seen - expected).abs() < 1e-9)
}

fn phrase_is_wrong(cells: &[&str]) -> bool {
    sight(cells[1], cells[0]) != Sight::Words(cells[2] == "true")
}

/// Prints what is wrong with each case. `RECRAWL_CASE` plays those alone whose names contain it, and prints all reports.
#[test]
fn each_case_of_the_reports_gives_its_right_value() {
    let Some(directory) = corpora::cases() else { return };
    let wanted = std::env::var("RECRAWL_CASE").unwrap_or_default();
    let (mut newly_wrong, mut newly_right) = (Vec::new(), Vec::new());
    for (name, expected) in table::CASES.iter().filter(|(name, _)| name.contains(&wanted)) {
        let fault = fault(&directory.join(name), expected);
        println!("{name:<28} {}", fault.as_deref().unwrap_or("right"));
        match (fault.is_some(), KNOWN_FAILURES.contains(name)) {
            (true, false) => newly_wrong.push(*name),
            (false, true) => newly_right.push(*name),
            _ => {}
        }
    }
    assert!(
        newly_wrong.is_empty() && newly_right.is_empty(),
        "wrong: {newly_wrong:?}; right, take them off: {newly_right:?}"
    );
}

#[test]
fn the_table_names_every_case() {
    let Some(directory) = corpora::cases() else { return };
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let directories = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut there: Vec<String> = directories.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let mut named: Vec<String> = table::CASES.iter().map(|(name, _)| (*name).to_owned()).collect();
    there.sort();
    named.sort();
    assert_eq!(there, named);
}
