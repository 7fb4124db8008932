//! `Content-Usage` and `Content-Signal`, in robots.txt and as headers.

use crate::address::address;
use crate::dictionary::{self, Value};
use crate::list::answer;
use crate::merged::Preferences;
use crate::source::Source;
use crate::usage::Use;
use politeness::UsageLines;

/// Labels of draft-ietf-aipref-vocab, section 6.1. Others, such as `bots` and `train-genai` of earlier drafts, are ignored,
/// as the draft demands. `ai-use` is in some copies of the draft only.
const LABELS: [(&str, Use); 3] = [("train-ai", Use::TrainAi), ("ai-use", Use::AiInput), ("search", Use::Search)];
/// Signals of contentsignals.org. `use=reference` and `use=full` say how much of a page an answer may show, and no use here has that.
const SIGNALS: [(&str, Use); 3] = [("ai-train", Use::TrainAi), ("ai-input", Use::AiInput), ("search", Use::Search)];

impl Preferences {
    /// Reads the lines of robots.txt that are for the page. They are those of the file at the time of the fetch.
    pub fn of_robots_txt(lines: &UsageLines<'_>) -> Self {
        let mut preferences = Self::default();
        // Rules with the same path apply separately.
        lines.content_usage.iter().for_each(|value| preferences.content_usage(value, Source::RobotsContentUsage));
        lines.content_signals.iter().for_each(|value| preferences.content_signal(value, Source::RobotsContentSignal));
        lines.licenses.iter().filter_map(|value| address(value)).for_each(|value| preferences.state_license(value));
        preferences
    }

    /// Takes a dictionary of `y` and `n` (section 6.4). A broken one says nothing.
    pub(crate) fn content_usage(&mut self, value: &str, source: Source) {
        let Some(dictionary) = dictionary::parse(value.as_bytes()) else { return };
        for (label, usage) in LABELS {
            if let Some(Value::Token(token)) = dictionary.get(label)
                && let Some(is_allowed) = answer(token)
            {
                self.state(usage, is_allowed, source);
            }
        }
    }

    /// Takes a list of `signal=yes` and `signal=no`. Other pieces of it are passed over.
    pub(crate) fn content_signal(&mut self, value: &str, source: Source) {
        for piece in value.split(',') {
            let Some((signal, answer)) = piece.split_once('=') else { continue };
            let (signal, answer) = (signal.trim(), answer.trim());
            let Some((_, usage)) = SIGNALS.iter().find(|(name, _)| name.eq_ignore_ascii_case(signal)) else { continue };
            if answer.eq_ignore_ascii_case("yes") {
                self.state(*usage, true, source);
            } else if answer.eq_ignore_ascii_case("no") {
                self.state(*usage, false, source);
            }
        }
    }
}
