//! Did the page change, and how much?
//!
//! A body becomes text and links ([`extract`]), those become a [`Fingerprint`] small enough to keep, and two fingerprints
//! are compared ([`compare`]). Always against the last *accepted* version, not the last fetched one: small changes then
//! add up until they count. [`passages`] says in words what came and what went.
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

mod blocks;
mod charset;
mod classes;
mod diff;
mod digest;
mod entities;
mod extract;
mod guard;
mod host_events;
mod html;
mod judgement;
mod page_state;
mod passages;
mod pieces;
mod region;
mod shingle;
mod slots;
mod state_codec;
mod targets;
mod text;
mod tokens;
mod verdict;
mod version;
mod xml;

pub use crate::charset::{CharsetSource, Decoded, decode};
pub use crate::diff::{Diff, diff};
pub use crate::digest::{ContentDigest, content_digest, links_digest, text_digest};
pub use crate::extract::{ContentKind, Link, MAX_LINKS, MAX_TEXT_BYTES, MetaRobots, PageText, extract};
pub use crate::host_events::{HOST_EVENT_WINDOW_S, HostEvents};
pub use crate::judgement::{Confirmation, Judgement, PartVerdict};
pub use crate::page_state::PageState;
pub use crate::passages::{MAX_PASSAGES, Passages, passages};
pub use crate::shingle::{
    DEFAULT_SHINGLE_WIDTH, DecodeError, MAX_SHINGLES, ShingleSet, fnv1a64, link_shingles, splitmix64,
};
pub use crate::tokens::{Tokens, tokens};
pub use crate::verdict::{Comparison, Fingerprint, MAJOR_MAGNITUDE, Verdict, compare};
pub use crate::version::Version;
