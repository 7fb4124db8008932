//! The claims of a text about stock, in many languages: something is in stock, it is not, or nothing is understood.
//!
//! The words of each language are tables ([`languages`]). One pass finds them all ([`table`]). The words beside a mention
//! decide what it claims ([`cues`], [`claims`]), by the same rules in all languages.

mod claims;
mod counts;
mod cues;
mod languages;
mod marked;
mod table;

use crate::stock::claims::{Claim, claim, claim_of_label, claim_of_rest};
use crate::stock::cues::{Mention, is_stock};
use crate::stock::languages::Class;
use crate::stock::marked::MarkedText;
use crate::stock::table::{ALL_LANGUAGES, Languages, Mark};

/// The claims of a text about stock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StockClaims {
    says_in: bool,
    says_out: bool,
    /// By words that say much else, too: "available".
    says_weakly_in: bool,
    says_weakly_out: bool,
    /// Stock is mentioned in a way that is not understood.
    is_unclear: bool,
}

/// The state of stock by a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StockState {
    In,
    Out,
    /// Mentioned, and not understood, or both.
    Unclear,
    NotMentioned,
}

impl StockClaims {
    /// The claims of a folded text. `own` are the words that the operator is waiting for: they count however general
    /// they are.
    pub(crate) fn of(text: &str, own: &str) -> Self {
        let text = MarkedText::new(text);
        let mut claims = Self::default();
        for mark in &text.marks {
            mark.meanings.iter().for_each(|(class, languages)| claims.add(&text, mark, *class, *languages, own));
        }
        claims
    }

    pub(crate) fn state(self) -> StockState {
        let states = [(self.says_in, self.says_out), (self.says_weakly_in, self.says_weakly_out)];
        match states.into_iter().find(|(is_in, is_out)| *is_in || *is_out) {
            Some((true, true)) => StockState::Unclear,
            Some((true, false)) => StockState::In,
            Some((false, true)) => StockState::Out,
            _ if self.is_unclear => StockState::Unclear,
            _ => StockState::NotMentioned,
        }
    }

    /// Whether it is said by words that are about stock and nothing else.
    pub(crate) fn is_strong(self) -> bool {
        self.says_in || self.says_out
    }

    fn add(&mut self, text: &MarkedText<'_>, mark: &Mark, class: Class, languages: Languages, own: &str) {
        let is_about_lack = matches!(class, Class::Out | Class::WeakOut);
        let mention = Mention { start: mark.start, end: mark.end, languages, is_about_lack, is_free: false };
        let is_own = text.text[mark.start..mark.end] == *own;
        match class {
            Class::In | Class::WeakIn => {
                let is_weak = class == Class::WeakIn && !is_own;
                match claim(text, &mention) {
                    Claim::Holds | Claim::Unclear if is_part_of_other(text, mark) => {}
                    Claim::Holds if is_weak && text.unknown_words(mark.start) > 0 => self.is_unclear = true,
                    claim => self.take(claim, is_weak, false),
                }
            }
            Class::Out | Class::WeakOut => self.take(claim(text, &mention), class == Class::WeakOut, true),
            Class::Label => self.take(claim_of_label(text, &mention), false, false),
            Class::Left => self.take(claim_of_rest(text, &mention), false, false),
            Class::Count
            | Class::Time
            | Class::Not
            | Class::NoneOf
            | Class::After
            | Class::Be
            | Class::Yes
            | Class::No
            | Class::Offer
            | Class::Condition
            | Class::ConditionAfter
            | Class::Future
            | Class::Past
            | Class::PastAfter
            | Class::Now
            | Class::Almost
            | Class::Doubt
            | Class::Related
            | Class::Or
            | Class::But
            | Class::From
            | Class::Date
            | Class::Neutral => {}
        }
    }

    fn take(&mut self, claim: Claim, is_weak: bool, is_about_lack: bool) {
        let says_in = match claim {
            Claim::Holds => !is_about_lack,
            Claim::Fails => is_about_lack,
            Claim::Unclear => return self.is_unclear = true,
            Claim::Silent => return,
        };
        match (is_weak, says_in) {
            (false, true) => self.says_in = true,
            (false, false) => self.says_out = true,
            (true, true) => self.says_weakly_in = true,
            (true, false) => self.says_weakly_out = true,
        }
    }
}

/// Whether words that say "in stock" are part of what stands beside them: "out of stock" without a sign between, or a
/// state that they name: "available: sold out".
fn is_part_of_other(text: &MarkedText<'_>, mark: &Mark) -> bool {
    let is_lack = |mark: &Mark| mark.is(Class::Out, ALL_LANGUAGES) || mark.is(Class::WeakOut, ALL_LANGUAGES);
    let before = text.before(mark.start).next();
    let behind = text.behind(mark.end).next();
    before.is_some_and(|other| is_lack(other) && text.gap(other.end, mark.start).is_within(0))
        || behind.is_some_and(|other| {
            let gap = text.gap(mark.end, other.start);
            let is_named = text.text[mark.end..other.start].contains([':', '=']) && gap.words == 0;
            (is_lack(other) && gap.is_within(0)) || (is_named && is_stock(other, ALL_LANGUAGES))
        })
}

/// Whether folded words say by themselves, without more, that something is in stock.
pub(crate) fn is_in_stock(words: &str) -> bool {
    let text = MarkedText::new(words);
    let says = |mark: &Mark| mark.is(Class::In, ALL_LANGUAGES) || mark.is(Class::WeakIn, ALL_LANGUAGES);
    let is_beside = |mark: &Mark| mark.is(Class::Now, ALL_LANGUAGES) || mark.is(Class::Be, ALL_LANGUAGES);
    let known = text.marks.iter().all(|mark| says(mark) || is_beside(mark));
    known
        && text.marks.iter().filter(|mark| says(mark)).count() == 1
        && text.unknown_words(0) == 0
        && StockClaims::of(words, words).state() == StockState::In
}

/// A longer text is no mere answer.
const MAX_ANSWER_BYTES: usize = 60;

/// Whether a folded text is nothing but an answer: "no", or a number of pieces.
pub(crate) fn is_answer(text: &str, may_be_number: bool) -> bool {
    if text.len() > MAX_ANSWER_BYTES {
        return false;
    }
    let text = MarkedText::new(text);
    let answers = |mark: &Mark| mark.is(Class::Yes, ALL_LANGUAGES) || mark.is(Class::No, ALL_LANGUAGES);
    let fills = |mark: &Mark| mark.is(Class::Count, ALL_LANGUAGES) || mark.is(Class::Now, ALL_LANGUAGES);
    let has_number = may_be_number && text.counts.iter().any(|count| text.counts_things(count));
    let is_known = text.marks.iter().all(|mark| (answers(mark) || fills(mark)) && !is_stock(mark, ALL_LANGUAGES));
    is_known && text.unknown_words(0) == 0 && (has_number || text.marks.iter().any(answers))
}

/// Whether a folded heading announces other things: "Similar products".
pub(crate) fn is_about_others(heading: &str) -> bool {
    MarkedText::new(heading).marks.iter().any(|mark| mark.is(Class::Related, ALL_LANGUAGES))
}

/// Whether a folded text says words at some places, whatever they are about. `None` if the words are there and it
/// is not understood whether they are meant.
pub(crate) fn says_words(text: &str, places: &[usize], length: usize) -> Option<bool> {
    let text = MarkedText::new(text);
    let mut is_unclear = false;
    for start in places {
        let end = start + length;
        let known = text.mark_at(*start).filter(|mark| mark.end == end).filter(|mark| is_stock(mark, ALL_LANGUAGES));
        let languages = known.map(|mark| mark.languages(&[Class::In, Class::WeakIn, Class::Out, Class::WeakOut]));
        let mention = Mention {
            start: *start,
            end,
            languages: languages.unwrap_or_else(|| text.languages_around(*start)),
            is_about_lack: known.is_some_and(|mark| mark.languages(&[Class::Out, Class::WeakOut]) != 0),
            is_free: languages.is_none(),
        };
        match claim(&text, &mention) {
            Claim::Holds => return Some(true),
            Claim::Unclear => is_unclear = true,
            Claim::Fails | Claim::Silent => {}
        }
    }
    if is_unclear { None } else { Some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::folded;
    use crate::stock::languages::{LANGUAGES, Language};

    /// The words of some classes of a language, as texts have them.
    fn words_of(language: &Language, classes: &[Class]) -> Vec<String> {
        let chosen = language.words.iter().filter(|(class, _)| classes.contains(class));
        chosen.flat_map(|(_, words)| words.split('|')).map(|words| folded(words.trim_end_matches('*'))).collect()
    }

    #[test]
    fn a_denial_before_the_words_is_understood_in_each_language() {
        let mut count = 0;
        for language in LANGUAGES.iter().copied().flatten() {
            let now = words_of(language, &[Class::Now]).swap_remove(0);
            for denial in words_of(language, &[Class::Not]) {
                let blank = if denial.ends_with(|sign| sign >= '\u{e00}') { "" } else { " " };
                for words in words_of(language, &[Class::In, Class::WeakIn]) {
                    for text in [format!("{denial}{blank}{words}"), format!("{now} {denial}{blank}{words}")] {
                        // Where both meet, they may make other words: "non più di" is no denial.
                        let start = text.len() - words.len();
                        let is_cut = MarkedText::new(&text).mark_at(start).is_none_or(|mark| mark.end != text.len());
                        let state = StockClaims::of(&text, &words).state();
                        assert!(is_cut || state != StockState::In, "{text:?} is in stock in {}", language.name);
                        count += usize::from(!is_cut);
                    }
                }
            }
        }
        assert!(count > 1_000, "{count}");
    }

    #[test]
    fn a_denial_reaches_no_further_than_a_sentence_may_be_long() {
        let state = |times| StockClaims::of(&format!("not {}", "in stock ".repeat(times)), "in stock").state();
        assert_eq!([state(1), state(3), state(1_000)], [StockState::Out, StockState::Out, StockState::Unclear]);
    }
}
