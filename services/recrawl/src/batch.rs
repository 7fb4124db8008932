//! Batch mode of the tools: one JSON question per input line, one answer per output line, in order.

use crate::CommandFailure;
use outputs::stdout::{Out, written};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

/// Takes the place of the answer to an invalid line.
#[derive(Serialize)]
struct BadLine<'a> {
    line: usize,
    error: &'a str,
}

/// Answers each line of a file ("-" is stdin). A line that cannot be answered gets `{"line":N,"error":"…"}`, and the
/// rest is processed. The same holds for empty lines, to keep answers aligned with questions.
pub fn answer_lines<Q: DeserializeOwned, A: Serialize>(
    file: &Path,
    mut answer: impl FnMut(Q) -> Result<A, String>,
) -> Result<(), CommandFailure> {
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(file).map_err(|error| CommandFailure::Input(format!("{}: {error}", file.display())))?;
        Box::new(BufReader::with_capacity(1 << 16, file))
    };
    let mut out = Out::stdout();
    let done = input.split(b'\n').enumerate().try_for_each(|(index, line)| {
        let line = line?;
        let question = serde_json::from_slice(&line).map_err(|error| format!("cannot read the question: {error}"));
        match question.and_then(&mut answer) {
            Ok(answer) => serde_json::to_writer(&mut out, &answer)?,
            Err(error) => serde_json::to_writer(&mut out, &BadLine { line: index + 1, error: &error })?,
        }
        out.write_all(b"\n")
    });
    written(done.and_then(|()| out.flush()))
}
