//! Did the page change, and how much?
//!
//! Whether a change *means* anything is decided by a [`PageState`]. It is shown every [`Version`] of a page and learns
//! which parts of it are news: [`PageState::observe`].
//!
//! ```
//! use change::{PageState, Version, VersionVerdict};
//! let urls = page::UrlRules::none();
//! let version = |body: &'static [u8]| Version::new(body, Some("text/html"), None, &urls);
//! let mut page = PageState::default();
//! page.observe(&version(b"<p>Open <b>daily</b> from nine to five."), None);
//! let judgement = page.observe(&version(b"<p class=hours>Open <i>daily</i> from nine to five."), None);
//! assert_eq!(judgement.verdict, VersionVerdict::Cosmetic);
//! ```
//!
//! [`ChangeRecord`] describes a change in words, [`word_diff`] finds the words in which two texts differ, and [`diff`]
//! compares two versions without any history. The crate [`document`] reads the bodies.
//!
//! This crate never fetches, stores or reads a clock.

mod absence;
mod calendar;
mod cards;
mod change_record;
mod class_marks;
mod classed_text;
mod classes;
mod diff;
mod elements;
mod gaps;
mod held;
mod held_versions;
mod host_events;
mod image_words;
mod judgement;
mod known_body;
mod moves;
mod news;
mod noise;
mod order;
mod page_memory;
mod page_place;
mod page_state;
mod page_state_codec;
mod pairing;
mod places;
mod reflow;
mod region;
mod reported_facts;
mod rolling;
mod rows;
mod seams;
mod second_looks;
mod sections;
mod shingle;
mod span_hashes;
mod spread_sort;
mod stand_in;
mod stand_in_kind;
mod stand_in_words;
mod state_codec;
mod targets;
mod token_hashes;
mod tokens;
mod turns;
mod typeset;
mod unit_texts;
mod verdict;
mod version;
mod walls;
mod word_diff;

pub use crate::absence::{Absence, Presence};
pub use crate::change_record::{ChangeRecord, ChangedUnit, MAX_CHANGED_UNITS};
pub use crate::diff::{Diff, diff};
pub use crate::host_events::{HOST_EVENT_WINDOW_S, HostEvents};
pub use crate::judgement::{Confirmation, Judgement, PartVerdict};
pub use crate::known_body::KnownBody;
pub use crate::page_memory::{LookMemory, VersionMemory};
pub use crate::page_place::Lead;
pub use crate::page_state::PageState;
pub use crate::places::is_same_page;
pub use crate::second_looks::BACK_TO_BACK_S;
pub use crate::shingle::{DEFAULT_SHINGLE_WIDTH, MAX_SHINGLES, ShingleSet, Shingler};
pub use crate::stand_in::Arrival;
pub use crate::stand_in_kind::StandIn;
pub use crate::state_codec::StateDecodeError;
pub use crate::verdict::{MAJOR_MAGNITUDE, VersionVerdict};
pub use crate::version::Version;
pub use crate::walls::RegionReplacement;
pub use crate::word_diff::{RunKind, WordRun, word_diff};
