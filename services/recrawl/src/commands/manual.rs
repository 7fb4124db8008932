//! `recrawl manual DIRECTORY`: the manual pages of a program, from the same definitions as `--help`. Packages have them.

use crate::CommandFailure;
use crate::help::reference;
use outputs::stdout::print;
use std::path::PathBuf;

/// Arguments of `recrawl manual` and `recrawl-lab manual`.
#[derive(clap::Args, Debug)]
pub struct ManualArguments {
    /// Directory for the pages. Created if missing.
    #[arg(required_unless_present = "markdown")]
    directory: Option<PathBuf>,
    /// Prints one page in Markdown instead.
    #[arg(long, conflicts_with = "directory")]
    markdown: bool,
}

/// Writes or prints a page for a program and for each of its commands: `recrawl.1`, `recrawl-focus-learn.1`. Hidden commands have none.
///
/// # Errors
///
/// [`CommandFailure::World`] if a page cannot be written.
pub fn manual(arguments: &ManualArguments, program: clap::Command) -> Result<(), CommandFailure> {
    let Some(directory) = &arguments.directory else { return print(reference(program).trim_end()) };
    let written = std::fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(program, directory));
    written.map_err(|error| CommandFailure::World(format!("{}: manual pages: {error}", directory.display())))
}
