//! Links as people have them: CSV with a header, or JSON lines, of links or of pages with their links.

use super::names::Names;
use indicatif::ProgressBar;
use literature::ranking::Edge;
use recrawl::CommandFailure;
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Bad lines that are printed; the rest are counted.
const REPORTED_LINES: usize = 20;
/// Lines between two steps of the progress bar.
const LINES_A_STEP: u64 = 1 << 14;

/// The links that were read, and the lines that were not.
#[derive(Default)]
pub(super) struct Edges {
    pub(super) names: Names,
    pub(super) edges: Vec<Edge>,
    /// Whether any link came with a weight.
    pub(super) weighted: bool,
    /// The first bad lines, and how many there are.
    pub(super) bad_lines: Vec<String>,
    pub(super) bad: u64,
}

/// A line of JSON. Two of its shapes: a link, and a page with its links.
#[derive(Deserialize)]
struct JsonLine<'a> {
    #[serde(borrow, alias = "source")]
    from: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "target")]
    to: Option<Cow<'a, str>>,
    weight: Option<f64>,
    #[serde(borrow)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow)]
    links: Option<Vec<JsonLink<'a>>>,
}

/// A link of a page: its target, alone or with a weight.
#[derive(Deserialize)]
#[serde(untagged)]
enum JsonLink<'a> {
    Plain(#[serde(borrow)] Cow<'a, str>),
    Weighted {
        #[serde(borrow, alias = "to", alias = "target")]
        url: Cow<'a, str>,
        weight: Option<f64>,
    },
}

/// The columns of a CSV file.
struct Columns {
    from: usize,
    to: usize,
    weight: Option<usize>,
}

impl Edges {
    /// Reads a file; "-" is stdin.
    pub(super) fn read(file: &Path, bar: &ProgressBar) -> Result<Self, CommandFailure> {
        let problem = |error: &dyn std::fmt::Display| CommandFailure::Input(format!("{}: {error}", file.display()));
        let mut input: Box<dyn BufRead> = if file == Path::new("-") {
            Box::new(BufReader::with_capacity(1 << 18, std::io::stdin().lock()))
        } else {
            Box::new(BufReader::with_capacity(1 << 18, File::open(file).map_err(|error| problem(&error))?))
        };
        let start = input.fill_buf().map_err(|error| problem(&error))?;
        if start.starts_with(b"\xef\xbb\xbf") {
            input.consume(3);
        }
        let mut read = Self::default();
        let start = input.fill_buf().map_err(|error| problem(&error))?;
        let is_json = start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let done = if is_json { read.json_lines(input, bar) } else { read.csv(input, bar) };
        done.map_err(|error| problem(&error))?;
        Ok(read)
    }

    fn json_lines(&mut self, mut input: Box<dyn BufRead>, bar: &ProgressBar) -> Result<(), String> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if input.read_until(b'\n', &mut line).map_err(|error| error.to_string())? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Err(why) = self.json_line(&line) {
                self.bad_line(
                    number,
                    &format!("{why}; write {{\"url\":…, \"links\":[…]}} or {{\"from\":…, \"to\":…}}"),
                );
            }
            self.show(number, bar);
        }
        Ok(())
    }

    fn json_line(&mut self, line: &[u8]) -> Result<(), String> {
        let line: JsonLine<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        match line {
            JsonLine { from: Some(from), to: Some(to), weight, .. } => self.add(&from, &to, weight),
            JsonLine { url: Some(url), links: Some(links), .. } => {
                let target = |link: &JsonLink<'_>| match link {
                    JsonLink::Plain(url) => (url.is_empty(), None),
                    JsonLink::Weighted { url, weight } => (url.is_empty(), *weight),
                };
                // All of the line or nothing.
                for (is_empty, weight) in links.iter().map(target) {
                    if is_empty {
                        return Err("a link has no target".to_owned());
                    }
                    check_weight(weight)?;
                }
                let from = self.number(&url)?;
                for link in links {
                    let (to, weight) = match &link {
                        JsonLink::Plain(url) => (url, None),
                        JsonLink::Weighted { url, weight } => (url, *weight),
                    };
                    let to = self.number(to)?;
                    self.push(from, to, weight);
                }
                Ok(())
            }
            _ => Err("neither a page with links nor a link".to_owned()),
        }
    }

    fn csv(&mut self, input: Box<dyn BufRead>, bar: &ProgressBar) -> Result<(), String> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(input);
        let headers = reader.byte_headers().map_err(|error| error.to_string())?;
        let columns = Columns::of(headers)?;
        let mut record = csv::ByteRecord::new();
        for step in 1.. {
            match reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(error.to_string()),
            }
            if let Err(why) = self.csv_line(&record, &columns) {
                let line = record.position().map_or(0, csv::Position::line);
                self.bad_line(line, &why);
            }
            self.show(step, bar);
        }
        Ok(())
    }

    fn csv_line(&mut self, record: &csv::ByteRecord, columns: &Columns) -> Result<(), String> {
        let text = |column: usize| {
            let bytes = record.get(column).unwrap_or_default();
            std::str::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())
        };
        let weight = match columns.weight.map(text).transpose()?.filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| format!("the weight {text:?} is no number"))?),
        };
        self.add(text(columns.from)?, text(columns.to)?, weight)
    }

    fn add(&mut self, from: &str, to: &str, weight: Option<f64>) -> Result<(), String> {
        if from.is_empty() || to.is_empty() {
            return Err(format!("the link has no {}", if from.is_empty() { "source" } else { "target" }));
        }
        check_weight(weight)?;
        let (from, to) = (self.number(from)?, self.number(to)?);
        self.push(from, to, weight);
        Ok(())
    }

    fn number(&mut self, name: &str) -> Result<u32, String> {
        if name.is_empty() {
            return Err("the page has no address".to_owned());
        }
        self.names.number(name).map_err(|_| "there are more than 4,294,967,294 pages".to_owned())
    }

    fn push(&mut self, from: u32, to: u32, weight: Option<f64>) {
        self.weighted |= weight.is_some();
        self.edges.push(Edge { from, to, weight: weight.unwrap_or(1.0) });
    }

    fn bad_line(&mut self, line: u64, why: &str) {
        self.bad += 1;
        if self.bad_lines.len() < REPORTED_LINES {
            self.bad_lines.push(format!("line {line}: {why}"));
        }
    }

    fn show(&self, lines: u64, bar: &ProgressBar) {
        if lines.is_multiple_of(LINES_A_STEP) {
            bar.set_position(self.edges.len() as u64);
        }
    }
}

impl Columns {
    fn of(headers: &csv::ByteRecord) -> Result<Self, String> {
        let find = |names: [&str; 2]| {
            headers.iter().position(|header| names.iter().any(|name| header.eq_ignore_ascii_case(name.as_bytes())))
        };
        match (find(["from", "source"]), find(["to", "target"])) {
            (Some(from), Some(to)) => Ok(Self { from, to, weight: find(["weight", "weight"]) }),
            _ => {
                let found = headers.iter().map(|header| String::from_utf8_lossy(header)).collect::<Vec<_>>().join(",");
                let found: String = found.chars().take(80).collect();
                let wanted = "from,to or source,target, and weight if links have weights";
                Err(format!(
                    "line 1: CSV begins with the names of its columns, {wanted}; here it begins with {found:?}"
                ))
            }
        }
    }
}

fn check_weight(weight: Option<f64>) -> Result<(), String> {
    match weight {
        Some(weight) if !(weight >= 0.0 && weight.is_finite()) => {
            Err(format!("the weight {weight} is not possible; weights are finite and at least 0"))
        }
        _ => Ok(()),
    }
}
