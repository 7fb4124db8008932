//! The words in which two texts differ, for showing a change.
//!
//! Words are those of Unicode (UAX 29): spaced words, numbers with their separators, and single characters in scripts
//! without spaces. The crate `similar` finds the shortest edit. Its work grows with words times differences, so texts
//! with more than [`MAX_COMPARED_WORDS`] words between their common start and end are not compared further.

use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The most words of both texts together that are compared. A text of a change record has at most 600 bytes.
const MAX_COMPARED_WORDS: usize = 2_000;

/// Words that follow each other, and whether they were kept, removed or added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordRun<'a> {
    pub kind: RunKind,
    /// The words, with the spaces and punctuation between them.
    pub text: &'a str,
}

/// The texts that have a run of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// In both texts.
    Same,
    /// In the text before.
    Removed,
    /// In the text after.
    Added,
}

/// The differences of two texts by words. The runs that are not added make up `before`, those that are not removed
/// `after`. No run is empty.
pub fn word_diff<'a>(before: &'a str, after: &'a str) -> Vec<WordRun<'a>> {
    let (old, new) = (Words::of(before), Words::of(after));
    let mut runs = Vec::new();
    let mut push = |kind, text: &'a str| {
        if !text.is_empty() {
            runs.push(WordRun { kind, text });
        }
    };
    let mut same_from = 0;
    for edit in edits(&old.words, &new.words) {
        push(RunKind::Same, old.text(same_from..edit.old.start));
        push(RunKind::Removed, old.text(edit.old.clone()));
        push(RunKind::Added, new.text(edit.new));
        same_from = edit.old.end;
    }
    push(RunKind::Same, old.text(same_from..old.words.len()));
    runs
}

/// A text and its words. Spaces and punctuation count as words of their own.
struct Words<'a> {
    text: &'a str,
    words: Vec<&'a str>,
    starts: Vec<usize>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        let (starts, words) = text.split_word_bound_indices().unzip();
        Self { text, words, starts }
    }

    fn text(&self, words: Range<usize>) -> &'a str {
        let start = |word: usize| self.starts.get(word).copied().unwrap_or(self.text.len());
        &self.text[start(words.start)..start(words.end)]
    }
}

/// Words that were replaced by others.
struct Edit {
    old: Range<usize>,
    new: Range<usize>,
}

/// The edits from one list of words to another, in order.
fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let rests = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rests.take_while(|(one, other)| one == other).count();
    let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if old_middle.len() + new_middle.len() > MAX_COMPARED_WORDS {
        return vec![Edit { old: start..old.len() - end, new: start..new.len() - end }];
    }
    // Patience keeps words that occur once in place, so a name is not matched with another sentence's.
    let steps = capture_diff_slices(Algorithm::Patience, old_middle, new_middle);
    let within = |range: Range<usize>| range.start + start..range.end + start;
    let edits = steps.into_iter().filter(|step| step.tag() != DiffTag::Equal);
    let edits = edits.map(|step| Edit { old: within(step.old_range()), new: within(step.new_range()) });
    // Only spaces and punctuation are between the words of a replaced phrase.
    let edits = joined(edits, |one, other| count_words(&old[one.old.end..other.old.start]) == 0);
    // Few words between longer edits stayed by chance, such as "the". They would cut a replaced phrase into crumbs.
    let size = |edit: &Edit| count_words(&old[edit.old.clone()]).max(count_words(&new[edit.new.clone()]));
    joined(edits, |one, other| count_words(&old[one.old.end..other.old.start]) < size(one).min(size(other)))
}

/// The edits, with neighbours joined where `belong` says so.
fn joined(edits: impl IntoIterator<Item = Edit>, belong: impl Fn(&Edit, &Edit) -> bool) -> Vec<Edit> {
    let mut joined: Vec<Edit> = Vec::new();
    for edit in edits {
        match joined.last_mut() {
            Some(last) if belong(last, &edit) => (last.old.end, last.new.end) = (edit.old.end, edit.new.end),
            _ => joined.push(edit),
        }
    }
    joined
}

/// The number of words, without spaces and punctuation.
fn count_words(words: &[&str]) -> usize {
    words.iter().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The runs on one line: `[-removed-]` and `{+added+}`, as in `git diff --word-diff`.
    fn reported(before: &str, after: &str) -> String {
        let run = |run: WordRun<'_>| match run.kind {
            RunKind::Same => run.text.to_owned(),
            RunKind::Removed => format!("[-{}-]", run.text),
            RunKind::Added => format!("{{+{}+}}", run.text),
        };
        word_diff(before, after).into_iter().map(run).collect()
    }

    #[test]
    fn words_that_differ_are_marked_and_no_others() {
        let check = |before, after, expected| assert_eq!(reported(before, after), expected);
        check("", "", "");
        check("", "New.", "{+New.+}");
        check("Gone.", "", "[-Gone.-]");
        check("The same.", "The same.", "The same.");
        check("It costs 5.50 euros.", "It costs 7.50 euros.", "It costs [-5.50-]{+7.50+} euros.");
        check("Open from nine to five.", "Open from ten to six.", "Open from [-nine-]{+ten+} to [-five-]{+six+}.");
        check("We don't deliver.", "We deliver.", "We [-don't -]deliver.");
        check("one big red house", "one small old house", "one [-big red-]{+small old+} house");
        check(
            "Foxes live in the dark wood.",
            "Foxes sat by the deep lake.",
            "Foxes [-live in the dark wood-]{+sat by the deep lake+}.",
        );
        check("Ann, then Bob.", "Bob.", "[-Ann, then -]Bob.");
        check("https://a.test/old/map?x=1", "https://a.test/new/map?x=1", "https://a.test/[-old-]{+new+}/map?x=1");
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_characters() {
        assert_eq!(reported("本店九点开始营业", "本店十点开始营业"), "本店[-九-]{+十+}点开始营业");
        // A vowel sign stays with its consonant.
        assert_eq!(reported("กี", "กิ"), "[-กี-]{+กิ+}");
        assert_eq!(reported("👨‍👩‍👧 here", "👨‍👩‍👦 here"), "[-👨‍👩‍👧-]{+👨‍👩‍👦+} here");
    }

    #[test]
    fn texts_of_any_length_are_compared_in_bounded_work() {
        let text = |words: std::ops::Range<u32>| words.map(|word| format!("w{word} ")).collect::<String>();
        let (before, after) = (text(0..200_000), text(0..10) + &text(300_000..500_000));
        let kinds: Vec<_> = word_diff(&before, &after).iter().map(|run| run.kind).collect();
        assert_eq!(kinds, [RunKind::Same, RunKind::Removed, RunKind::Added, RunKind::Same]);
        // The common start and end of a long text are found regardless of its length.
        let edited = after.replace("w400000", "another");
        let runs = word_diff(&after, &edited);
        assert_eq!((runs[1].text, runs[2].text), ("w400000", "another"));
    }

    proptest! {
        #[test]
        fn the_runs_make_up_both_texts(before in "([abé网。 ,]|\\PC){0,60}", after in "([abé网。 ,]|\\PC){0,60}") {
            let runs = word_diff(&before, &after);
            let side = |gone: RunKind| runs.iter().filter(|run| run.kind != gone).map(|run| run.text).collect::<String>();
            prop_assert_eq!(side(RunKind::Added), before.as_str());
            prop_assert_eq!(side(RunKind::Removed), after.as_str());
            prop_assert!(runs.iter().all(|run| !run.text.is_empty()));
        }
    }
}
