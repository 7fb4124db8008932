//! The program's commands, run as a user runs them.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod catalogue;
mod deployment;
mod lab;
mod print_config;
mod settings_of_crates;
