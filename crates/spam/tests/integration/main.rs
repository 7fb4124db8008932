//! Spam of several shapes in generated webs, and the texts of real pages, which are none.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod farms;
mod texts;
mod web;
