//! The lines in which `diff` and `changes` print a change for people.

use crate::stdout::{Keeps, harmless};
use anstyle::{AnsiColor, Style};
use change::{RunKind, word_diff};
use clap::{Args, ColorChoice};
use std::io::IsTerminal;

/// Says when lines are in colour.
#[derive(Args, Debug)]
pub struct ColorOptions {
    /// Colours on a terminal. `auto` heeds NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
}

impl ColorOptions {
    /// The style of lines on stdout.
    pub fn style(&self) -> LineStyle {
        let stdout = std::io::stdout();
        let colours = match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
        };
        match (colours, stdout.is_terminal()) {
            (true, _) => LineStyle::Coloured,
            (false, true) => LineStyle::Plain,
            (false, false) => LineStyle::Piped,
        }
    }
}

/// Where lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    /// On a terminal with colours.
    Coloured,
    /// On a terminal without colours.
    Plain,
    /// As scripts read them: texts as they are, whatever they contain.
    Piped,
}

/// One changed unit.
#[derive(Clone, Copy, Debug)]
pub struct UnitTexts<'a> {
    place: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

impl<'a> From<&'a change::ChangedUnit> for UnitTexts<'a> {
    fn from(unit: &'a change::ChangedUnit) -> Self {
        Self { place: &unit.place, before: unit.before.as_deref(), after: unit.after.as_deref() }
    }
}

impl<'a> From<&'a messages::ChangedUnit> for UnitTexts<'a> {
    fn from(unit: &'a messages::ChangedUnit) -> Self {
        Self { place: &unit.place, before: unit.before.as_deref(), after: unit.after.as_deref() }
    }
}

impl LineStyle {
    /// A verdict in its style.
    pub fn verdict(self, verdict: &str) -> String {
        self.styled(Style::new().bold(), verdict)
    }

    /// Lines that show a change: the place, the text before, the text after. The last one counts the units left out.
    pub fn lines<'a>(
        self,
        units: impl IntoIterator<Item = UnitTexts<'a>>,
        left_out: usize,
    ) -> impl Iterator<Item = String> {
        let mut last_place = "";
        let lines = units.into_iter().flat_map(move |unit| {
            let is_new_place = !unit.place.is_empty() && unit.place != last_place;
            last_place = unit.place;
            let place = AnsiColor::Cyan.on_default();
            let heading = is_new_place.then(|| self.styled(place, &format!("@ {}", unit.place)));
            heading.into_iter().chain(self.sides(unit))
        });
        lines.chain((left_out > 0).then(|| format!("and {left_out} more")))
    }

    /// The text before and the text after.
    fn sides(self, unit: UnitTexts<'_>) -> impl Iterator<Item = String> {
        let runs = word_diff(unit.before.unwrap_or_default(), unit.after.unwrap_or_default());
        // Where nothing stayed, emphasis on everything would emphasise nothing.
        let stands_out = runs.iter().any(|run| run.kind == RunKind::Same);
        let side = |text: Option<&str>, sign: &str, color: AnsiColor, own: RunKind| {
            let style = color.on_default();
            let own_style = if stands_out { style.bold().invert() } else { style };
            let words = runs.iter().filter(|run| run.kind == own || run.kind == RunKind::Same);
            let words = words.map(|run| self.styled(if run.kind == own { own_style } else { style }, run.text));
            text.map(|_| self.styled(style, sign) + &words.collect::<String>())
        };
        let before = side(unit.before, "- ", AnsiColor::Red, RunKind::Removed);
        let after = side(unit.after, "+ ", AnsiColor::Green, RunKind::Added);
        before.into_iter().chain(after)
    }

    /// A text without a style of its own.
    pub(crate) fn shown(self, text: &str) -> String {
        self.styled(Style::new(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        match self {
            LineStyle::Coloured => format!("{style}{}{style:#}", harmless(text, Keeps::Nothing)),
            LineStyle::Plain => harmless(text, Keeps::Nothing).into_owned(),
            LineStyle::Piped => text.to_owned(),
        }
    }
}

/// A text with this many characters at most.
pub fn excerpt(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => text.chars().take(characters.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The line that counts the differences that did not count. `None` without any.
pub fn passed_over_line(passed_over: usize) -> Option<String> {
    match passed_over {
        0 => None,
        1 => Some("passed over: 1 difference that does not count".to_owned()),
        count => Some(format!("passed over: {count} differences that do not count")),
    }
}

/// Lines that name the triggers that fired, and the watched parts that are not there.
pub fn watched_lines(triggers: &[String], not_found: &[String]) -> impl Iterator<Item = String> {
    let fired = triggers.iter().map(|trigger| format!("! {trigger}"));
    fired.chain(not_found.iter().map(|part| format!("? {part} is not on the page")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(style: LineStyle, units: &[(&str, Option<&str>, Option<&str>)], left_out: usize) -> String {
        let units = units.iter().map(|&(place, before, after)| UnitTexts { place, before, after });
        style.lines(units, left_out).map(|line| line + "\n").collect()
    }

    #[test]
    fn colours_change_no_word() {
        let units = [
            ("Prices", Some("It costs 5 euros."), Some("It costs 7 euros.")),
            ("Prices", Some("Gone."), None),
            ("", None, Some("Come.")),
            ("", Some("old"), Some("new")),
        ];
        let piped = lines(LineStyle::Piped, &units, 3);
        assert_eq!(
            piped,
            "@ Prices\n- It costs 5 euros.\n+ It costs 7 euros.\n- Gone.\n+ Come.\n- old\n+ new\nand 3 more\n"
        );
        let coloured = lines(LineStyle::Coloured, &units, 3);
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), piped);
        let emphasised = AnsiColor::Red.on_default().bold().invert();
        assert!(coloured.contains(&format!("{emphasised}5{emphasised:#}")), "{coloured:?}");
        assert!(!coloured.contains(&format!("{emphasised}old")), "{coloured:?}");
        assert_eq!(lines(LineStyle::Plain, &units, 3), piped);
    }

    #[test]
    fn a_terminal_gets_no_control_characters_of_a_page() {
        let units = [("\x1b]0;title\x07", Some("a\x1b[2Jb\r\nc"), Some("a\u{202e}b\u{9b}c"))];
        assert_eq!(
            lines(LineStyle::Plain, &units, 0),
            "@ \u{fffd}]0;title\u{fffd}\n- a\u{fffd}[2Jb  c\n+ a\u{fffd}b\u{fffd}c\n"
        );
        let coloured = anstream::adapter::strip_str(&lines(LineStyle::Coloured, &units, 0)).to_string();
        assert_eq!(coloured, lines(LineStyle::Plain, &units, 0));
        assert!(lines(LineStyle::Piped, &units, 0).contains("a\x1b[2Jb\r\nc"), "scripts get the text as it is");
    }
}
