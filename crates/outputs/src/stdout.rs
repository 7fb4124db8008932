//! Answers on stdout: text for people, JSON for programs.

mod terminal;

pub use self::terminal::{Keeps, Out, harmless};
pub use messages::word;

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
    print(in_format(format, value, text)?.trim_end())
}

/// As [`answer`], but one of several: on a terminal it takes the place of the one before, and a closed pipe sets the stop signal.
pub fn answer_anew<T: Serialize>(
    format: Format,
    value: &T,
    text: impl FnOnce(&T) -> String,
    stop: &StopSignal,
) -> Result<(), CommandFailure> {
    let answer = in_format(format, value, text)?;
    let mut out = Out::stdout();
    let answer = if out.is_terminal() { harmless(answer.trim_end(), Keeps::Lines) } else { answer.trim_end().into() };
    written_or_stop(out.clear().and_then(|()| writeln!(out, "{answer}")).and_then(|()| out.flush()), stop)
}

fn in_format<T: Serialize>(
    format: Format,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<String, CommandFailure> {
    let json = match format {
        Format::Text => return Ok(text(value)),
        Format::Json => serde_json::to_string_pretty(value),
        Format::Jsonl => serde_json::to_string(value),
    };
    json.map_err(|error| CommandFailure::World(error.to_string()))
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
    print_keeping(line, Keeps::Lines)
}

fn print_keeping(line: &str, keeps: Keeps) -> Result<(), CommandFailure> {
    let mut out = Out::stdout();
    let line = if out.is_terminal() { harmless(line, keeps) } else { line.into() };
    written(writeln!(out, "{line}").and_then(|()| out.flush()))
}

/// As [`answer`], with a text that has colours.
pub fn answer_coloured<T: Serialize>(
    format: Format,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), CommandFailure> {
    match format {
        Format::Text => print_keeping(text(value).trim_end(), Keeps::LinesAndColours),
        Format::Json | Format::Jsonl => answer(format, value, |_| String::new()),
    }
}

/// Prints bytes as they are, such as the body of a page. On a terminal only texts are printed, and made harmless.
///
/// # Errors
/// They are no text and would go to a terminal.
pub fn print_bytes(bytes: &[u8]) -> Result<(), CommandFailure> {
    let mut out = Out::stdout();
    if !out.is_terminal() {
        return written(out.write_all(bytes).and_then(|()| out.flush()));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| {
        CommandFailure::Input(
            "this is not text, and could confuse the terminal: write it to a file, with > FILE".to_owned(),
        )
    })?;
    written(out.write_all(harmless(text, Keeps::Lines).as_bytes()).and_then(|()| out.flush()))
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
