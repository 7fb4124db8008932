//! Spreadsheets of Excel (ECMA-376: SpreadsheetML).

use super::out::Html;
use super::package::Package;
use super::walk::{Attributes, Step, walk, walk_while};
use page::Timestamp;
use std::collections::BTreeSet;

/// Days from 1899-12-30, where the numbers of dates begin, to 1970-01-01; and from 1904-01-01 with the other calendar.
const EPOCH_1900: f64 = 25_569.0;
const EPOCH_1904: f64 = 24_107.0;

/// The visible sheets in their order, each a heading and a table. A cell shows its value; what it was calculated from is left out.
pub(super) fn workbook(package: &mut Package<'_>, main: &str, text: &str, out: &mut Html) -> Option<()> {
    let relations = package.relations(main)?;
    let shared = shared_strings(&package.text_if_any(relations.part("/sharedStrings"))?)?;
    let dates = styles_of_dates(&package.text_if_any(relations.part("/styles"))?)?;
    let mut sheets = Vec::new();
    let mut epoch = EPOCH_1900;
    walk(text, &mut |step| match step {
        Step::Open("workbookPr", of) if of.get("date1904").is_some_and(|is| is == "1" || is == "true") => {
            epoch = EPOCH_1904;
        }
        Step::Open("sheet", of) if of.get("state").is_none_or(|state| state == "visible") => {
            sheets.push((of.get("name").unwrap_or_default(), of.all("id").last().unwrap_or_default()));
        }
        _ => {}
    })?;
    for (name, id) in sheets {
        let Some(sheet) = relations.find(&id).filter(|relation| relation.kind.ends_with("/worksheet")) else {
            continue;
        };
        let text = package.text(sheet.target())?;
        out.sheet_name(&name);
        out.push("<table>\n");
        let mut cells = Cells { shared: &shared, dates: &dates, epoch, ..Cells::default() };
        walk_while(&text, &mut |step| {
            cells.step(step, out);
            !out.is_full()
        })?;
        out.push("</table>\n");
    }
    Some(())
}

/// The texts that cells share, without hints for their pronunciation.
fn shared_strings(xml: &str) -> Option<Vec<String>> {
    let (mut strings, mut text, mut is_text, mut is_hint) = (Vec::new(), String::new(), false, false);
    walk(xml, &mut |step| match step {
        Step::Open("t", _) => is_text = !is_hint,
        Step::Close("t") => is_text = false,
        Step::Open("rPh", _) => is_hint = true,
        Step::Close("rPh") => is_hint = false,
        Step::Text(part) if is_text => text.push_str(part),
        Step::Close("si") => strings.push(std::mem::take(&mut text)),
        _ => {}
    })?;
    Some(strings)
}

/// For each style of cells, whether it shows a number as a date.
fn styles_of_dates(xml: &str) -> Option<Vec<bool>> {
    let (mut custom, mut styles, mut is_in_cells) = (BTreeSet::new(), Vec::new(), false);
    walk(xml, &mut |step| match step {
        Step::Open("numFmt", of) if is_date_code(&of.get("formatCode").unwrap_or_default()) => {
            custom.extend(of.get("numFmtId"));
        }
        Step::Open("cellXfs", _) => is_in_cells = true,
        Step::Close("cellXfs") => is_in_cells = false,
        Step::Open("xf", of) if is_in_cells => {
            let id = of.get("numFmtId").unwrap_or_default();
            let is_built_in = id.parse().is_ok_and(|number: u32| matches!(number, 14..=17 | 22 | 27..=36 | 50..=58));
            styles.push(is_built_in || custom.contains(&id));
        }
        _ => {}
    })?;
    Some(styles)
}

/// Whether a format of numbers has a day or a year, outside of quotations and colours.
fn is_date_code(code: &str) -> bool {
    let mut closing = None;
    for character in code.chars() {
        match (closing, character) {
            (Some(end), character) if end == character => closing = None,
            (Some(_), _) => {}
            (None, '"') => closing = Some('"'),
            (None, '[') => closing = Some(']'),
            (None, 'd' | 'D' | 'y' | 'Y') => return true,
            _ => {}
        }
    }
    false
}

#[derive(Default)]
struct Cells<'a> {
    shared: &'a [String],
    dates: &'a [bool],
    epoch: f64,
    /// Columns of the row so far.
    columns: usize,
    kind: String,
    is_date: bool,
    is_value: bool,
    value: String,
}

impl Cells<'_> {
    fn step(&mut self, step: Step<'_>, out: &mut Html) {
        match step {
            Step::Open("row", _) => {
                self.columns = 0;
                out.push("<tr>");
            }
            Step::Close("row") => out.push("</tr>\n"),
            Step::Open("c", attributes) => self.begin(&attributes, out),
            Step::Open("v" | "t", _) => self.is_value = true,
            Step::Close("v" | "t") => self.is_value = false,
            Step::Text(text) if self.is_value => self.value.push_str(text),
            Step::Close("c") => {
                self.columns += 1;
                out.push("<td>");
                out.text(&self.shown());
                out.push("</td>");
            }
            _ => {}
        }
    }

    fn begin(&mut self, cell: &Attributes<'_>, out: &mut Html) {
        let column = cell.get("r").and_then(|place| column_of(&place)).unwrap_or(self.columns);
        out.empty_cells(column.saturating_sub(self.columns));
        self.columns = column.max(self.columns);
        self.kind = cell.get("t").unwrap_or_default();
        let style = cell.get("s").and_then(|style| style.parse::<usize>().ok());
        self.is_date = self.dates.get(style.unwrap_or(0)).copied().unwrap_or(false);
        self.value.clear();
    }

    fn shown(&self) -> String {
        match self.kind.as_str() {
            "s" => {
                self.value.parse().ok().and_then(|number: usize| self.shared.get(number)).cloned().unwrap_or_default()
            }
            "b" => if self.value == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" => match self.value.parse::<f64>() {
                Ok(number) if self.is_date => date(number - self.epoch).unwrap_or_else(|| self.value.clone()),
                // 0.1 + 0.2 is stored with all its digits; people see fifteen.
                Ok(number) => rounded(number),
                Err(_) => self.value.clone(),
            },
            _ => self.value.clone(),
        }
    }
}

/// The column of a place such as `BC12`, from 0.
fn column_of(place: &str) -> Option<usize> {
    let digits = place.bytes().take_while(u8::is_ascii_alphabetic).take(3);
    let number = digits.fold(0, |sum, digit| 26 * sum + usize::from(digit.to_ascii_uppercase() - b'A') + 1);
    number.checked_sub(1)
}

/// A number with at most fifteen digits.
fn rounded(number: f64) -> String {
    format!("{number:.14e}").parse::<f64>().map_or_else(|_| number.to_string(), |rounded| rounded.to_string())
}

/// Days since 1970-01-01 as a date, with a time if there is one.
fn date(days: f64) -> Option<String> {
    let minutes = (days * 1_440.0).round();
    if !(-40_000_000.0..1_600_000_000.0).contains(&minutes) {
        return None;
    }
    let text = Timestamp::from_secs(60 * minutes as i64).to_string();
    Some(match minutes % 1_440.0 == 0.0 {
        true => text[..10].to_owned(),
        false => text[..16].replace('T', " "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_dates_are_dates() {
        let shown = |number: f64| date(number - EPOCH_1900).unwrap();
        assert_eq!(shown(45_292.0), "2024-01-01");
        assert_eq!(shown(45_351.75), "2024-02-29 18:00");
        assert_eq!(shown(1.0), "1899-12-31");
        assert_eq!(date(44_927.0 - 1_462.0 - EPOCH_1904).unwrap(), "2023-01-01");
        assert_eq!((date(f64::NAN), date(1e12)), (None, None));
    }

    #[test]
    fn formats_of_dates_are_known_by_days_and_years() {
        for code in ["yyyy-mm-dd", "[$-407]d. mmmm yyyy", "DD/MM/YY"] {
            assert!(is_date_code(code), "{code}");
        }
        for code in ["0.00", "#,##0 \"days\"", "[Red]0", "hh:mm", "General"] {
            assert!(!is_date_code(code), "{code}");
        }
    }

    #[test]
    fn cells_have_columns_and_numbers_fifteen_digits() {
        assert_eq!(["A1", "Z9", "AA3", "XFD1", "7"].map(column_of), [Some(0), Some(25), Some(26), Some(16_383), None]);
        assert_eq!(
            ["0.30000000000000004", "1234567.5", "19.9"].map(|text| rounded(text.parse().unwrap())),
            ["0.3", "1234567.5", "19.9"]
        );
    }
}
