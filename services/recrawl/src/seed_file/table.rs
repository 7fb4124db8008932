//! Seeds in CSV: the columns with the addresses, with the weights, and with the dates of changes.

use csv::{ReaderBuilder, StringRecord, Trim};
use settings::seeds::{SeedCollector, SeedList, SeedWords};
use std::fmt;

/// Names of a column of addresses, the better ones first.
const ADDRESSES: [&str; 11] =
    ["url", "urls", "uri", "address", "link", "loc", "page", "website", "site", "homepage", "seed"];
/// Names of a column of weights.
const WEIGHTS: [&str; 3] = ["weight", "priority", "importance"];
/// Names of a column of dates at which pages changed last. When somebody fetched or saw a page says nothing of its changes, so
/// such columns are not among them.
const DATES: [&str; 16] = [
    "lastmod",
    "last_modified",
    "last modified",
    "last-modified",
    "last_change",
    "last change",
    "last_changed",
    "last changed",
    "changed",
    "changed_at",
    "modified",
    "modified_at",
    "date_modified",
    "updated",
    "updated_at",
    "last_updated",
];
/// Ends of the names of files in CSV.
const ENDS: [&str; 3] = [".csv", ".tsv", ".tab"];
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
/// The records that are looked at to find the addresses of a file whose heading does not name them.
const TRIED: usize = 10;

/// How a file in CSV is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    separator: u8,
    has_heading: bool,
    /// The columns, counted from 0, and their names if the file has a heading.
    address: (usize, String),
    weight: Option<(usize, String)>,
    date: Option<(usize, String)>,
    columns: usize,
}

impl Table {
    /// The table that a file is by its name, or by a heading of several columns that names one of addresses. `None` for a list.
    pub(super) fn find(name: &str, text: &str) -> Option<Self> {
        let is_named = ENDS.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
        let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
        let count = |separator: &u8| first.bytes().filter(|byte| byte == separator).count();
        // Among equally frequent separators the first counts.
        let separator = SEPARATORS.into_iter().rev().max_by_key(count).filter(|it| is_named || count(it) > 0)?;
        let tried: Vec<StringRecord> = records(text, separator).take(TRIED).map(|(_, record)| record).collect();
        let heading = tried.first().filter(|record| !record.iter().any(is_address));
        let named = |names: &[&str]| {
            let places = names.iter().filter_map(|name| {
                let place = heading?.iter().position(|column| column.eq_ignore_ascii_case(name))?;
                Some((place, (*name).to_owned()))
            });
            places.into_iter().next()
        };
        let by_content = || {
            let found =
                |column: usize| tried.iter().filter(|record| record.get(column).is_some_and(is_address)).count();
            let columns = tried.iter().map(StringRecord::len).max()?;
            let best = (0..columns).rev().max_by_key(|column| found(*column)).filter(|column| found(*column) > 0)?;
            let name = heading.and_then(|heading| heading.get(best)).unwrap_or_default();
            Some((best, name.to_owned()))
        };
        let address = named(&ADDRESSES).or_else(|| if is_named { by_content() } else { None })?;
        let columns = tried.iter().map(StringRecord::len).max().unwrap_or_default();
        let (weight, date) = (named(&WEIGHTS), named(&DATES));
        Some(Self { separator, has_heading: heading.is_some(), address, weight, date, columns })
    }

    /// The seeds of the file.
    pub(super) fn seeds(&self, text: &str) -> SeedList {
        let mut collector = SeedCollector::default();
        for (line, record) in records(text, self.separator).skip(usize::from(self.has_heading)) {
            let field = |column: usize| record.get(column).filter(|field| !field.is_empty());
            let named = |column: &Option<(usize, String)>| column.as_ref().and_then(|(column, _)| field(*column));
            let Some(url) = field(self.address.0) else { continue };
            let words =
                SeedWords { url, weight: named(&self.weight), changed_at: named(&self.date), ..SeedWords::default() };
            collector.take(line, &record.iter().collect::<Vec<_>>().join(" "), words);
        }
        collector.finish()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = |(place, name): &(usize, String)| match name.is_empty() {
            true => format!("column {}", place + 1),
            false => format!("column {} ({name})", place + 1),
        };
        write!(f, "read as CSV: addresses in {}, ", column(&self.address))?;
        match &self.weight {
            Some(weight) => write!(f, "weights in {}", column(weight))?,
            None => f.write_str("no weights")?,
        }
        if let Some(date) = &self.date {
            write!(f, ", dates of the last change in {}", column(date))?;
        }
        match self.columns - 1 - usize::from(self.weight.is_some()) - usize::from(self.date.is_some()) {
            0 => Ok(()),
            1 => f.write_str("; 1 other column is not read"),
            others => write!(f, "; {others} other columns are not read"),
        }
    }
}

/// The records of a text with the numbers of their lines. Those that CSV cannot be made of are left out.
fn records(text: &str, separator: u8) -> impl Iterator<Item = (usize, StringRecord)> + '_ {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(separator).has_headers(false).flexible(true).trim(Trim::All);
    let records = builder.from_reader(text.as_bytes()).into_records();
    // The library would skip comments, too, and then give the lines behind them wrong numbers.
    let is_comment = |record: &StringRecord| record.get(0).is_some_and(|field| field.starts_with('#'));
    records.filter_map(Result::ok).filter(move |record| !is_comment(record)).map(|record| {
        let line = record.position().map_or(0, csv::Position::line);
        (usize::try_from(line).unwrap_or(usize::MAX), record)
    })
}

fn is_address(field: &str) -> bool {
    field.starts_with("http://") || field.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::seeds::Seed;

    /// How the file is read, and its seeds.
    fn read(name: &str, text: &str) -> Option<(String, Vec<String>)> {
        let table = Table::find(name, text)?;
        let list = table.seeds(text);
        let date = |seed: &Seed| seed.changed_at.map_or(String::new(), |at| format!(" {at}"));
        let seeds = list.seeds.iter().map(|seed| format!("{} {} {}{}", seed.line, seed.url, seed.weight, date(seed)));
        Some((table.to_string(), seeds.chain(list.faults.iter().map(ToString::to_string)).collect()))
    }

    #[test]
    fn a_table_is_read_by_its_heading() {
        let text = "Name,URL,Priority,Last change\n\"Lamp, red\",https://a.test/1,0.5,2026-11-01\n# none\nChair,https://a.test/2,,\n";
        let (how, seeds) = read("export", text).unwrap();
        assert_eq!(
            how,
            "read as CSV: addresses in column 2 (url), weights in column 3 (priority), dates of the last change in column 4 (last change); 1 other column \
             is not read"
        );
        assert_eq!(seeds, ["2 https://a.test/1 0.5 2026-11-02T00:00:00.000Z", "4 https://a.test/2 1"]);
        let (how, seeds) = read("a.tsv", "weight\tpage\n2\thttps://a.test/\nx\thttps://a.test/3\n").unwrap();
        assert_eq!(how, "read as CSV: addresses in column 2 (page), weights in column 1 (weight)");
        assert_eq!(seeds[0], "2 https://a.test/ 2");
        assert!(seeds[1].starts_with("line 3: \"x\" is not a weight"), "{seeds:?}");
    }

    #[test]
    fn a_line_whose_date_cannot_be_read_is_refused() {
        let (how, seeds) = read(
            "list",
            "url,updated_at,last_seen\nhttps://a.test/1,yesterday,2026-11-02\nhttps://a.test/2,2026-11-01 08:30,\nhttps://a.test/3,,\n",
        )
        .unwrap();
        assert_eq!(
            how,
            "read as CSV: addresses in column 1 (url), no weights, dates of the last change in column 2 (updated_at); 1 other column is not read"
        );
        assert_eq!(seeds[..2], ["3 https://a.test/2 1 2026-11-01T08:30:00.000Z", "4 https://a.test/3 1"]);
        assert!(seeds[2].starts_with("line 2: \"yesterday\" is not a date; write it like 2026-11-21"), "{seeds:?}");
    }

    #[test]
    fn a_table_without_such_a_heading_is_read_by_its_name() {
        let text = "7;https://a.test/1\n8;https://a.test/2\n";
        assert_eq!(read("list", text), None);
        let (how, seeds) = read("list.CSV", text).unwrap();
        assert_eq!(how, "read as CSV: addresses in column 2, no weights; 1 other column is not read");
        assert_eq!(seeds, ["1 https://a.test/1 1", "2 https://a.test/2 1"]);
        let (how, _) = read("list.csv", "Nr;Seite\n7;https://a.test/1\n").unwrap();
        assert_eq!(how, "read as CSV: addresses in column 2 (Seite), no weights; 1 other column is not read");
        assert_eq!(read("list.csv", "a,b\n1,2\n"), None);
    }

    #[test]
    fn a_list_is_no_table() {
        for text in [
            "https://a.test/x,y 2\nhttps://a.test/",
            "https://a.test/\n",
            "# url, weight\n",
            "",
            "url\nhttps://a.test/",
        ] {
            assert_eq!(read("seeds.txt", text), None, "{text:?}");
        }
    }
}
