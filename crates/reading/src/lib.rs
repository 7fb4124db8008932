//! Reads everything else about a page, besides what is needed to detect changes.
//!
//! [`read`] takes more time per page than change detection may: it extracts the main text without its surroundings,
//! links with the words around them, dates, language, and the shape of the markup, for `recrawl text` and `recrawl focus`.
//! [`MainText`] is the part of it by which focuses judge a page. Where a crawl has a focus, the detector reads it in the same pass
//! as text and links.
//!
//! This crate never fetches or stores, and never fails on a bad page.

mod dates;
mod headline;
mod hints;
mod language;
mod main_text;
mod page_reader;
mod read;
mod structure;
mod text_blocks;
mod text_style;
mod tree;

pub use crate::dates::PageDates;
pub use crate::headline::{TitleRules, published_title};
pub use crate::page_reader::MainText;
pub use crate::read::{PageReading, ReadLink, read, read_body};
