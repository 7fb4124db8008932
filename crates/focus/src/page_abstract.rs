//! A short abstract of a page: the sentences that say most about a focus.

use crate::focus_set::TermCloseness;
use crate::words::{Segmenter, terms};

/// The longest abstract, in characters.
pub const ABSTRACT_CHARACTERS: usize = 200;
/// Sentences of the beginning that are compared. Later ones say less about the whole.
const MAX_SENTENCES: usize = 64;
/// How much more a focus's word counts in the first sentence than in later ones: the beginning of a text sums it up.
const FIRST_SENTENCE: f64 = 2.0;

/// The sentences of a main text with the most of the focus, in the order of the text, as many as
/// [`ABSTRACT_CHARACTERS`] hold. A sentence counts by the closeness of its different words, and earlier ones more. A text
/// without a word of the focus is its first sentences. A sentence that is too long alone is cut.
pub fn abstract_of(focus: &dyn TermCloseness, segmenter: &dyn Segmenter, text: &str) -> String {
    let sentences: Vec<&str> = sentences(text).take(MAX_SENTENCES).collect();
    let mut by_worth: Vec<(f64, usize)> = sentences
        .iter()
        .enumerate()
        .map(|(place, sentence)| {
            let mut found: Vec<(String, f64)> = Vec::new();
            terms(segmenter, sentence, &mut |term, _| {
                let closeness = focus.closeness(term);
                if closeness > 0.0 && found.iter().all(|(known, _)| known != term) {
                    found.push((term.to_owned(), closeness));
                }
            });
            let sum: f64 = found.iter().map(|(_, closeness)| closeness).sum();
            (sum * (1.0 + (FIRST_SENTENCE - 1.0) / (place + 1) as f64), place)
        })
        .collect();
    // The sort is stable, so that among equals the first of the text comes first.
    by_worth.sort_by(|one, other| other.0.total_cmp(&one.0));
    let has_focus = by_worth.first().is_some_and(|(worth, _)| *worth > 0.0);
    let mut room = ABSTRACT_CHARACTERS;
    let mut chosen: Vec<(usize, String)> = Vec::new();
    for (worth, place) in by_worth {
        let (sentence, gap) = (sentences[place], usize::from(!chosen.is_empty()));
        let length = sentence.chars().count() + gap;
        if has_focus && worth == 0.0 {
            break;
        } else if length <= room {
            room -= length;
            chosen.push((place, sentence.to_owned()));
        } else if chosen.is_empty() {
            let start: String = sentence.chars().take(ABSTRACT_CHARACTERS - 1).collect();
            return start.trim_end().to_owned() + "…";
        } else if !has_focus {
            break;
        }
    }
    chosen.sort();
    chosen.into_iter().fold(String::new(), |mut whole, (_, sentence)| {
        // Chinese puts no space between sentences.
        if !whole.is_empty() && !whole.ends_with(['。', '！', '？', '；']) {
            whole.push(' ');
        }
        whole + &sentence
    })
}

/// The sentences of a text. A line ends one, a full stop does before a space, and a Chinese one does anywhere.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let of_line = |line| {
        let mut rest: &str = line;
        std::iter::from_fn(move || {
            let (sentence, after) = rest.split_at(sentence_end(rest));
            rest = after;
            (!sentence.is_empty()).then(|| sentence.trim())
        })
    };
    text.lines().flat_map(of_line).filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

fn sentence_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((_, character)) = characters.next() {
        let next = characters.peek().copied();
        let ends = match character {
            '。' | '！' | '？' | '；' => next.is_none_or(|(_, next)| !matches!(next, '”' | '」' | '』' | '）')),
            '.' | '!' | '?' => next.is_some_and(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            return next.map_or(text.len(), |(place, _)| place);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::class;
    use crate::phrases::PhraseSegmenter;
    use crate::words::IcuSegmenter;
    use proptest::prelude::*;

    fn abstract_for_travel(text: &str) -> String {
        let icu = IcuSegmenter::default();
        let travel = class("travel", &icu).unwrap();
        let phrases = travel.phrases(&icu);
        abstract_of(&travel, &PhraseSegmenter::new(&icu, &phrases), text)
    }

    #[test]
    fn sentences_about_the_focus_are_chosen_in_the_order_of_the_text() {
        let text = "We met on Monday. The hotel is near the beach.\nVersion 1.5 is out. A guide shows the museum! Bye";
        assert_eq!(abstract_for_travel(text), "The hotel is near the beach. A guide shows the museum!");
        let text = "今天天气很好。景区门票可以网上预订。大家都很高兴。乘坐航班的游客请看行程。";
        assert_eq!(abstract_for_travel(text), "景区门票可以网上预订。乘坐航班的游客请看行程。");
    }

    #[test]
    fn a_text_without_the_focus_begins_its_abstract() {
        assert_eq!(abstract_for_travel("One thing. Another thing.\nA third."), "One thing. Another thing. A third.");
        assert_eq!(abstract_for_travel("\n … \n"), "");
    }

    #[test]
    fn an_abstract_has_two_hundred_characters_at_most() {
        let long = format!("酒店{}", "很".repeat(500));
        let cut = abstract_for_travel(&long);
        assert!(cut.starts_with("酒店") && cut.ends_with('…') && cut.chars().count() == ABSTRACT_CHARACTERS);
        let many = "The hotel is near the beach. ".repeat(50);
        let chosen = abstract_for_travel(&many);
        assert!((150..=ABSTRACT_CHARACTERS).contains(&chosen.chars().count()), "{chosen}");
    }

    proptest! {
        #[test]
        fn any_text_has_a_short_abstract(text in "(hotel|酒店|航班|。|\\.|!|？| |\n|a|”|é){0,300}") {
            prop_assert!(abstract_for_travel(&text).chars().count() <= ABSTRACT_CHARACTERS);
        }
    }
}
