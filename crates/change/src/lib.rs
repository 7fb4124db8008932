//! Did the page change, and how much?
//!
//! A body becomes text and links ([`extract`]), those become a [`Fingerprint`] small enough to keep, and two fingerprints
//! are compared ([`compare`]). Always against the last *accepted* version, not the last fetched one: small changes then
//! add up until they count. [`passages`] says in words what came and what went. [`read`] takes more time over a page and says all
//! there is to know: its main text without what surrounds it, links with the words around them, dates, language.
//!
//! ```
//! use change::{Fingerprint, Verdict, compare, extract};
//! let fingerprint = |body: &[u8]| Fingerprint::of(&extract(Some("text/html"), body), body);
//! let old = fingerprint(b"<p>Open <b>daily</b> from nine to five.");
//! let new = fingerprint(b"<p class=hours>Open <i>daily</i> from nine to five.");
//! assert_eq!(compare(Some(&old), &new).verdict, Verdict::Cosmetic);
//! ```
//!
//! Whether a change *means* anything is a question to a [`PageState`], which is shown every [`Version`] of a page and
//! learns what of it is news: [`PageState::observe`].
//!
//! This crate never fetches, stores or reads a clock, never resolves or follows a link, and never fails on a bad page:
//! whatever the bytes are, they have a text, if only an empty one.

mod absence;
mod attributes;
mod blocks;
mod charset;
mod classes;
mod compact_sketch;
mod dates;
mod diff;
mod digest;
mod entities;
mod extract;
mod foreign;
mod guard;
mod hash;
mod hints;
mod host_events;
mod html;
mod judgement;
mod lanes;
mod language;
mod main_text;
mod marks;
mod markup;
mod minhash;
mod one_permutation;
mod other_encoding;
mod page_state;
mod page_state_codec;
mod passages;
mod pieces;
mod plain;
mod plain_copy;
mod raw_text;
mod read;
mod region;
mod rolling;
mod shingle;
mod simhash;
mod slots;
mod state_codec;
mod structure;
mod tag_name;
mod targets;
mod text;
mod text_blocks;
mod token_hashes;
mod tokens;
mod tree;
mod verdict;
mod version;
mod xml;

pub use crate::absence::{Absence, Presence};
pub use crate::charset::{CharsetSource, Decoded, decode};
pub use crate::compact_sketch::{BitsPerSlot, CompactSketch};
pub use crate::dates::PageDates;
pub use crate::diff::{Diff, diff};
pub use crate::digest::{ContentDigest, content_digest, links_digest, text_digest};
pub use crate::extract::{ContentKind, Link, MAX_LINKS, MAX_TEXT_BYTES, MetaRobots, PageText, extract};
pub use crate::hash::{fnv1a64, splitmix64};
pub use crate::host_events::{HOST_EVENT_WINDOW_S, HostEvents};
pub use crate::judgement::{BACK_TO_BACK_S, Confirmation, Judgement, Noise, PartVerdict};
pub use crate::minhash::{MinHash, sketch_deviation};
pub use crate::one_permutation::{OnePermutation, SKETCH_SLOTS, Sketch};
pub use crate::page_state::PageState;
pub use crate::passages::{MAX_PASSAGES, Passages, passages};
pub use crate::read::{ReadLink, Reading, read};
pub use crate::shingle::{
    DEFAULT_SHINGLE_WIDTH, MAX_SHINGLES, ShingleSet, Shingler, TITLE_SHINGLE_WIDTH, link_shingles,
};
pub use crate::simhash::{NEAR_DUPLICATE_BITS, is_near_duplicate, simhash, simhash_blocks, simhash_distance};
pub use crate::state_codec::DecodeError;
pub use crate::tokens::{Tokens, tokens};
pub use crate::verdict::{Comparison, Fingerprint, MAJOR_MAGNITUDE, Verdict, compare};
pub use crate::version::Version;
