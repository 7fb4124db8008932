//! The words beside a mention, and how they turn it.

use crate::stock::counts::CountKind;
use crate::stock::languages::Class;
use crate::stock::marked::{Gap, MAX_SENTENCE, MarkedText};
use crate::stock::table::{ALL_LANGUAGES, Languages, Mark, denials_agree};
use std::ops::Range;

/// A place in a text that mentions stock, or the words of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) languages: Languages,
    /// Whether the words say that something is out of stock.
    pub(super) is_about_lack: bool,
    /// Whether only denials count, because the words need not be about stock.
    pub(super) is_free: bool,
}

/// How the words beside a mention turn it.
#[derive(Debug, Default)]
pub(super) struct Cues {
    denials: u32,
    denying: Languages,
    /// Whether a "not" stands before the mention.
    pub(super) is_denied_before: bool,
    /// Whether it is about another time, another thing, or a condition.
    pub(super) is_elsewhere: bool,
    pub(super) is_uncertain: bool,
    pub(super) is_almost: bool,
    has_offer: bool,
    has_condition: bool,
}

/// Words farther away say nothing of a mention.
const REACH: usize = 12;
/// The most words between a "not" and what it denies.
const DENIAL_REACH: usize = 4;

const STOCK: [Class; 4] = [Class::In, Class::WeakIn, Class::Out, Class::WeakOut];
const DENYING: [Class; 4] = [Class::Not, Class::NoneOf, Class::No, Class::After];

impl Cues {
    pub(super) fn of(text: &MarkedText<'_>, mention: &Mention) -> Self {
        let mut cues = Self::default();
        Before::new(text, mention).read(&mut cues);
        cues.is_denied_before = cues.denials > 0;
        read_behind(text, mention, &mut cues);
        if mention.is_free {
            cues.is_elsewhere = cues.has_offer && cues.has_condition;
            cues.is_uncertain = false;
        }
        cues
    }

    /// Whether the mention is denied. `None` if two denials leave it open.
    pub(super) fn is_denied(&self) -> Option<bool> {
        match self.denials {
            0 => Some(false),
            1 => Some(true),
            _ => denials_agree(self.denying).then_some(true),
        }
    }

    fn deny(&mut self, languages: Languages) {
        self.denials += 1;
        self.denying |= languages;
    }
}

/// The classes of a mark that count for a mention: in its languages, or beside it in any if there is no doubt which.
fn classes(mark: &Mark, mention: &Mention, gap: Gap) -> Vec<Class> {
    let denies_only = mark.is_only(&DENYING, ALL_LANGUAGES);
    let is_beside = gap.is_within(0) && denies_only;
    let is_clear = is_beside || (mark.meanings.len() == 1 && mark.is(Class::Offer, ALL_LANGUAGES));
    let applies = |languages: Languages| is_clear || languages & mention.languages != 0;
    let is_false_friend = mention.is_free && !denies_mostly(mark, mention.languages);
    let counts = |class: Class| !is_false_friend || !DENYING.contains(&class);
    mark.meanings
        .iter()
        .filter(|(class, languages)| applies(*languages) && counts(*class))
        .map(|(class, _)| *class)
        .collect()
}

/// Whether words deny in more of these languages than they do something else in.
pub(super) fn denies_mostly(mark: &Mark, languages: Languages) -> bool {
    let denying = mark.languages(&DENYING) & languages;
    let others = mark.meanings.iter().filter(|(class, _)| !DENYING.contains(class));
    let others = others.fold(0, |all, (_, other)| all | (other & languages & !denying));
    denying.count_ones() > others.count_ones()
}

/// Reads what stands before a mention, from right to left.
struct Before<'t, 'm> {
    text: &'m MarkedText<'t>,
    mention: &'m Mention,
    /// Where the mention begins, with those that share its denial.
    edge: usize,
    /// Whether another clause or mention is between.
    is_crossed: bool,
    is_joined: bool,
    is_now: bool,
}

impl<'t, 'm> Before<'t, 'm> {
    fn new(text: &'m MarkedText<'t>, mention: &'m Mention) -> Self {
        Self { text, mention, edge: mention.start, is_crossed: false, is_joined: false, is_now: false }
    }

    fn read(mut self, cues: &mut Cues) {
        let start = self.mention.start;
        // Mentions beside each other share a denial, however many they are. So the gap alone ends no list of them.
        for mark in self.text.before(start).take_while(|mark| start - mark.end <= MAX_SENTENCE) {
            let gap = self.text.gap(mark.end, self.edge.max(mark.end));
            if gap.has_end || gap.words > REACH {
                break;
            }
            let classes = classes(mark, self.mention, gap);
            let is_be = classes.contains(&Class::Be);
            let mut has_denied = false;
            for class in classes {
                match class {
                    Class::Not | Class::NoneOf | Class::No if has_denied => {}
                    Class::But if is_be => {}
                    class => has_denied |= self.take(class, mark, gap, cues),
                }
            }
        }
    }

    /// Takes a class of a mark. Returns whether it denies.
    fn take(&mut self, class: Class, mark: &Mark, gap: Gap, cues: &mut Cues) -> bool {
        let near = |words: usize| gap.is_within(words) && !self.is_crossed;
        match class {
            Class::Not if near(DENIAL_REACH) || self.is_around(mark, gap) => cues.deny(mark.languages(&DENYING)),
            Class::Not if near(2 * DENIAL_REACH) => cues.is_uncertain = true,
            Class::NoneOf if near(DENIAL_REACH - 1) => cues.deny(mark.languages(&DENYING)),
            Class::No if self.is_denial(mark) && near(DENIAL_REACH) => cues.deny(mark.languages(&DENYING)),
            Class::In | Class::WeakIn => self.pass(mark, gap),
            Class::Out | Class::WeakOut if self.is_joined && near(DENIAL_REACH - 1) => {
                cues.deny(mark.languages(&STOCK))
            }
            Class::Out | Class::WeakOut | Class::But => self.is_crossed = true,
            Class::Or => self.is_joined = gap.is_within(0),
            Class::Offer if self.mention.is_about_lack => return false,
            Class::Offer => {
                cues.has_offer = true;
                cues.is_elsewhere |= !gap.is_apart || cues.has_condition;
                cues.is_uncertain |= gap.is_apart;
            }
            Class::Condition if near(DENIAL_REACH + 2) => {
                cues.has_condition = true;
                cues.is_elsewhere = true;
            }
            Class::Future => cues.is_elsewhere |= near(DENIAL_REACH + 2) && !self.is_now,
            Class::Past => cues.is_elsewhere |= near(DENIAL_REACH) && !self.is_now && !self.has_count(mark.end),
            Class::Now => self.is_now |= near(DENIAL_REACH),
            Class::Almost => cues.is_almost |= near(0),
            Class::Doubt => cues.is_uncertain |= near(DENIAL_REACH - 1) || gap.words == 0,
            Class::Related => cues.is_elsewhere |= gap.words <= DENIAL_REACH + 2,
            Class::From if near(DENIAL_REACH) => {
                let to = self.mention.start;
                let time = time_behind(self.text, mark.end..to, self.mention.languages);
                cues.is_elsewhere |= matches!(time, TimeBehind::Day);
            }
            Class::Not | Class::NoneOf | Class::No | Class::Condition => return false,
            Class::Label
            | Class::Left
            | Class::Count
            | Class::Time
            | Class::After
            | Class::Be
            | Class::Yes
            | Class::ConditionAfter
            | Class::PastAfter
            | Class::From
            | Class::Date
            | Class::Neutral => return false,
        }
        matches!(class, Class::Not | Class::NoneOf | Class::No)
    }

    /// Whether an answer denies what follows: "leider nicht", or a cross.
    fn is_denial(&self, mark: &Mark) -> bool {
        let words = &self.text.text[mark.start..mark.end];
        words.contains(' ') || !words.contains(char::is_alphanumeric)
    }

    /// Goes past another mention. Words beside each other, or joined by "or", share what denies them.
    fn pass(&mut self, mark: &Mark, gap: Gap) {
        match gap.is_within(0) || (self.is_joined && gap.is_within(DENIAL_REACH - 1)) {
            true => self.edge = mark.start,
            false => self.is_crossed = true,
        }
    }

    /// Whether a "not" is kept from the mention by words in commas only: "not, at the moment, in stock".
    fn is_around(&self, mark: &Mark, gap: Gap) -> bool {
        let between = &self.text.text[mark.end..self.edge.max(mark.end)];
        !self.is_crossed
            && gap.words <= 2 * DENIAL_REACH
            && between.starts_with(',')
            && between.matches(',').count() > 1
    }

    fn has_count(&self, from: usize) -> bool {
        self.text.count_before(self.mention.start).is_some_and(|count| count.start >= from)
    }
}

/// Reads what stands behind a mention.
fn read_behind(text: &MarkedText<'_>, mention: &Mention, cues: &mut Cues) {
    let mut is_after_be = false;
    cues.is_elsewhere |= is_day_behind(text, mention.end);
    for mark in text.behind(mention.end) {
        let gap = text.gap(mention.end, mark.start);
        let is_unspaced = text.text[mark.start..].starts_with(|sign| sign >= '\u{e00}');
        if gap.has_end || gap.words > DENIAL_REACH {
            break;
        }
        let near = |words: usize| gap.is_within(words);
        for class in classes(mark, mention, gap) {
            match class {
                Class::After if near(usize::from(is_unspaced)) || (is_after_be && near(DENIAL_REACH)) => {
                    cues.deny(mark.languages(&DENYING));
                }
                Class::No if is_after_be && near(DENIAL_REACH) && text.text[mark.start..mark.end].contains(' ') => {
                    cues.deny(mark.languages(&DENYING));
                }
                Class::After if near(2) => cues.is_uncertain = true,
                Class::Not if near(0) && !mark.is(Class::After, mention.languages) => cues.is_uncertain = true,
                Class::Be => is_after_be |= near(0),
                Class::Future => cues.is_elsewhere |= near(2),
                Class::ConditionAfter => cues.is_elsewhere |= near(1),
                Class::PastAfter => cues.is_elsewhere |= near(1),
                Class::Date => {
                    cues.is_elsewhere |=
                        is_only_date(mark, mention) && near(1) && is_short(&text.text[mention.end..mark.start])
                }
                Class::Related => cues.is_elsewhere |= near(2),
                Class::From if near(0) => match time_behind(text, mark.end..text.text.len(), mention.languages) {
                    TimeBehind::Day => cues.is_elsewhere = true,
                    TimeBehind::Span => cues.is_uncertain |= !mention.is_about_lack,
                    TimeBehind::None => {}
                },
                Class::Offer if mention.is_about_lack => {}
                Class::Offer => {
                    cues.is_elsewhere |= near(2);
                    cues.is_uncertain |= gap.is_apart && gap.words <= 2;
                }
                Class::Doubt => cues.is_uncertain |= gap.words <= 1,
                Class::But | Class::In | Class::WeakIn | Class::Out | Class::WeakOut => return,
                Class::Label
                | Class::Left
                | Class::Count
                | Class::Time
                | Class::Not
                | Class::NoneOf
                | Class::After
                | Class::Yes
                | Class::No
                | Class::Condition
                | Class::Past
                | Class::Now
                | Class::Almost
                | Class::Or
                | Class::From
                | Class::Neutral => {}
            }
        }
    }
}

/// Whether a mark is the name of a time and nothing else: "may" is not.
fn is_only_date(mark: &Mark, mention: &Mention) -> bool {
    mark.is_only(&[Class::Date], mention.languages)
}

/// Whether no more than a short word is between: "disponibile a giugno".
fn is_short(between: &str) -> bool {
    between.trim().len() <= 3
}

enum TimeBehind {
    /// A day, a month, a year.
    Day,
    /// Some days or hours.
    Span,
    None,
}

/// The time that a word such as "from" leads to, in a part of the text.
fn time_behind(text: &MarkedText<'_>, part: Range<usize>, languages: Languages) -> TimeBehind {
    let is_day = |mark: &Mark| mark.is(Class::Date, languages) && mark.end <= part.end;
    let is_near = |mark: &&Mark| text.gap(part.start, mark.start).is_within(2);
    if text.behind(part.start).take_while(is_near).any(is_day) {
        return TimeBehind::Day;
    }
    let count = text.count_behind(part.start).filter(|count| count.end <= part.end);
    let Some(count) = count.filter(|count| text.gap(part.start, count.start).is_within(1)) else {
        return TimeBehind::None;
    };
    match count.kind {
        CountKind::Date | CountKind::Year => TimeBehind::Day,
        CountKind::Zero | CountKind::Some if text.is_day(count) => TimeBehind::Day,
        CountKind::Zero | CountKind::Some | CountKind::Other if text.is_time(count) => TimeBehind::Span,
        CountKind::Zero | CountKind::Some | CountKind::Other => TimeBehind::None,
    }
}

/// Whether a day follows at once: "back in stock: 1 June".
fn is_day_behind(text: &MarkedText<'_>, place: usize) -> bool {
    text.count_behind(place).is_some_and(|count| {
        let is_next = count.start - place <= MAX_SIGNS && text.gap(place, count.start).words == 0;
        is_next && (count.kind == CountKind::Date || text.is_day(count))
    })
}

/// The most bytes of blanks and signs between words and a day that belongs to them.
const MAX_SIGNS: usize = 4;

/// Whether a mark is a mention of stock for these languages.
pub(super) fn is_stock(mark: &Mark, languages: Languages) -> bool {
    STOCK.iter().any(|class| mark.is(*class, languages))
}
