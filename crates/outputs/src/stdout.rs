//! Answers on stdout: text for people, JSON for programs.

use clap::ValueEnum;
use daemon::{CommandFailure, StopSignal};
use serde::Serialize;
use std::io::Write;

/// Format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// One JSON value per line.
    Jsonl,
}

pub fn answer<T: Serialize>(format: Format, value: &T, text: impl FnOnce(&T) -> String) -> Result<(), CommandFailure> {
    let line = match format {
        Format::Text => text(value),
        Format::Json => {
            serde_json::to_string_pretty(value).map_err(|error| CommandFailure::World(error.to_string()))?
        }
        Format::Jsonl => serde_json::to_string(value).map_err(|error| CommandFailure::World(error.to_string()))?,
    };
    print(line.trim_end())
}

/// Prints a list of answers: an array as JSON, otherwise one per line.
pub fn answers<T: Serialize>(format: Format, values: &[T], text: impl Fn(&T) -> String) -> Result<(), CommandFailure> {
    if format == Format::Json {
        return answer(format, &values, |_| String::new());
    }
    values.iter().try_for_each(|value| answer(format, value, &text))
}

/// Prints a line. A closed pipe (`recrawl … | head`) is not an error; the exit status still reports the verdict.
pub fn print(line: &str) -> Result<(), CommandFailure> {
    written(writeln!(std::io::stdout(), "{line}"))
}

/// Result of a write to stdout, where a closed pipe is not an error.
pub fn written(result: std::io::Result<()>) -> Result<(), CommandFailure> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// As [`written`], but within a stream: a closed pipe stops the stream.
pub fn written_or_stop(result: std::io::Result<()>, stop: &StopSignal) -> Result<(), CommandFailure> {
    if result.is_err() {
        stop.stop();
    }
    written(result)
}

/// The word that JSON uses for a verdict or outcome.
pub fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    value.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
