//! Focused crawls of simulated and of real pages, which young pages became important, whether the shape
//! of gaps pays, and the documented form of a corpus.

mod corpus_format;
mod focus;
mod focus_on_real_pages;
mod renewal;
mod young_pages;
