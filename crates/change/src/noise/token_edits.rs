//! The tokens in which two texts differ, and values that are only spelled in another way.

use super::tokens::{Meaning, Token};
use chance::splitmix64;
use document::numbers::begins_with_currency;
use document::passage_hash;
use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::Range;

/// The most tokens of two texts, between their common start and end, that are compared.
const MAX_TOKENS: usize = 1_000;
/// The most tokens of a value whose order does not count.
const MAX_VALUE_TOKENS: usize = 4;

/// A hash of tokens. Of a number and its currency, neither the order counts nor the signs in the number.
pub(super) fn value(tokens: &[Token<'_>]) -> u32 {
    let numbers = tokens.iter().filter(|token| matches!(token.meaning, Meaning::Number(_))).count();
    let is_amount = numbers == 1
        && tokens.len() <= MAX_VALUE_TOKENS
        && tokens.iter().all(|token| matches!(token.meaning, Meaning::Number(_)) || begins_with_currency(token.text));
    let mut hashes: Vec<u64> = tokens
        .iter()
        .map(|token| match token.meaning {
            Meaning::Number(_) if is_amount => passage_hash(plain_number(token.text).as_bytes()),
            _ => passage_hash(token.text.as_bytes()),
        })
        .collect();
    if is_amount {
        hashes.sort_unstable();
    }
    (hashes.into_iter().fold(0, |hash, token| splitmix64(hash ^ token)) >> 32) as u32
}

/// A number with a dot before its last group, and no other sign.
fn plain_number(number: &str) -> String {
    let is_digit = |sign: char| sign.is_ascii_digit();
    match number.rfind(|sign| !is_digit(sign)) {
        None => number.to_owned(),
        Some(last) => {
            let (whole, rest) = number.split_at(last);
            let digits = |part: &str| part.chars().filter(|sign| is_digit(*sign)).collect::<String>();
            format!("{}.{}", digits(whole), digits(rest))
        }
    }
}

/// Edits, or a single one if they only spell a value in another way: `1.299,00 €` and `€1,299.00`.
pub(super) fn one_value(
    edits: Vec<(Range<usize>, Range<usize>)>,
    old: &[Token<'_>],
    new: &[Token<'_>],
) -> Vec<(Range<usize>, Range<usize>)> {
    let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return edits };
    let whole = (first.0.start..last.0.end, first.1.start..last.1.end);
    let is_short = whole.0.len().max(whole.1.len()) <= MAX_VALUE_TOKENS;
    if is_short && value(&old[whole.0.clone()]) == value(&new[whole.1.clone()]) { vec![whole] } else { edits }
}

/// The ranges of tokens that were replaced; `None` if the texts have too many tokens, or none in common.
pub(super) fn edits(old: &[Token<'_>], new: &[Token<'_>]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let start = old.iter().zip(new).take_while(|(one, other)| one.text == other.text).count();
    let rests = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rests.take_while(|(one, other)| one.text == other.text).count();
    let texts = |tokens: &[Token<'_>]| tokens[start..tokens.len() - end].iter().map(|it| it.text.to_owned()).collect();
    let (old, new): (Vec<String>, Vec<String>) = (texts(old), texts(new));
    if old.len() + new.len() > MAX_TOKENS {
        return None;
    }
    let within = |range: Range<usize>| range.start + start..range.end + start;
    let steps = capture_diff_slices(Algorithm::Patience, &old, &new).into_iter();
    let edits = steps.filter(|step| step.tag() != DiffTag::Equal);
    Some(edits.map(|step| (within(step.old_range()), within(step.new_range()))).collect())
}
