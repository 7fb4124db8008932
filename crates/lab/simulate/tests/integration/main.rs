//! Focused crawls of simulated and of real pages, which young pages became important, crawls that spend by the extent of
//! changes, and the documented form of a corpus.

mod corpus_format;
mod extents;
mod extents_of_real_pages;
mod focus;
mod focus_on_real_pages;
mod young_pages;
