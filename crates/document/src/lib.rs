//! Extracts text and links from a response body.
//!
//! A [`Body`] is bytes with a header. It is read as text and links ([`PageText`]), and as [`Blocks`], the smallest
//! pieces of a page that are laid out on their own, by which versions are compared. [`markup`] hands out the tokens of
//! HTML for other uses.
//!
//! ```
//! let page = document::extract(Some("text/html"), b"<p>Open <a href=/hours>daily</a> from nine to five.");
//! assert_eq!(page.text, "Open daily from nine to five.");
//! assert_eq!(page.links.get(0).map(|link| link.href), Some("/hours"));
//! ```
//!
//! This crate never fetches, stores, or resolves a link, never compares two versions, and never fails on a bad page:
//! any bytes have a text, even if an empty one.

pub mod attributes;
pub mod blocks;
mod body;
mod cents;
mod charset;
mod confined;
mod content_kind;
mod content_lines;
mod digest;
pub mod entities;
mod foreign;
mod formats;
mod hash;
mod hidden_mail;
pub mod html;
mod json_values;
mod linked_page;
mod links;
mod loose_json;
mod marks;
pub mod markup;
pub mod numbers;
mod office;
mod other_encoding;
mod page_text;
mod pieces;
pub mod plain;
mod query;
mod raw_text;
mod refresh;
mod robots_meta;
mod script_made;
pub mod select;
pub mod stated;
pub mod tag_name;
pub mod text;
mod token;
mod unseen;
pub mod xml;

pub use crate::blocks::{Block, Blocks};
pub use crate::body::{Body, extract};
pub use crate::charset::{CharsetSource, DecodedText, decode};
pub use crate::confined::{NotRead, ReadConfined};
pub use crate::content_kind::ContentKind;
pub use crate::digest::{ContentDigest, content_digest};
pub use crate::formats::Format;
pub use crate::hash::{passage_hash, text_hash};
pub use crate::linked_page::{LinkedPage, LinkedPageReader};
pub use crate::links::{Links, RawLink};
pub use crate::page_text::{MAX_FEEDS, MAX_LINKS, MAX_TEXT_BYTES, PageText};
pub use crate::query::with_encoded_query;
pub use crate::refresh::refresh_target;
pub use crate::robots_meta::{MAX_ROBOTS_META, RobotsMeta};
pub use crate::script_made::ScriptSigns;
pub use crate::text::prefix;
pub use crate::unseen::{is_invisible, is_shaping, shown};
