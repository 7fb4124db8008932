//! The words of many languages about stock, as tables. A language needs no code: it is a table in one of these files,
//! with a line for each class of words.

mod asian;
mod baltic;
mod germanic;
mod iberian;
mod others;
mod romance;
mod semitic;
mod slavic;
mod south_slavic;

/// The role of words in a sentence about stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Says that something is in stock: "in stock".
    In,
    /// Says so of stock, and of much else: "available".
    WeakIn,
    /// Says that something is out of stock: "sold out".
    Out,
    /// The opposite of [`WeakIn`](Self::WeakIn): "unavailable".
    WeakOut,
    /// Names the stock, so that a number or an answer behind it decides: "stock level".
    Label,
    /// Says with a number how many there are: "left".
    Left,
    /// Things that are counted, and words for the thing on sale: "pieces".
    Count,
    /// Units of time, so that a number before them counts no things: "days".
    Time,
    /// Denies what follows within a few words: "not".
    Not,
    /// Denies the thing right behind it: "none".
    NoneOf,
    /// Denies what stands right before it: "nicht", "ません".
    After,
    /// Forms of "is" between words and the denial behind them.
    Be,
    /// Affirms, as an answer.
    Yes,
    /// Denies, as an answer.
    No,
    /// Offers to notify, so that the sentence is about another time: "notify me".
    Offer,
    /// Begins a condition: "when".
    Condition,
    /// Ends a condition: "olduğunda".
    ConditionAfter,
    /// Speaks of a time to come: "soon".
    Future,
    /// Speaks of a time before, ahead of the words: "was".
    Past,
    /// The same behind the words: "でした".
    PastAfter,
    /// Speaks of today, whatever stands before it: "now".
    Now,
    /// Nearly: of the opposite.
    Almost,
    /// Makes it uncertain: "maybe".
    Doubt,
    /// Speaks of other things: "similar".
    Related,
    /// Joins words that one "not" denies together: "or".
    Or,
    /// Begins a clause of its own: "but".
    But,
    /// Leads to a time: "from".
    From,
    /// A month, a day, or another time that is no number: "tomorrow".
    Date,
    /// Words that say nothing here, though parts of them do elsewhere: "not only".
    Neutral,
}

/// The words of a language: of each class, separated by bars. A star stands for an ending, or none.
pub(super) struct Language {
    #[cfg_attr(not(test), expect(dead_code, reason = "it names the table for readers and tests"))]
    pub(super) name: &'static str,
    /// Whether two denials are one, as in "no hay ninguno".
    pub(super) denials_agree: bool,
    pub(super) words: &'static [(Class, &'static str)],
}

/// All languages.
pub(super) const LANGUAGES: &[&[Language]] = &[
    germanic::LANGUAGES,
    romance::LANGUAGES,
    iberian::LANGUAGES,
    slavic::LANGUAGES,
    south_slavic::LANGUAGES,
    baltic::LANGUAGES,
    others::LANGUAGES,
    asian::LANGUAGES,
    semitic::LANGUAGES,
];
