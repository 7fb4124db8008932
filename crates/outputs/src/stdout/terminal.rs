//! The one way to stdout. On a terminal, text that is not ours must not move the cursor, set the window's title, or reorder a
//! line; a pipe gets all as it is.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

/// Control sequences that clear a terminal.
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";

/// Writes texts, and colours of ours.
pub struct Out<W: Write = StdoutLock<'static>> {
    writer: BufWriter<W>,
    /// The line that is being written, if it goes to a terminal.
    line: Option<Vec<u8>>,
}

impl Out {
    /// Stdout, locked.
    pub fn stdout() -> Self {
        let stdout = io::stdout();
        Self::new(stdout.lock(), stdout.is_terminal())
    }
}

impl<W: Write> Out<W> {
    fn new(writer: W, is_terminal: bool) -> Self {
        Self { writer: BufWriter::with_capacity(1 << 16, writer), line: is_terminal.then(Vec::new) }
    }

    /// Clears the terminal, if this is one.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.is_terminal() { self.writer.write_all(CLEAR) } else { Ok(()) }
    }

    /// Whether it writes to a terminal.
    pub fn is_terminal(&self) -> bool {
        self.line.is_some()
    }

    fn finish_line(&mut self) -> io::Result<()> {
        let Some(line) = &mut self.line else { return Ok(()) };
        let text = String::from_utf8_lossy(line);
        self.writer.write_all(harmless(&text, Keeps::LinesAndColours).as_bytes())?;
        line.clear();
        Ok(())
    }
}

impl<W: Write> Write for Out<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(line) = &mut self.line else { return self.writer.write(bytes) };
        line.extend_from_slice(bytes);
        // Whole lines, so that no character or colour is cut in two.
        if bytes.contains(&b'\n') {
            self.finish_line()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.finish_line()?;
        self.writer.flush()
    }
}

impl<W: Write> Drop for Out<W> {
    fn drop(&mut self) {
        let _ = self.finish_line();
    }
}

/// The control characters of a text that are not replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// No control character: the text has to stay on its line.
    Nothing,
    /// Ends of lines and tabs.
    Lines,
    /// These, and colours (SGR). Only for lines in which other texts are harmless already.
    LinesAndColours,
}

/// A text for a terminal. Control characters could move the cursor or set the window's title, and explicit directions could
/// reorder the rest of the line.
pub fn harmless(text: &str, keeps: Keeps) -> Cow<'_, str> {
    let is_harmful = |character: char| character.is_control() || is_direction(character);
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let colour = if keeps == Keeps::LinesAndColours { colour(rest) } else { None };
        let taken = colour.map_or(character.len_utf8(), str::len);
        match character {
            _ if colour.is_some() => clean.push_str(&rest[..taken]),
            '\n' | '\t' if keeps != Keeps::Nothing => clean.push(character),
            '\r' if keeps != Keeps::Nothing && rest.starts_with("\r\n") => {}
            '\n' | '\r' | '\t' => clean.push(' '),
            character if is_harmful(character) => clean.push(char::REPLACEMENT_CHARACTER),
            character => clean.push(character),
        }
        rest = &rest[taken..];
    }
    Cow::Owned(clean)
}

/// The colour that a text begins with: `ESC [`, numbers, `m`.
fn colour(text: &str) -> Option<&str> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let length = numbers.find(|character: char| !(character.is_ascii_digit() || character == ';'))?;
    numbers[length..].starts_with('m').then(|| &text[..2 + length + 1])
}

fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{9b}31md\u{202e}e\r\n\tf";

    fn written(is_terminal: bool, pieces: &[&[u8]]) -> String {
        let mut seen = Vec::new();
        let mut out = Out::new(&mut seen, is_terminal);
        pieces.iter().for_each(|piece| out.write_all(piece).unwrap());
        drop(out);
        String::from_utf8(seen).unwrap()
    }

    #[test]
    fn a_terminal_gets_no_commands_of_a_page_and_a_pipe_gets_all() {
        let clean = "a\u{fffd}]0;title\u{fffd}b\u{fffd}[2Jc\u{fffd}31md\u{fffd}e\n\tf";
        assert_eq!(written(true, &[HOSTILE.as_bytes()]), clean);
        assert_eq!(written(false, &[HOSTILE.as_bytes()]), HOSTILE);
        assert_eq!(harmless(HOSTILE, Keeps::Lines), clean);
        assert!(!harmless(HOSTILE, Keeps::Nothing).contains(['\n', '\t', '\r']));
    }

    #[test]
    fn colours_are_kept_where_they_are_ours_and_nothing_is_cut_in_two() {
        let coloured = "\u{1b}[1;36mé\u{1b}[0m\n";
        let bytes: Vec<_> = coloured.as_bytes().chunks(1).collect();
        assert_eq!(written(true, &bytes), coloured);
        assert_eq!(harmless("\u{1b}[8mhidden", Keeps::Lines), "\u{fffd}[8mhidden");
        for other in ["\u{1b}[1A", "\u{1b}[;m\u{1b}c", "\u{1b}[1", "\u{1b}["] {
            assert!(written(true, &[other.as_bytes()]).contains('\u{fffd}'), "{other:?}");
        }
    }
}
