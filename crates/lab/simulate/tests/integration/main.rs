//! Focused crawls of simulated and of real pages.

mod focus;
mod focus_on_real_pages;
