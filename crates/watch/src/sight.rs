//! The sight of a trigger: the number that it finds on a page, or whether the page says its words.

use document::numbers::{Amount, unit_name};

/// Words in the name of a number that is a price.
pub(crate) const PRICE_WORDS: &[&str] =
    &["price", "preis", "prix", "precio", "prezzo", "prijs", "pris", "cost", "fare", "fee", "价格", "価格"];

/// Those of them that end compounds, with their plurals: "Endpreis", "totalpris", "商品価格".
const PRICE_ENDS: [&str; 8] = ["preis", "preise", "prijs", "prijzen", "pris", "priser", "价格", "価格"];

/// Whether the name of a number has a word for a price. "coffee" has none, though it ends in "fee".
pub(crate) fn names_price(name: &str) -> bool {
    let is_price = |word: &str| {
        PRICE_WORDS.contains(&word)
            || word.strip_suffix('s').is_some_and(|one| PRICE_WORDS.contains(&one))
            || PRICE_ENDS.iter().any(|end| word.ends_with(end))
    };
    name.split(|sign: char| !sign.is_alphanumeric()).any(is_price)
}

/// The number or the words that a trigger finds on a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    /// The page has nothing that the trigger is about.
    Nothing,
    /// Its number.
    Number(f64),
    /// A range of numbers: a price from one to another, or the prices of several offers of one thing.
    Range {
        /// The number that is compared with a threshold from below.
        low: f64,
        /// The number that is compared with a threshold from above.
        high: f64,
    },
    /// Whether the page says its words.
    Words(bool),
    /// Its words are there, or others for the same, and it is not understood whether the page means them: a question, a
    /// doubt, or both a yes and a no.
    Unclear,
    /// The page says it of several equal things, and does not say which one it is about.
    Several,
}

/// A sight, with the unit of its number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) sight: Sight,
    /// The code or sign of its currency, or `%`. `None` if nothing says it.
    pub(crate) unit: Option<String>,
}

impl Reading {
    pub(crate) fn of_amount(amount: &Amount) -> Self {
        Self { sight: Sight::of_range(amount.low, amount.high), unit: amount.unit.map(unit_name) }
    }
}

impl From<Sight> for Reading {
    fn from(sight: Sight) -> Self {
        Self { sight, unit: None }
    }
}

impl Sight {
    pub(crate) fn of_range(low: f64, high: f64) -> Self {
        if low < high { Self::Range { low, high } } else { Self::Number(low) }
    }
}
