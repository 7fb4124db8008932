//! Avro: a fetch result with a body of 20 kB, beside the fastest Avro there is. Both are in the program of the peers, so
//! that the same compiler settings made them and they take turns.

use crate::measure::{Measured, Rounds};
use crate::peers::peers;
use crate::table::{Row, Target};
use std::process::Command;

pub(crate) fn rows(rounds: usize) -> Vec<Row> {
    const NAME: &str = "Avro, FetchResult of 20 kB: encode + decode";
    let program = match peers() {
        Ok(program) => program,
        Err(reason) => return vec![Row::skipped(NAME, reason)],
    };
    eprintln!("Avro");
    let mut command = Command::new(program);
    // A round is a blink here; many of them cost nothing.
    command.arg("avro").arg((3 * rounds).to_string());
    let directory = tempfile::TempDir::new().expect("there is room for a benchmark");
    let output = Measured::start(command, directory.path()).finish().stdout;
    let figures = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name));
        let line = line.unwrap_or_else(|| panic!("no {name:?} in {output:?}"));
        Rounds::new(line.split_whitespace().map(|number| number.parse().expect("figures are numbers")).collect())
    };
    let [ours, peer] = ["messages", "serde_avro_fast"].map(|name| {
        let parts = ["encode", "decode"].map(|part| figures(&format!("{name} {part} ns:")));
        (parts[0].plus(&parts[1]), parts)
    });
    let split = |(part, of): (&str, usize)| format!("{part} {} ns, serde_avro_fast {} ns", ours.1[of], peer.1[of]);
    let notes = [("encode", 0), ("decode", 1)].map(split);
    let row = Row::new(NAME, "ns", ours.0).beside("serde_avro_fast", peer.0).aims_at(Target::Ratio(1.0));
    vec![notes.into_iter().fold(row, Row::note)]
}
