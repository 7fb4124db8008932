//! `recrawl diff OLD NEW`: what a reader would notice between two versions of a page.

use crate::CommandFailure;
use crate::batch::answer_lines;
use crate::commands::SettingsArguments;
use crate::one_fetch::{Given, file_or_address};
use crate::output::{Format, answer, word};
use crate::ruled_diff::{Comparing, GivenVersion, RuledDiff};
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;

/// Arguments of `recrawl diff`.
#[derive(Args, Debug)]
pub struct DiffArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// The older version: a file ("-" is stdin) or a URL.
    #[arg(required_unless_present = "batch")]
    old: Option<String>,
    /// The newer version.
    #[arg(required_unless_present = "batch")]
    new: Option<String>,
    /// URL of the page, the base of its links.
    #[arg(long)]
    url: Option<String>,
    /// Content-Type of both versions.
    #[arg(long)]
    content_type: Option<String>,
    /// Questions, one {"old":…, "new":…, "url":…, "content_type":…} per line; "-" is stdin.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["old", "new", "url", "content_type"])]
    batch: Option<PathBuf>,
}

#[derive(Deserialize)]
struct DiffQuery {
    old: PathBuf,
    new: PathBuf,
    url: Option<String>,
    content_type: Option<String>,
}

/// Compares two versions.
pub fn diff(arguments: &DiffArguments, format: Format) -> Result<(), CommandFailure> {
    let settings = arguments.settings.load(&[])?;
    let comparing = Comparing::new(&settings);
    if let Some(file) = &arguments.batch {
        return answer_lines(file, |question| answer_one(question, &comparing));
    }
    let given = |source: &Option<String>| file_or_address(&settings, source.as_deref().unwrap_or_default());
    let (old, new) = (given(&arguments.old)?, given(&arguments.new)?);
    let url = |given: &Given| arguments.url.clone().or_else(|| given.url.as_ref().map(ToString::to_string));
    let (old_url, new_url) = (url(&old), url(&new));
    let told = comparing.compare(
        given_version(&old, old_url.as_deref(), arguments),
        given_version(&new, new_url.as_deref(), arguments),
    );
    answer(format, &told, text)
}

fn given_version<'a>(given: &'a Given, url: Option<&'a str>, arguments: &'a DiffArguments) -> GivenVersion<'a> {
    let content_type = arguments.content_type.as_deref().or(given.content_type.as_deref());
    GivenVersion { bytes: &given.bytes, url, content_type }
}

fn answer_one(question: DiffQuery, comparing: &Comparing) -> Result<RuledDiff, String> {
    let DiffQuery { old, new, url, content_type } = question;
    let read = |file: PathBuf| std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()));
    let (old, new) = (read(old)?, read(new)?);
    let version = |bytes| GivenVersion { bytes, url: url.as_deref(), content_type: content_type.as_deref() };
    Ok(comparing.compare(version(&old), version(&new)))
}

fn text(told: &RuledDiff) -> String {
    let diff = &told.diff;
    let record = &diff.record;
    let head = format!("{}, magnitude {:.3}", word(&diff.verdict), diff.magnitude);
    let units = record.changes.iter().map(|unit| (unit.place.as_str(), unit.before.as_deref(), unit.after.as_deref()));
    let watched = watched_lines(&told.triggers, &told.not_found);
    let mut lines: Vec<String> =
        std::iter::once(head).chain(watched).chain(changed_units(units, record.left_out)).collect();
    if record.passed_over > 0 && !record.changes.is_empty() {
        lines.push(format!("passed over: {} differences that do not count", record.passed_over));
    }
    lines.join("\n")
}

/// Lines that tell which triggers fired, and which watched parts are not there.
pub(crate) fn watched_lines(triggers: &[String], not_found: &[String]) -> impl Iterator<Item = String> {
    let fired = triggers.iter().map(|trigger| format!("! {trigger}"));
    fired.chain(not_found.iter().map(|part| format!("? {part} is not on the page")))
}

/// Lines that tell a change: where, what it was, what it is.
pub(crate) fn changed_units<'a>(
    units: impl Iterator<Item = (&'a str, Option<&'a str>, Option<&'a str>)>,
    left_out: usize,
) -> impl Iterator<Item = String> {
    let mut last_place = "";
    let lines = units.flat_map(move |(place, before, after)| {
        let heading = (!place.is_empty() && place != last_place).then(|| format!("@ {place}"));
        last_place = place;
        let mark = |sign, text: Option<&str>| text.map(|text| format!("{sign} {text}"));
        heading.into_iter().chain(mark('-', before)).chain(mark('+', after))
    });
    lines.chain((left_out > 0).then(|| format!("and {left_out} more")))
}
