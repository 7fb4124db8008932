//! `recrawl key NAME --role ROLE`: makes a key for the port of a crawl.

use crate::CommandFailure;
use ::operate::new_token;
use clap::Args;
use daemon::http::{KeyEntry, Role};
use outputs::stdout::{Format, answer};
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Arguments of `recrawl key`.
#[derive(Args, Debug)]
pub struct KeyArguments {
    /// Name of the person or program that gets it. The log of commands shows it.
    name: String,
    /// Rights of the key: viewer (reads texts of pages), operator (seeds, refetches, pauses and blocks, too), or admin (forgets
    /// pages and changes the focus, too).
    #[arg(long)]
    role: Role,
    /// Only pages of this host; *.example.org means all below it. Repeat for several.
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// File of keys (http.keys_file) to add it to. A running crawl takes it in at once.
    #[arg(long)]
    file: Option<PathBuf>,
}

#[derive(Serialize)]
struct NewKey<'a> {
    name: &'a str,
    role: Role,
    /// Shown this once: the file has its hash.
    token: String,
    /// The entry for the file of keys.
    entry: String,
}

/// Makes a key.
pub fn key(arguments: &KeyArguments, format: Format) -> Result<(), CommandFailure> {
    let token = new_token()?.reveal().to_owned();
    let hosts = Some(arguments.hosts.clone()).filter(|hosts| !hosts.is_empty());
    let entry = KeyEntry::new(&arguments.name, arguments.role, hosts, &token);
    if let Some(fault) = entry.fault() {
        return Err(CommandFailure::Input(fault.to_owned()));
    }
    let made = NewKey { name: &arguments.name, role: arguments.role, token, entry: entry.to_toml() };
    if let Some(file) = &arguments.file {
        add(file, &made)?;
    }
    answer(format, &made, |made| {
        let stored = match &arguments.file {
            Some(file) => format!("Its hash is in {}.", file.display()),
            None => format!("Add this to the file of keys (http.keys_file):\n\n{}", made.entry.trim_end()),
        };
        format!("The token of {} ({}), shown this once:\n\n{}\n\n{stored}", made.name, made.role.word(), made.token)
    })
}

/// Adds a key to a file, which is made for its user alone if there is none.
fn add(file: &Path, made: &NewKey<'_>) -> Result<(), CommandFailure> {
    let wrong = |problem: String| CommandFailure::Input(format!("{}: {problem}", file.display()));
    let has_keys = file.try_exists().map_err(|error| wrong(error.to_string()))?;
    let known = if has_keys { KeyEntry::read_all(file).map_err(CommandFailure::Input)? } else { Vec::new() };
    if known.iter().any(|known| known.name == made.name) {
        return Err(wrong(format!("{} has a key; remove its entry first, or choose another name", made.name)));
    }
    let opened = File::options().create(true).append(true).mode(0o600).open(file);
    let gap = if has_keys { "\n" } else { "" };
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The token is shown once: the key must be there after a power cut, too.
    let written = opened.and_then(|mut opened| {
        opened.write_all(format!("{gap}{}", made.entry).as_bytes())?;
        opened.sync_all()?;
        File::open(directory)?.sync_all()
    });
    written.map_err(|error| wrong(error.to_string()))
}
