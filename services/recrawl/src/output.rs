//! Answers on stdout: text for people, JSON for machines.

use crate::Failure;
use clap::ValueEnum;
use daemon::StopSignal;
use serde::Serialize;
use std::io::Write;

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// One JSON value per line.
    Jsonl,
}

/// Writes one answer.
pub fn answer<T: Serialize>(format: Format, value: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
    let line = match format {
        Format::Text => text(value),
        Format::Json => serde_json::to_string_pretty(value).map_err(|error| Failure::World(error.to_string()))?,
        Format::Jsonl => serde_json::to_string(value).map_err(|error| Failure::World(error.to_string()))?,
    };
    print(line.trim_end())
}

/// Writes a list of answers: an array as JSON, a line each otherwise.
pub fn answers<T: Serialize>(format: Format, values: &[T], text: impl Fn(&T) -> String) -> Result<(), Failure> {
    if format == Format::Json {
        return answer(format, &values, |_| String::new());
    }
    values.iter().try_for_each(|value| answer(format, value, &text))
}

/// Writes a line. A reader that has gone away (`recrawl … | head`) is no failure; the exit status still tells the verdict.
pub fn print(line: &str) -> Result<(), Failure> {
    written(writeln!(std::io::stdout(), "{line}"))
}

/// What became of writing to stdout, where a reader that has gone away has seen enough.
pub fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The same in the middle of a stream, which has no more to tell once its reader has gone away.
pub fn told(result: std::io::Result<()>, stop: &StopSignal) -> Result<(), Failure> {
    if result.is_err() {
        stop.stop();
    }
    written(result)
}

/// A verdict or an outcome as the one word that JSON has for it.
pub fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    value.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
