//! Did the page change, and how much?
//!
//! Whether a change *means* anything is a question to a [`PageState`], which is shown every [`Version`] of a page and
//! learns what of it is news: [`PageState::observe`].
//!
//! ```
//! use change::{Noise, PageState, Verdict, Version};
//! let urls = page::UrlRules::none();
//! let version = |body: &'static [u8]| Version::new(body, Some("text/html"), None, &urls);
//! let mut page = PageState::default();
//! page.observe(&version(b"<p>Open <b>daily</b> from nine to five."), Noise::ByFrequency);
//! let judgement = page.observe(&version(b"<p class=hours>Open <i>daily</i> from nine to five."), Noise::ByFrequency);
//! assert_eq!(judgement.verdict, Verdict::Cosmetic);
//! ```
//!
//! [`extract`] gives the text and the links of a body ([`Body`] reads it as both at once), and [`passages`] says in words
//! what came and what went between two texts. [`read`] takes more time over a page and says all there is to know: its main
//! text without what surrounds it, links with the words around them, dates, language.
//!
//! This crate never fetches, stores or reads a clock, never resolves or follows a link, and never fails on a bad page:
//! whatever the bytes are, they have a text, if only an empty one.

mod absence;
mod attributes;
mod blocks;
mod body;
mod charset;
mod class_marks;
mod classes;
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
mod links;
mod main_text;
mod marks;
mod markup;
mod other_encoding;
mod page_state;
mod page_state_codec;
mod passages;
mod pieces;
mod plain;
mod raw_text;
mod read;
mod region;
mod rolling;
mod shingle;
mod slots;
mod span_hashes;
mod spread_sort;
mod state_codec;
mod structure;
mod tag_name;
mod targets;
mod text;
mod text_blocks;
mod token_hashes;
mod tokens;
mod told;
mod tree;
mod verdict;
mod version;
mod wide;
mod xml;

pub use crate::absence::{Absence, Presence};
pub use crate::body::Body;
pub use crate::charset::{CharsetSource, Decoded, decode};
pub use crate::dates::PageDates;
pub use crate::diff::{Diff, diff};
pub use crate::digest::{ContentDigest, content_digest};
pub use crate::extract::{ContentKind, MAX_FEEDS, MAX_LINKS, MAX_TEXT_BYTES, MetaRobots, PageText, extract};
pub use crate::hash::{fnv1a64, splitmix64};
pub use crate::host_events::{HOST_EVENT_WINDOW_S, HostEvents};
pub use crate::judgement::{BACK_TO_BACK_S, Confirmation, Judgement, Noise, PartVerdict};
pub use crate::links::{Link, Links};
pub use crate::page_state::{LookMemory, PageState, VersionMemory};
pub use crate::passages::{MAX_PASSAGES, Passages, passages};
pub use crate::read::{ReadLink, Reading, read};
pub use crate::shingle::{DEFAULT_SHINGLE_WIDTH, MAX_SHINGLES, ShingleSet, Shingler};
pub use crate::state_codec::DecodeError;
pub use crate::verdict::{MAJOR_MAGNITUDE, Verdict};
pub use crate::version::Version;
