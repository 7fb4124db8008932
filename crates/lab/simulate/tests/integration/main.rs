//! Focused crawls of simulated and of real pages, and crawls that spend by the extent of changes.

mod extents;
mod extents_of_real_pages;
mod focus;
mod focus_on_real_pages;
