//! Reads everything else about a page, besides what is needed to detect changes.
//!
//! [`read`] takes more time per page than change detection may: it extracts the main text without its surroundings,
//! links with the words around them, dates, language, and the shape of the markup. `recrawl text`, `recrawl focus` and, where a crawl has a focus, the detector use it.
//!
//! This crate never fetches or stores, and never fails on a bad page.

mod dates;
mod headline;
mod hints;
mod language;
mod main_text;
mod read;
mod structure;
mod text_blocks;
mod tree;

pub use crate::dates::PageDates;
pub use crate::headline::published_title;
pub use crate::read::{PageReading, ReadLink, read};
