//! How long one scan of ten million pages takes: the example of `revisit`.

use crate::measure::{Measured, Rounds};
use crate::peers::example;
use crate::table::{Row, Target};

pub(crate) fn rows() -> Vec<Row> {
    eprintln!("scan");
    let mut command = example("revisit", "scan_speed");
    command.arg("10000000");
    let directory = tempfile::TempDir::new().expect("there is room for a benchmark");
    let output = Measured::start(command, directory.path()).finish().stdout;
    let figure = |name: &str| -> f64 {
        let line = output.lines().find(|line| line.starts_with(&format!("{name}:")));
        let before = line.and_then(|line| line.split(" ns a page").next()?.split_whitespace().last());
        before.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no {name:?} in {output:?}"))
    };
    let row = |name: &str| {
        let name_and_how = format!("scan of 10,000,000 pages, {name} (wall, best of 5)");
        Row::new(name_and_how, "ns/page", Rounds::new(vec![figure(name)]))
    };
    vec![
        // A few tenths of a second for all of them.
        row("scan, optimal").aims_at(Target::Value(50.0)),
        row("demand histogram").aims_at(Target::Value(50.0)),
        row("select 10,000 above the price").aims_at(Target::Value(50.0)),
    ]
}
