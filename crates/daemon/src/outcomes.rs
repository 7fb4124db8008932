//! Answers to requests, counted by kind: for `/status`, `recrawl status` and the summary of a run.

use messages::{AnswerKind, AnswerReport, OutcomeClass};
use serde::{Deserialize, Serialize};

/// The number of answers of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCount {
    /// How the requests went. `not_sent` ones are no fetches.
    pub class: OutcomeClass,
    /// The kind in one word.
    pub outcome: String,
    /// The kind in words.
    pub meaning: String,
    /// The setting that would change it, if there is one.
    pub setting: Option<String>,
    pub count: u64,
}

/// The kinds that occurred, by class, the most frequent first.
pub fn outcome_counts(count_of: impl Fn(AnswerKind) -> u64) -> Vec<OutcomeCount> {
    let counted = |kind: AnswerKind| {
        let AnswerReport { class, words, setting, .. } = kind.report();
        OutcomeCount {
            class,
            outcome: kind.report().name.to_owned(),
            meaning: words.to_owned(),
            setting: setting.map(str::to_owned),
            count: count_of(kind),
        }
    };
    let mut counts: Vec<_> = AnswerKind::all().map(counted).filter(|of| of.count > 0).collect();
    counts.sort_by_key(|of| (of.class, std::cmp::Reverse(of.count)));
    counts
}

impl OutcomeCount {
    /// Words and setting, such as "private address (fetch.allow_private_addresses)".
    pub fn in_words(&self) -> String {
        match &self.setting {
            Some(setting) => format!("{} ({setting})", self.meaning),
            None => self.meaning.clone(),
        }
    }
}

/// One line per class, such as "6 not sent: 4 private address (fetch.allow_private_addresses), 2 robots.txt forbids it".
pub fn outcome_lines(counts: &[OutcomeCount]) -> Vec<String> {
    let of_class = |class: OutcomeClass| counts.iter().filter(move |of| of.class == class);
    let line = |(class, words): (OutcomeClass, &str)| {
        let total: u64 = of_class(class).map(|of| of.count).sum();
        let kinds: Vec<_> = match of_class(class).collect::<Vec<_>>().as_slice() {
            [] => return None,
            [only] => vec![only.in_words()],
            several => several.iter().map(|of| format!("{} {}", of.count, of.in_words())).collect(),
        };
        Some(format!("{total} {words}: {}", kinds.join(", ")))
    };
    let classes = [
        (OutcomeClass::Fetched, "fetched"),
        (OutcomeClass::Unchanged, "unchanged"),
        (OutcomeClass::Missing, "missing"),
        (OutcomeClass::Failed, "failed"),
        (OutcomeClass::NotSent, "not sent"),
    ];
    classes.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::FetchOutcome;

    #[test]
    fn the_kinds_are_reported_by_class_with_the_setting_that_would_change_them() {
        let counts = outcome_counts(|kind| match kind {
            AnswerKind::Outcome(FetchOutcome::Fetched) => 3,
            AnswerKind::Outcome(FetchOutcome::RobotsDisallowed) => 1,
            AnswerKind::Outcome(FetchOutcome::AddressRefused) => 6,
            AnswerKind::LeaseOver => 2,
            AnswerKind::Outcome(_) | AnswerKind::RedirectRefused | AnswerKind::HostLeftAlone => 0,
        });
        let expected = [
            "3 fetched: new content",
            "9 not sent: 6 private address (fetch.allow_private_addresses), 2 waited too long for its host \
             (policy.lease_timeout), 1 robots.txt forbids it",
        ];
        assert_eq!(outcome_lines(&counts), expected);
        assert!(outcome_lines(&[]).is_empty());
    }

    /// A message names settings for people to write, so they have to exist.
    #[test]
    fn every_setting_that_is_named_exists() {
        let all = settings::Settings::default().to_toml(settings::Secrets::Masked);
        for setting in AnswerKind::all().filter_map(|kind| kind.report().setting) {
            let (section, key) = setting.split_once('.').unwrap();
            let section = all.split_once(&format!("[{section}]\n")).unwrap().1;
            let section = section.split("\n[").next().unwrap();
            // What is not set is shown as "# key is not set".
            let is_key = |line: &str| line.trim_start_matches(['#', ' ']).starts_with(&format!("{key} "));
            assert!(section.lines().any(is_key), "{setting}");
        }
    }
}
