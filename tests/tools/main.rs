//! The tools a user holds in the hand, as scripts call them: their fields, their batch forms, their exit status.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod addresses;
mod colours;
mod diff_page;
mod fetching;
mod focus;
mod manifests;
mod package;
mod pages;
mod reference;
mod registry;
mod release;
mod watching;

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tests::{Output, Process, programs};

/// Runs recrawl in a directory.
fn recrawl(directory: &Path, arguments: &[&str]) -> Output {
    let mut command: Command = programs().command("recrawl");
    command.args(arguments).current_dir(directory);
    Process::start(command, directory).finish()
}

/// The lines of an answer, each a JSON value.
fn lines(output: &Output) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
