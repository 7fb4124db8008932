//! The detector on its test driver.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod bands;
mod bench;
mod copies;
mod documents;
mod focus;
mod history;
mod links;
mod lists;
mod live;
mod noise;
mod preferences;
mod presence;
mod recipes;
mod saved_rules;
mod set_aside;
mod stage;
mod walls;
mod watch;
