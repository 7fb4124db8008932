//! The table of measurements, for people and machines.

use crate::measure::{Rounds, digits, load};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// One line of the table.
pub(crate) struct Row {
    name: String,
    outcome: Outcome,
    notes: Vec<String>,
}

enum Outcome {
    Measured { unit: &'static str, ours: Rounds, peer: Option<(&'static str, Rounds)>, target: Option<Target> },
    Skipped(String),
}

/// The aim for a measurement. Everything measured here is better when it is less.
pub(crate) enum Target {
    /// Upper limit in the row's unit.
    Value(f64),
    /// Upper limit as a multiple of the peer's value.
    Ratio(f64),
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, unit: &'static str, ours: Rounds) -> Self {
        let outcome = Outcome::Measured { unit, ours, peer: None, target: None };
        Self { name: name.into(), outcome, notes: Vec::new() }
    }

    pub(crate) fn skipped(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { name: name.into(), outcome: Outcome::Skipped(reason.into()), notes: Vec::new() }
    }

    /// The same work by somebody else, round by round.
    pub(crate) fn beside(mut self, name: &'static str, rounds: Rounds) -> Self {
        if let Outcome::Measured { peer, .. } = &mut self.outcome {
            *peer = Some((name, rounds));
        }
        self
    }

    pub(crate) fn aims_at(mut self, aim: Target) -> Self {
        if let Outcome::Measured { target, .. } = &mut self.outcome {
            *target = Some(aim);
        }
        self
    }

    /// Adds a remark, on a line of its own.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// All rows, and how busy the machine was.
pub(crate) struct Table {
    load_before: String,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn begin() -> Self {
        Self { load_before: load(), rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, rows: Vec<Row>) {
        self.rows.extend(rows);
    }

    pub(crate) fn text(&self) -> String {
        let mut lines = vec![["what", "recrawl", "peer", "ratio", "target", ""].map(str::to_owned)];
        lines.extend(self.rows.iter().map(cells));
        let width = |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 6] = std::array::from_fn(width);
        let mut text = format!(
            "CPU time unless a row says wall; median (least–most) of the rounds; load average {} before, {} after\n\n",
            self.load_before,
            load()
        );
        let mut line = |cells: &[String; 6]| {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            let _ = writeln!(text, "{}", padded.collect::<Vec<_>>().join("  ").trim_end());
        };
        line(&lines[0]);
        line(&widths.map(|width| "-".repeat(width)));
        for (row, cells) in self.rows.iter().zip(&lines[1..]) {
            match &row.outcome {
                Outcome::Skipped(reason) => line(&[
                    row.name.clone(),
                    format!("skipped: {reason}"),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                ]),
                Outcome::Measured { .. } => line(cells),
            }
            for note in &row.notes {
                line(&[
                    format!("    {note}"),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                ]);
            }
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "load_average": { "before": self.load_before, "after": load() },
            "rows": self.rows.iter().map(row_json).collect::<Vec<_>>(),
        })
    }
}

/// A row in columns. Notes and reasons may run over, so they do not count for the widths.
fn cells(row: &Row) -> [String; 6] {
    let Outcome::Measured { unit, ours, peer, target } = &row.outcome else {
        return [row.name.clone(), String::new(), String::new(), String::new(), String::new(), String::new()];
    };
    let ratio = peer.as_ref().map(|(_, peer)| ours.over(peer));
    [
        row.name.clone(),
        format!("{ours} {unit}"),
        peer.as_ref().map(|(name, rounds)| format!("{name} {rounds}")).unwrap_or_default(),
        ratio.map(|ratio| format!("{ratio}")).unwrap_or_default(),
        match target {
            Some(Target::Value(most)) => format!("≤ {} {unit}", aim(*most)),
            Some(Target::Ratio(most)) => format!("≤ {}×", aim(*most)),
            None => String::new(),
        },
        match met(&row.outcome) {
            Some(true) => "met",
            Some(false) => "missed",
            None => "",
        }
        .to_owned(),
    ]
}

/// The aim as text, without the trailing zeros that measured figures have.
fn aim(most: f64) -> String {
    let digits = digits(most);
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.').to_owned() } else { digits }
}

fn met(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::Measured { ours, target: Some(Target::Value(most)), .. } => Some(ours.median() <= *most),
        Outcome::Measured { ours, peer: Some((_, peer)), target: Some(Target::Ratio(most)), .. } => {
            Some(ours.over(peer).median() <= *most)
        }
        _ => None,
    }
}

fn row_json(row: &Row) -> Value {
    match &row.outcome {
        Outcome::Skipped(reason) => json!({ "what": row.name, "skipped": reason }),
        Outcome::Measured { unit, ours, peer, target } => json!({
            "what": row.name,
            "unit": unit,
            "recrawl": ours.json(),
            "peer": peer.as_ref().map(|(name, rounds)| json!({ "name": name, "rounds": rounds.json() })),
            "ratio": peer.as_ref().map(|(_, rounds)| ours.over(rounds).json()),
            "target": target.as_ref().map(|target| match target {
                Target::Value(most) => json!({ "at_most": most }),
                Target::Ratio(most) => json!({ "ratio_at_most": most }),
            }),
            "met": met(&row.outcome),
            "notes": row.notes,
        }),
    }
}
