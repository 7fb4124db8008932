//! Places that an edit renames. A place is named by the tokens beside it, so an edit of those tokens renames it. The evidence of
//! the old name is copied to the new one: otherwise the noise beside an edit would have to be learned again.

use super::runs::ReadUnit;
use super::tokens::{Meaning, Token};
use chance::splitmix64;
use document::passage_hash;
use std::ops::Range;

/// Makes the places of tokens differ from slots and gaps.
const RUN: u64 = 0x0072_756e;
/// Bits that places of tokens have and slots and gaps have not.
const RUN_BITS: u32 = 1 << 27;

/// Tokens before an edit, and those that replaced them.
pub(super) type TokenEdit = (Range<usize>, Range<usize>);

/// The place of tokens between their neighbours, in a slot, a gap or a text.
pub(super) fn place_of(tokens: &[Token<'_>], at: &Range<usize>, scope: u64) -> u32 {
    let of = |neighbour: Option<&Token<'_>>| neighbour.map_or(0, |it| passage_hash(it.as_neighbour().as_bytes()));
    let left = at.start.checked_sub(1).and_then(|left| tokens.get(left));
    let place = splitmix64(splitmix64(scope ^ RUN) ^ of(left).rotate_left(1) ^ of(tokens.get(at.end)).rotate_left(2));
    RUN_BITS | (place >> 37) as u32
}

/// The places of the tokens beside edits, before and after. `scopes` are the slots, and the gaps, of the two units.
pub(super) fn moved_places(
    (before, after): (&ReadUnit<'_>, &ReadUnit<'_>),
    edits: &[TokenEdit],
    scopes: [[Option<u64>; 2]; 2],
) -> Vec<[u32; 2]> {
    let (old, new) = (&before.tokens, &after.tokens);
    // A number at an end of the replaced tokens may be the noise, and the rest the edit.
    let is_alike = |[one, other]: &[usize; 2]| {
        old[*one].meaning != Meaning::Word && old[*one].as_neighbour() == new[*other].as_neighbour()
    };
    let ends = |(went, came): &TokenEdit| {
        let left = went.start.checked_sub(1).zip(came.start.checked_sub(1)).map(|(one, other)| [one, other]);
        let right = (went.end < old.len() && came.end < new.len()).then_some([went.end, came.end]);
        let inside = match went.is_empty() || came.is_empty() {
            true => [None; 2],
            false => [[went.start, came.start], [went.end - 1, came.end - 1]].map(|ends| Some(ends).filter(is_alike)),
        };
        [left, right].into_iter().chain(inside).flatten()
    };
    let places = |[one, other]: [usize; 2]| {
        let scopes = scopes.into_iter().filter_map(|[one, other]| Some([one?, other?]));
        scopes.map(move |scopes| {
            [place_of(old, &(one..one + 1), scopes[0]), place_of(new, &(other..other + 1), scopes[1])]
        })
    };
    edits.iter().flat_map(ends).flat_map(places).filter(|[one, other]| one != other).collect()
}
