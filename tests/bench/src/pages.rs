//! Reading, sketching and judging pages, beside what others take for parts of it, on three kinds of pages: a manual with many
//! small pages, one with few large ones, and pages of the web. Ours and the peers in Rust are in one program.

use crate::measure::{Measured, Rounds};
use crate::peers::{Program, java, own, peers, python};
use crate::table::{Row, Target};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which of the rows are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Extract,
    Sketch,
    Verdict,
}

/// The directories that `.tools/setup bench` fills.
const CORPORA: [&str; 3] = ["postgresql-doc", "python-doc", "web"];
/// Aim for the time of a verdict where pages are small, in µs.
const VERDICT_US: f64 = 12.0;

pub(crate) fn rows(rounds: usize, wanted: impl Fn(Part) -> bool) -> Vec<Row> {
    let program = match peers() {
        Ok(program) => program,
        Err(reason) => return vec![Row::skipped("pages", reason)],
    };
    // A round is short; many of them cost little.
    let rounds = 3 * rounds;
    let jsoup = if wanted(Part::Verdict) { java("jsoup", "ParsePages") } else { Err("not wanted".to_owned()) };
    CORPORA.iter().flat_map(|corpus| corpus_rows(corpus, &program, &jsoup, rounds, &wanted)).collect()
}

fn corpus_rows(
    corpus: &str,
    program: &Path,
    jsoup: &Result<Program, String>,
    rounds: usize,
    wanted: impl Fn(Part) -> bool,
) -> Vec<Row> {
    let Some(pages) = cache().map(|cache| cache.join("bench-pages").join(corpus)).filter(|pages| pages.is_dir()) else {
        return vec![Row::skipped(format!("pages of {corpus}"), "they are not here (.tools/setup bench fetches them)")];
    };
    eprintln!("pages of {corpus}");
    let directory = tempfile::TempDir::new().expect("there is room for a benchmark");
    let mut command = Command::new(program);
    command.arg("pages").arg(rounds.to_string()).arg(pages).arg(directory.path());
    let output = Measured::start(command, directory.path()).finish().stdout;
    let measured = |name: &str| figures(&output, name).unwrap_or_else(|| panic!("no {name:?} in {output:?}"));
    let [count, bytes, words] =
        ["pages:", "bytes a page:", "words a page:"].map(|name| line(&output, name).unwrap_or_default().trim());
    let size = format!("{count} pages of {bytes} bytes and {words} words");
    let mut rows = Vec::new();
    if wanted(Part::Extract) {
        let (extract, scan) = (measured("extract"), measured("scan"));
        rows.push(
            Row::new(format!("{corpus}: text and links"), "us/page", extract.clone())
                .beside("lol_html, text alone", measured("lol_html text"))
                .aims_at(Target::Ratio(1.0 / 5.0))
                .note(size.clone())
                .note(format!("main text, dates and language as well: {} us/page", measured("read"))),
        );
        let name = format!("{corpus}: text and links, beside a scan");
        let row = Row::new(name, "us/page", extract).beside("memchr for < and >", scan);
        rows.push(row.aims_at(Target::Ratio(1.0 / 0.6)));
    }
    if wanted(Part::Verdict) {
        let verdict = measured("verdict");
        let row = Row::new(format!("{corpus}: from bytes to verdict"), "us/page", verdict.clone());
        rows.push(row.beside("lol_html and gaoya", measured("lol_html and gaoya")).aims_at(Target::Ratio(0.1)));
        rows.push(jsoup_row(corpus, &verdict, jsoup, rounds, directory.path(), count));
        if corpus == CORPORA[0] {
            let row = Row::new(format!("{corpus}: the same by itself"), "us/page", verdict);
            rows.push(row.aims_at(Target::Value(VERDICT_US)));
        }
    }
    if wanted(Part::Sketch) {
        let sketch = measured("sketch");
        let row = Row::new(format!("{corpus}: from text to sketch"), "us/page", sketch.clone());
        rows.push(row.beside("gaoya", measured("gaoya")).aims_at(Target::Ratio(1.0 / 20.0)));
        rows.extend(python_rows(corpus, &sketch, rounds, &directory.path().join("texts")));
    }
    rows
}

/// A parser that keeps the tree, on the pages that the others read.
fn jsoup_row(
    corpus: &str,
    verdict: &Rounds,
    program: &Result<Program, String>,
    rounds: usize,
    directory: &Path,
    count: &str,
) -> Row {
    let name = format!("{corpus}: from bytes to verdict");
    let mut command = match program {
        Ok(program) => program.command(),
        Err(reason) => return Row::skipped(format!("{name}, beside jsoup"), reason),
    };
    command.arg(directory.join("pages")).arg(rounds.to_string());
    let output = Measured::start(command, directory).finish().stdout;
    assert_eq!(line(&output, "pages:").map(str::trim), Some(count), "pages that jsoup has parsed");
    let peer = figures(&output, "jsoup").expect("the program prints its figures");
    Row::new(name, "us/page", verdict.clone()).beside("jsoup, parse alone", peer).aims_at(Target::Ratio(1.0 / 12.0))
}

fn python_rows(corpus: &str, sketch: &Rounds, rounds: usize, texts: &Path) -> Vec<Row> {
    let python = match python() {
        Ok(python) => python,
        Err(reason) => return vec![Row::skipped(format!("{corpus}: rensa and datasketch"), &reason)],
    };
    let mut command = Command::new(python);
    command.arg(own("sketch.py")).arg(texts).arg(rounds.div_ceil(3).to_string());
    let directory = tempfile::TempDir::new().expect("there is room for a benchmark");
    let output = Measured::start(command, directory.path()).finish().stdout;
    let contestants = [
        ("rensa kernel", "rensa, runs of words given", 3.0),
        ("rensa", "rensa with what leads to it", 30.0),
        ("datasketch", "datasketch, update_batch", 150.0),
    ];
    let row = |(printed, name, times): (&str, &'static str, f64)| {
        let peer = figures(&output, printed).expect("the script prints all three");
        let row = Row::new(format!("{corpus}: from text to sketch"), "us/page", sketch.clone());
        row.beside(name, peer).aims_at(Target::Ratio(1.0 / times))
    };
    contestants.map(row).into()
}

fn cache() -> Option<PathBuf> {
    std::env::var_os("RECRAWL_CACHE").map(PathBuf::from)
}

fn line<'o>(output: &'o str, name: &str) -> Option<&'o str> {
    output.lines().find_map(|line| line.strip_prefix(name))
}

fn figures(output: &str, name: &str) -> Option<Rounds> {
    let numbers = line(output, &format!("{name} us:"))?.split_whitespace();
    Some(Rounds::new(numbers.map(|number| number.parse().expect("figures are numbers")).collect()))
}
