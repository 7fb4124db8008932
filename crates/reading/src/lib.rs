//! What is there to know about a page, besides its text and links?
//!
//! [`read`] takes more time over a page than noticing changes may: its main text without what surrounds it, links with the
//! words around them, dates, language, the shape of its markup. `recrawl text` answers with it.
//!
//! This crate never fetches or stores, and never fails on a bad page.

mod dates;
mod hints;
mod language;
mod main_text;
mod read;
mod structure;
mod text_blocks;
mod tree;

pub use crate::dates::PageDates;
pub use crate::read::{ReadLink, Reading, read};
