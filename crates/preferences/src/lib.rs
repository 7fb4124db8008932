//! The owner's say on the use of a page, by robots.txt, headers, `<meta>` and `/.well-known/tdmrep.json`.
//!
//! | statement | where | by |
//! |---|---|---|
//! | `Content-Usage` | robots.txt, header | draft-ietf-aipref-attach and draft-ietf-aipref-vocab (August 2026) |
//! | `Content-Signal` | robots.txt, header | contentsignals.org (Cloudflare) |
//! | `License` | robots.txt | RSL 1.0 |
//! | `X-Robots-Tag`, `Robots-Tag`, `<meta name=robots>` and of our name | header, page | draft-illyes-repext-03, Google, Bing |
//! | `tdm-reservation`, `tdm-policy` | header, page, tdmrep.json | TDMRep, final report of the W3C community group |
//!
//! Each source is read on its own ([`Preferences::of_robots_txt`], [`of_headers`](Preferences::of_headers),
//! [`of_meta`](Preferences::of_meta), [`TdmFile`]), and all are merged. For each [`Use`] the stricter statement wins, and a use of
//! which nothing is said is unknown. Only the reservation of text and data mining has an order: the page itself before
//! the header, and that before the file.
//!
//! ```
//! use preferences::{Preferences, Use};
//! let headers = [("Content-Usage", "train-ai=n, search=y"), ("X-Robots-Tag", "otherbot: noindex")];
//! let preferences = Preferences::of_headers(headers, "OurBot");
//! let at = page::Timestamp::from_secs(1_800_000_000);
//! assert!(!preferences.decision(Use::TrainAi, at).unwrap().is_allowed);
//! assert!(preferences.decision(Use::Search, at).unwrap().is_allowed);
//! assert_eq!(preferences.decision(Use::Index, at), None);
//! ```
//!
//! A preference is no access control, and this crate never decides what is fetched. It reads no clock, opens no file, and never
//! fails: a statement that is broken says nothing.

mod address;
mod dictionary;
mod directives;
mod list;
mod merged;
mod signals;
mod source;
mod tdm;
mod usage;

pub use crate::directives::{HEADERS, MAX_FIELD_BYTES};
pub use crate::merged::{Decision, Preferences};
pub use crate::source::{Place, Source};
pub use crate::tdm::{MAX_TDM_FILE_BYTES, TdmFile};
pub use crate::usage::Use;
