//! Recall on spam of several shapes in generated webs, and false alarms on the texts of real pages.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod farms;
mod texts;
mod web;
