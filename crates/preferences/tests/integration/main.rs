//! The drafts and practices, case by case, and how statements are merged.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod fields;
mod merging;
mod robots_directives;
mod robots_txt;
mod tdm;

use page::Timestamp;
use preferences::Preferences;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

/// The decisions in one line, without their sources: `train-ai=n search=y`.
fn said(preferences: &Preferences) -> String {
    let decisions = preferences.decisions(NOW);
    let words = decisions.iter().map(|it| format!("{}={}", it.usage, if it.is_allowed { "y" } else { "n" }));
    words.collect::<Vec<_>>().join(" ")
}

fn header(name: &str, value: &str) -> Preferences {
    Preferences::of_headers([(name, value)], "ExampleBot")
}

/// Checks what each value says; what is expected is in the order of the uses.
fn check_all(cases: &[(&str, &str)], read: impl Fn(&str) -> Preferences) {
    for (value, expected) in cases {
        assert_eq!(said(&read(value)), *expected, "{value:?}");
    }
}
