//! Whether a mention of stock says it, denies it, leaves it open, or speaks of something else.

use crate::stock::counts::{Count, CountKind};
use crate::stock::cues::{Cues, Mention, denies_mostly, is_stock};
use crate::stock::languages::Class;
use crate::stock::marked::MarkedText;
use crate::stock::table::{ALL_LANGUAGES, Mark};

/// The claim of a mention, as a page makes it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The words hold.
    Holds,
    /// The words are denied.
    Fails,
    /// The words are there, and what is beside them leaves it open.
    Unclear,
    /// Nothing is claimed of now: an offer, a condition, another time.
    Silent,
}

/// An answer behind words that name something: "in stock: no".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// A question without an answer, or one that is not understood.
    Open,
    /// A question that another mention, an offer or a condition follows.
    Elsewhere,
    None,
}

const DENYING: [Class; 4] = [Class::No, Class::Not, Class::NoneOf, Class::After];
/// Words that may stand between a number and its thing, or between a question and its answer.
const FILLING: [Class; 5] = [Class::Count, Class::Now, Class::Be, Class::Neutral, Class::Left];

/// The claim of words that say a state by themselves.
pub(super) fn claim(text: &MarkedText<'_>, mention: &Mention) -> Claim {
    let is_about_lack = mention.is_about_lack;
    let cues = Cues::of(text, mention);
    if cues.is_elsewhere {
        return Claim::Silent;
    }
    match answer(text, mention) {
        Answer::Elsewhere => return Claim::Silent,
        Answer::Open => return Claim::Unclear,
        Answer::Yes => return if cues.is_denied_before { Claim::Fails } else { Claim::Holds },
        Answer::No => return if cues.is_denied_before { Claim::Unclear } else { Claim::Fails },
        Answer::None => {}
    }
    if !is_about_lack && let Some(count) = counted_before(text, mention) {
        return if count.kind == CountKind::Zero { Claim::Fails } else { Claim::Holds };
    }
    match cues.is_denied() {
        None => Claim::Unclear,
        Some(_) if is_about_lack && cues.is_uncertain => Claim::Unclear,
        Some(true) => Claim::Fails,
        Some(false) if cues.is_uncertain => Claim::Unclear,
        Some(false) if cues.is_almost => {
            if is_about_lack {
                Claim::Fails
            } else {
                Claim::Silent
            }
        }
        Some(false) => Claim::Holds,
    }
}

/// The claim of words that name the stock: only a number, an answer or a denial beside them says something.
pub(super) fn claim_of_label(text: &MarkedText<'_>, mention: &Mention) -> Claim {
    if Cues::of(text, mention).is_elsewhere {
        return Claim::Silent;
    }
    let has_zero_before = counted_before(text, mention).is_some_and(|count| count.kind == CountKind::Zero);
    match answer(text, mention) {
        Answer::Yes => Claim::Holds,
        Answer::No => Claim::Fails,
        Answer::Open | Answer::Elsewhere | Answer::None if has_zero_before || is_denied_beside(text, mention) => {
            Claim::Fails
        }
        Answer::Open | Answer::Elsewhere | Answer::None => Claim::Silent,
    }
}

/// The claim of words such as "left": how many are.
pub(super) fn claim_of_rest(text: &MarkedText<'_>, mention: &Mention) -> Claim {
    if Cues::of(text, mention).is_elsewhere {
        return Claim::Silent;
    }
    if is_denied_beside(text, mention) {
        return Claim::Fails;
    }
    match counted_before(text, mention).or_else(|| counted_behind(text, mention)).map(|count| count.kind) {
        Some(CountKind::Zero) => Claim::Fails,
        Some(CountKind::Some) => Claim::Holds,
        Some(CountKind::Year | CountKind::Date | CountKind::Other) | None => Claim::Silent,
    }
}

/// The number before a mention that counts it: "3 items in stock".
fn counted_before<'t>(text: &'t MarkedText<'_>, mention: &Mention) -> Option<&'t Count> {
    let count = text.count_before(mention.start)?;
    let is_known = text.gap(count.end, mention.start).is_within(2)
        && text.unknown_between(count.end, mention.start) == 0
        && text.before(mention.start).take_while(|mark| mark.start >= count.end).all(|mark| is_filling(mark, mention));
    (is_known && text.counts_things(count) && count.kind != CountKind::Year).then_some(count)
}

/// The number behind words such as "only … left" in other languages: "quedan 3 unidades".
fn counted_behind<'t>(text: &'t MarkedText<'_>, mention: &Mention) -> Option<&'t Count> {
    let count = text.count_behind(mention.end)?;
    let gap = text.gap(mention.end, count.start);
    let is_near = !gap.has_end && gap.words <= 1 && text.unknown_between(mention.end, count.start) == 0;
    (is_near && text.counts_things(count) && counts_something(text, count)).then_some(count)
}

fn is_filling(mark: &Mark, mention: &Mention) -> bool {
    FILLING.iter().any(|class| mark.is(*class, mention.languages))
}

/// Whether a number ends its clause, or stands before things or words about stock.
fn counts_something(text: &MarkedText<'_>, count: &Count) -> bool {
    let next = text.behind(count.end).next().filter(|mark| text.gap(count.end, mark.start).is_within(0));
    is_final(text, count.end)
        || next.is_some_and(|mark| {
            mark.is(Class::Count, ALL_LANGUAGES) || mark.is(Class::Left, ALL_LANGUAGES) || is_stock(mark, ALL_LANGUAGES)
        })
}

/// Whether a denial stands right beside a mention.
fn is_denied_beside(text: &MarkedText<'_>, mention: &Mention) -> bool {
    let denies = |mark: &Mark, classes: &[Class]| mark.languages(classes) & mention.languages != 0;
    let before = text.before(mention.start).next().is_some_and(|mark| {
        text.gap(mark.end, mention.start).is_within(1) && denies(mark, &[Class::Not, Class::NoneOf])
    });
    let behind = text.behind(mention.end).next().is_some_and(|mark| {
        let is_unspaced = text.text[mark.start..].starts_with(|sign| sign >= '\u{e00}');
        text.gap(mention.end, mark.start).is_within(usize::from(is_unspaced)) && denies(mark, &[Class::After])
    });
    before || behind
}

/// The answer behind a mention.
fn answer(text: &MarkedText<'_>, mention: &Mention) -> Answer {
    match direct_answer(text, mention) {
        Answer::None => {}
        answer @ (Answer::Yes | Answer::No | Answer::Open | Answer::Elsewhere) => return answer,
    }
    let (end, sign) = text.end_of_sentence(mention.end);
    let is_greek = text.text[..end].chars().next_back().is_some_and(|sign| matches!(sign, '\u{370}'..='\u{3ff}'));
    let is_question = sign == Some('?') || (sign == Some(';') && is_greek);
    if !is_question || text.gap(mention.end, end).words > 6 {
        return Answer::None;
    }
    let next = end + sign.map_or(0, char::len_utf8);
    let (end_of_next, _) =
        text.end_of_sentence(next.max(next + text.text[next..].len() - text.text[next..].trim_start().len()));
    for mark in text.behind(next).take_while(|mark| mark.end <= end_of_next) {
        let is = |class| mark.is(class, mention.languages);
        if is(Class::Yes) {
            return Answer::Yes;
        } else if mark.languages(&DENYING) & mention.languages != 0 {
            return Answer::No;
        } else if is(Class::Offer) || is(Class::Condition) || is_stock(mark, ALL_LANGUAGES) {
            return Answer::Elsewhere;
        }
    }
    Answer::Open
}

/// The answer right behind a mention, with or without a sign between.
fn direct_answer(text: &MarkedText<'_>, mention: &Mention) -> Answer {
    let (mut place, mut is_named) = behind_signs(text.text, mention.end);
    for _ in 0..2 {
        let Some(mark) = text.mark_at(place) else { break };
        let is_filler = [Class::Now, Class::Be, Class::Neutral].iter().any(|class| mark.is(*class, mention.languages));
        if !is_filler || mark.is(Class::No, mention.languages) || mark.is(Class::Yes, mention.languages) {
            break;
        }
        let (next, has_sign) = behind_signs(text.text, mark.end);
        (place, is_named) = (next, is_named || has_sign);
    }
    if let Some(count) = text.count_behind(place).filter(|count| count.start == place) {
        return counted_answer(text, count, is_named);
    }
    let Some(mark) = text.mark_at(place) else { return Answer::None };
    worded_answer(text, mark, mention, is_named)
}

fn counted_answer(text: &MarkedText<'_>, count: &Count, is_named: bool) -> Answer {
    let says = text.counts_things(count) && (is_named || counts_something(text, count));
    match count.kind {
        CountKind::Zero if says => Answer::No,
        CountKind::Some if says => Answer::Yes,
        CountKind::Zero | CountKind::Some | CountKind::Year | CountKind::Date | CountKind::Other => Answer::None,
    }
}

fn worded_answer(text: &MarkedText<'_>, mark: &Mark, mention: &Mention, is_named: bool) -> Answer {
    let languages = if denies_mostly(mark, ALL_LANGUAGES) { ALL_LANGUAGES } else { mention.languages };
    // A word of the question is no answer: "còn hàng không?"
    let is_asked =
        text.text[mark.end..].trim_start().starts_with('?') && !text.text[mention.end..mark.start].contains('?');
    let is_end = is_final(text, mark.end) && !is_asked;
    let is_no = mark.languages(&DENYING) & languages != 0;
    if mark.is(Class::Yes, mention.languages) && is_end {
        Answer::Yes
    } else if is_no && is_end && (is_named || mark.is(Class::No, languages)) {
        Answer::No
    } else if is_no && is_named && has_colon(&text.text[mention.end..mark.start]) {
        // "In stock: not before May" denies. "In stock: no returns" may mean anything.
        if mark.is(Class::Not, languages) { Answer::No } else { Answer::Open }
    } else {
        Answer::None
    }
}

fn has_colon(between: &str) -> bool {
    between.contains([':', '?', '='])
}

/// The place behind blanks and signs that lead to an answer, and whether there are signs.
fn behind_signs(text: &str, from: usize) -> (usize, bool) {
    let rest = text[from..].trim_start_matches([
        ' ', ':', '=', '?', '-', '–', '—', '(', '[', '|', '/', '→', '>', '<', '+', '~', '≥', '"', ',',
    ]);
    let place = text.len() - rest.len();
    (place, text[from..place].contains(|sign: char| sign != ' ' && sign != ','))
}

/// Whether nothing but a sign or the end follows.
fn is_final(text: &MarkedText<'_>, place: usize) -> bool {
    !text.text[place..].trim_start().starts_with(char::is_alphanumeric)
}
