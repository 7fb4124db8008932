//! Exactly-once over Kafka beside a bare client: the example of `stream-kafka`, the one crate that may name rdkafka.

use crate::measure::{Measured, Rounds};
use crate::peers::example;
use crate::table::{Row, Target};
use std::path::Path;

pub(crate) fn rows(kafka: Option<&str>) -> Vec<Row> {
    const NAME: &str = "Kafka, exactly once: consume, produce, commit 1,000 × 300 B";
    let Some(brokers) = kafka else {
        return vec![Row::skipped(NAME, "no Kafka; start one (make kafka-up) and set RECRAWL_KAFKA=HOST:PORT")];
    };
    eprintln!("Kafka commit loop");
    let mut command = example("stream-kafka", "commit_loop");
    command.env("RECRAWL_KAFKA", brokers).args(["100000", "1000", "300"]);
    let directory = tempfile::TempDir::new().expect("there is room for a benchmark");
    let output = Measured::start(command, directory.path() as &Path).finish().stdout;
    let [once, bare] = ["exactly once:", "bare:"].map(|name| {
        // One line a round and contestant; the summary behind them is made here anew.
        let lines = output
            .lines()
            .filter(|line| line.contains(" us CPU/event"))
            .filter_map(|line| line.split_once(name).map(|(_, figures)| figures));
        let figure = |line: &str, unit: &str| -> f64 {
            let before = line.split(unit).next().and_then(|text| text.split_whitespace().last());
            before.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no {unit:?} in {line:?}"))
        };
        let (cpu, commit): (Vec<_>, Vec<_>) =
            lines.map(|line| (figure(line, " us CPU/event"), figure(line, " ms median"))).unzip();
        (Rounds::new(cpu), Rounds::new(commit))
    });
    vec![
        Row::new(NAME, "µs/event", once.0).beside("rdkafka, no transactions", bare.0).aims_at(Target::Ratio(2.0)),
        Row::new("    a commit of 1,000, produce included (wall)", "ms", once.1)
            .beside("rdkafka, no transactions", bare.1)
            .aims_at(Target::Value(8.0)),
    ]
}
