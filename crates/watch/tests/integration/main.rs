//! Watch rules on pages, as an operator writes them.

mod pages;
mod phrases;
