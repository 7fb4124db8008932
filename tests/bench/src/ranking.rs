//! Ranking pages by their links: whole graphs beside networkx and rustworkx, updates beside a bare table, and the ranker.

use crate::measure::{Measured, Rounds};
use crate::peers::{own, python, released_example};
use crate::table::{Row, Target};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Few enough for networkx to hold them.
const PAGES: &str = "100000";
const LINKS: &str = "1000000";

/// All rows.
pub(crate) fn rows(rounds: usize) -> Vec<Row> {
    eprintln!("ranking");
    let directory = TempDir::new().expect("there is room for a benchmark");
    let small: Vec<String> = (0..rounds).map(|_| ours(&[PAGES, LINKS], directory.path())).collect();
    let mut rows = beside_others(&small, directory.path(), rounds);

    let large: Vec<String> = (0..rounds).map(|_| ours(&["1000000", "10000000"], directory.path())).collect();
    let figures = |name| figures(&large, name, "ns a link");
    let value = |name: &str, figures, ns| Row::new(name, "ns/link", figures).aims_at(Target::Value(ns));
    // 10 million links a second.
    rows.push(value("PageRank by pushes, 1,000,000 pages, 10,000,000 links", figures("PageRank by pushes"), 100.0));
    rows.push(Row::new("PageRank, one round over them", "ns/link", figures("PageRank round")));
    rows.push(Row::new("HITS, one round over them", "ns/link", figures("HITS round")));
    rows.push(Row::new("OPIC, one round over them", "ns/link", figures("OPIC round")));
    let table = figures("the table by key");
    rows.push(
        Row::new("OPIC, visits of pages in a hash map of 1,000,000", "ns/link", figures("OPIC by key"))
            .beside("the hash map alone", table.clone())
            .aims_at(Target::Ratio(2.0)),
    );
    rows.push(
        Row::new("pushes and changed links of pages in a hash map", "ns/link", figures("pushes by key"))
            .beside("the hash map alone", table),
    );
    rows.extend(stage(directory.path(), rounds));
    rows
}

/// The ranker: its accounts with everything that makes them durable, and the whole stage.
fn stage(directory: &Path, rounds: usize) -> Vec<Row> {
    let run = |_| {
        let mut command = Command::new(released_example("ranker", "link_speed"));
        command.arg(directory);
        Measured::start(command, directory).finish().stdout
    };
    let texts: Vec<String> = (0..rounds).map(run).collect();
    let figures = |name, unit| figures(&texts, name, unit);
    // Half a million links a second.
    let aim = || Target::Value(2_000.0);
    let of_known = "known addresses, 10,000,000 of them";
    vec![
        Row::new(
            "OPIC with durable state, 1,000,000 pages",
            "ns/link",
            figures("OPIC with durable state", "ns a link"),
        )
        .beside("a hash map of the same", figures("a hash map of the same", "ns a link"))
        .aims_at(aim()),
        Row::new("the ranker over the log, known pages", "ns/link", figures("the ranker, known pages", "ns a link"))
            .aims_at(aim()),
        Row::new("the ranker over the log, new pages", "ns/link", figures("the ranker, new pages", "ns a link")),
        Row::new(format!("{of_known}: memory"), "bytes", figures("known addresses", "bytes an address"))
            .aims_at(Target::Value(24.0)),
        Row::new(format!("{of_known}: a check"), "ns", figures("a check", "ns")),
        Row::new("a start of the ranker, 1,000,000 accounts", "ns/account", figures("a start reads", "ns an account")),
    ]
}

fn beside_others(small: &[String], directory: &Path, rounds: usize) -> Vec<Row> {
    let row = || {
        let name = format!("PageRank of {PAGES} pages with {LINKS} links, to 1e-10");
        Row::new(name, "ms", figures(small, "PageRank:", "ms"))
    };
    let python = match python() {
        Ok(python) => python,
        Err(reason) => return vec![row().note(format!("networkx and rustworkx: {reason}"))],
    };
    let mut command = Command::new(python);
    command.arg(own("pagerank.py")).arg(directory).args([PAGES, &rounds.to_string()]);
    // One thread each.
    command.envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"].map(|name| (name, "1")));
    let text = Measured::start(command, directory).finish().stdout;
    let peer = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the script prints both");
        Rounds::new(line.split_whitespace().map(|number| number.parse().expect("figures are numbers")).collect())
    };
    vec![
        row().beside("networkx, on SciPy", peer("networkx ms:")).aims_at(Target::Ratio(0.1)),
        row().beside("rustworkx", peer("rustworkx ms:")).aims_at(Target::Ratio(1.0)),
    ]
}

/// The output of the example `rank_speed`.
fn ours(size: &[&str], directory: &Path) -> String {
    let mut command = Command::new(released_example("literature", "rank_speed"));
    command.args(size).arg(directory);
    Measured::start(command, directory).finish().stdout
}

/// The number before `unit` on the line that begins with `name`, of every round.
fn figures(texts: &[String], name: &str, unit: &str) -> Rounds {
    let of = |text: &String| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number =
            line.and_then(|line| line.split(&format!(" {unit}")).next()?.split_whitespace().last()?.parse().ok());
        number.unwrap_or_else(|| panic!("no {name:?} in {unit} in {text:?}"))
    };
    Rounds::new(texts.iter().map(of).collect())
}
