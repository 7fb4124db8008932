//! The changes of a recorded history that a reader would notice, with their extents, as a corpus without bytes.

use archives::{ArchivedPage, CsvTable, JudgedChange, ReadError};
use recrawl::CommandFailure;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Writes `pages.csv` and `changes.csv` of these pages into `to`. A page that came or went has changed wholly.
pub(super) fn write(
    from: &Path,
    to: &Path,
    pages: &[ArchivedPage],
    lines: &[JudgedChange],
) -> Result<(), CommandFailure> {
    let failed =
        |error: &dyn std::fmt::Display| CommandFailure::Input(format!("cannot write {}: {error}", to.display()));
    std::fs::create_dir_all(to).map_err(|error| failed(&error))?;
    let table = |name: &str| csv::Writer::from_path(to.join(name)).map_err(|error| failed(&error));
    let mut rows = table("pages.csv")?;
    rows.write_record(["page_id", "host", "path", "source"]).map_err(|error| failed(&error))?;
    for page in pages {
        let address = page.address.strip_prefix("https://").unwrap_or(&page.address);
        let (host, path) = address.split_at(address.find('/').unwrap_or(address.len()));
        let page_id = page.page_id.to_string();
        rows.write_record([page_id.as_str(), host, path, page.source.as_str()]).map_err(|error| failed(&error))?;
    }
    rows.flush().map_err(|error| failed(&error))?;
    // The last of several versions of one second counts.
    let judged: HashMap<(u32, i64), &JudgedChange> =
        lines.iter().map(|line| ((line.page_id, line.unix_time), line)).collect();
    let wanted: HashSet<u32> = pages.iter().map(|page| page.page_id).collect();
    let mut begun = HashSet::new();
    let mut rows = table("changes.csv")?;
    rows.write_record(["page_id", "unix_time", "kind", "extent"]).map_err(|error| failed(&error))?;
    let mut fault = None;
    let read = CsvTable::open(from, "changes.csv.zst").and_then(|changes| {
        changes.for_each(|row| {
            let (page_id, unix_time): (u32, i64) = (row.number(0, "page_id")?, row.number(1, "unix_time")?);
            let kind = row.text(2, "kind")?;
            if !wanted.contains(&page_id) {
                return Ok(());
            }
            let extent = match judged.get(&(page_id, unix_time)) {
                _ if begun.insert(page_id) => String::new(),
                _ if kind != "M" => "1".to_owned(),
                Some(line) if line.meaningful => format!("{:.4}", line.magnitude),
                _ => return Ok(()),
            };
            let (page_id, unix_time) = (page_id.to_string(), unix_time.to_string());
            if fault.is_none() {
                fault = rows.write_record([page_id.as_str(), unix_time.as_str(), kind, extent.as_str()]).err();
            }
            Ok(())
        })
    });
    read.map_err(|error: ReadError| CommandFailure::Input(error.to_string()))?;
    match fault.map(|error| failed(&error)) {
        Some(failure) => Err(failure),
        None => rows.flush().map_err(|error| failed(&error)),
    }
}
