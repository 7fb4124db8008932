//! Words that say nothing of a focus.
//!
//! The lists are short, because document frequencies do the rest where they are known
//! ([`Background`](crate::Background)). They cannot do it alone: a page's vector is weighted by counts, and without a list
//! half of its length would be function words.

use std::collections::HashSet;
use std::sync::LazyLock;

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("stop_words.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Whether a word in lower case is a stop word. The apostrophe may be typographic.
pub(crate) fn contains(word: &str) -> bool {
    STOP_WORDS.contains(word) || word.contains('’') && STOP_WORDS.contains(word.replace('’', "'").as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_are_stop_words_and_nouns_are_not() {
        let check =
            |words: &str, expected| words.split(' ').for_each(|word| assert_eq!(contains(word), expected, "{word}"));
        check("the don't don’t und für où según não anche het чтобы 的 我们 という", true);
        check("market börse bourse 股票 市场 株式 # German", false);
    }
}
