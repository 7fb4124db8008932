//! Texts with struck-through parts, which pages write with elements and texts of changes with marks.

use crate::commands::diff::html::escaped;
use change::{RunKind, WordRun};
use document::blocks::STRUCK;
use std::ops::Range;

/// A text without the marks of struck-through parts, and where these are.
pub(super) struct StruckText {
    pub(super) text: String,
    struck: Vec<Range<usize>>,
}

impl StruckText {
    /// Reads the marks. One without its pair is left out: its text was cut.
    pub(super) fn new(marked: &str) -> Self {
        let mut parts = marked.split(STRUCK);
        let mut text = parts.next().unwrap_or_default().to_owned();
        let mut struck = Vec::new();
        let rest: Vec<&str> = parts.collect();
        for (index, part) in rest.iter().enumerate() {
            let start = text.len();
            text.push_str(part);
            if index % 2 == 0 && index + 1 < rest.len() {
                struck.push(start..text.len());
            }
        }
        Self { text, struck }
    }

    /// The side of a difference as HTML: the words of its own are marked, and what is struck through is.
    pub(super) fn marked(&self, runs: &[WordRun<'_>], own: RunKind) -> String {
        let mut out = String::new();
        let mut at = 0;
        for run in runs.iter().filter(|run| run.kind == own || run.kind == RunKind::Same) {
            let text = self.with_strokes(at..at + run.text.len());
            at += run.text.len();
            out += &match run.kind {
                RunKind::Same => text,
                RunKind::Removed => format!("<del>{text}</del>"),
                RunKind::Added => format!("<ins>{text}</ins>"),
            };
        }
        out
    }

    /// A part of the text as HTML.
    fn with_strokes(&self, part: Range<usize>) -> String {
        let mut out = String::new();
        let mut at = part.start;
        for struck in &self.struck {
            let (start, end) = (struck.start.max(part.start), struck.end.min(part.end));
            if start < end {
                out += &format!("{}<s>{}</s>", escaped(&self.text[at..start]), escaped(&self.text[start..end]));
                at = end;
            }
        }
        out + &escaped(&self.text[at..part.end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use change::word_diff;

    fn sides(before: &str, after: &str) -> [String; 2] {
        let [old, new] = [before, after].map(StruckText::new);
        let runs = word_diff(&old.text, &new.text);
        [old.marked(&runs, RunKind::Removed), new.marked(&runs, RunKind::Added)]
    }

    #[test]
    fn a_mark_becomes_a_stroke_and_is_no_difference() {
        let [before, after] = sides("24,90 €", "~~24,90 €~~ 19,90 €");
        assert_eq!(before, "24,90 €");
        assert!(after.starts_with("<s>24,90 €</s>") && after.contains("<ins>") && !after.contains('~'), "{after}");
        let [before, after] = sides("~~a <b>~~ c", "~~a <b>~~ d");
        assert_eq!(
            (before.as_str(), after.as_str()),
            ("<s>a &lt;b&gt;</s> <del>c</del>", "<s>a &lt;b&gt;</s> <ins>d</ins>")
        );
    }

    #[test]
    fn a_mark_without_its_pair_is_left_out() {
        assert_eq!(sides("a ~~b", "a ~~b"), ["a b", "a b"]);
        assert_eq!(sides("~~a~~ b ~~c", "x")[0].matches("<s>").count(), 1);
    }

    #[test]
    fn no_word_is_lost() {
        let texts = ["", "~~", "a ~~b~~", "~~a~~b", "a~~ ~~b", "~~~~é", "a b ~~é a~~ b~~", "b ~~a é~~"];
        let tags = ["<s>", "</s>", "<del>", "</del>", "<ins>", "</ins>"];
        let plain = |html: &str| tags.iter().fold(html.to_owned(), |html, tag| html.replace(tag, ""));
        for (before, after) in texts.iter().flat_map(|before| texts.map(|after| (*before, after))) {
            let [old, new] = sides(before, after);
            assert_eq!(plain(&old), StruckText::new(before).text, "{before} {after}");
            assert_eq!(plain(&new), StruckText::new(after).text, "{before} {after}");
        }
    }
}
