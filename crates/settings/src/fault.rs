//! Faults in the settings, worded so that the operator can fix them at once.

use std::fmt;

/// Origin of a value. Ordered by layer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A line of a file.
    File {
        /// Index among the files; 0 is the defaults.
        layer: usize,
        /// Line number, counted from 1.
        line: usize,
        /// The file's name as passed in.
        name: String,
    },
    /// An environment variable.
    Environment {
        /// The variable's full name.
        variable: String,
    },
    /// A command-line flag.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { name, line, .. } => write!(f, "{name}:{line}"),
            Origin::Environment { variable } => write!(f, "environment variable {variable}"),
            Origin::Flag => f.write_str("flag"),
        }
    }
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{}{}{problem}; {remedy}", prefix(.origin), prefix(.key))]
pub struct SettingFault {
    /// Where the fault is. `None` if it concerns a setting that is not written anywhere.
    pub origin: Option<Origin>,
    /// The setting as `section.key`. `None` if the line could not be parsed.
    pub key: Option<String>,
    /// The reason why the value is refused.
    pub problem: String,
    /// The correction to make.
    pub remedy: String,
}

fn prefix(part: &Option<impl fmt::Display>) -> String {
    part.as_ref().map(|part| format!("{part}: ")).unwrap_or_default()
}

/// All faults, one line each. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub(crate) Vec<SettingFault>);

impl Faults {
    /// Orders faults by layer and line.
    pub fn new(mut faults: Vec<SettingFault>) -> Self {
        faults.sort();
        Self(faults)
    }

    /// The faults in the order of layers and lines.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &SettingFault> {
        self.0.iter()
    }
}

impl From<SettingFault> for Faults {
    fn from(fault: SettingFault) -> Self {
        Self(vec![fault])
    }
}

impl std::error::Error for Faults {}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

/// The candidate closest to `typed`, if it is close enough: up to a third of the characters may be wrong.
pub(crate) fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (typed.chars().count() / 3).max(2);
    let near = candidates.into_iter().map(|candidate| (edit_distance(typed, candidate), candidate));
    near.filter(|(distance, _)| *distance <= allowed).min().map(|(_, candidate)| candidate)
}

/// Edit distance with insertions, deletions, replacements and swaps of neighbours (optimal string alignment: Damerau
/// 1964 without repeated edits of one place).
pub fn edit_distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

/// Why an entry of a rule or a receiver is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct RuleFault {
    /// The key of the table.
    pub key: &'static str,
    /// The reason, as text for the operator.
    pub problem: String,
    /// The correction to make, as text for the operator.
    pub remedy: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_one_edit() {
        let check = |from, to, expected| assert_eq!(edit_distance(from, to), expected, "{from} {to}");
        check("", "abc", 3);
        check("theta", "theta", 0);
        check("thtea", "theta", 1);
        check("budegt", "budget", 1);
        check("kitten", "sitting", 3);
    }

    #[test]
    fn nothing_is_suggested_for_a_word_that_is_like_no_other() {
        assert_eq!(nearest("crawl_dealy", ["crawl_delay", "max_crawl_delay"]), Some("crawl_delay"));
        assert_eq!(nearest("zebra", ["crawl_delay", "burst"]), None);
    }
}
