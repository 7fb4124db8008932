//! `recrawl diff OLD NEW`: what a reader would notice between two versions of a page.

pub mod html;

use crate::CommandFailure;
use crate::batch::answer_lines;
use crate::commands::SettingsArguments;
use crate::one_fetch::{Given, file_or_address};
use crate::ruled_diff::{Comparing, GivenVersion, RuledDiff};
use clap::Args;
use outputs::record::{ColorOptions, LineStyle, watched_lines};
use outputs::stdout::{Format, answer, print, word};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Arguments of `recrawl diff`.
#[derive(Args, Debug)]
pub struct DiffArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// The older version: a file ("-" is stdin) or a URL.
    #[arg(required_unless_present = "batch")]
    old: Option<String>,
    /// The newer version.
    #[arg(required_unless_present_any = ["batch", "html"])]
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
    /// Shows the versions side by side as an HTML page, in a file or in place of the answer.
    #[arg(long, value_name = "FILE.html", num_args = 0..=1, default_missing_value = "-", conflicts_with = "batch")]
    html: Option<PathBuf>,
    #[command(flatten)]
    color: ColorOptions,
}

#[derive(Deserialize)]
struct DiffQuery {
    old: PathBuf,
    new: PathBuf,
    url: Option<String>,
    content_type: Option<String>,
}

pub fn diff(arguments: &DiffArguments, format: Format) -> Result<(), CommandFailure> {
    let settings = arguments.settings.load(&[])?;
    let comparing = Comparing::new(&settings);
    if let Some(file) = &arguments.batch {
        return answer_lines(file, |question| answer_one(question, &comparing));
    }
    let (Some(old), Some(new)) = (&arguments.old, &arguments.new) else {
        return Err(no_second_version(arguments.html.as_deref()));
    };
    let given = [file_or_address(&settings, old)?, file_or_address(&settings, new)?];
    let urls =
        given.each_ref().map(|given| arguments.url.clone().or_else(|| given.url.as_ref().map(ToString::to_string)));
    let reported = comparing.compare(
        given_version(&given[0], urls[0].as_deref(), arguments),
        given_version(&given[1], urls[1].as_deref(), arguments),
    );
    if let Some(file) = &arguments.html {
        let page = html::page(&reported, [old.as_str(), new.as_str()], urls[1].as_deref());
        if file == Path::new("-") {
            return print(page.trim_end());
        }
        std::fs::write(file, page)
            .map_err(|error| CommandFailure::World(format!("cannot write {}: {error}", file.display())))?;
        eprintln!("page: {}", file.display());
    }
    answer(format, &reported, |reported| text(reported, arguments.color.style()))
}

/// `--html` takes the word behind it for its file, also one that was meant as a version.
fn no_second_version(html: Option<&Path>) -> CommandFailure {
    let taken = html.filter(|file| *file != Path::new("-")).map_or_else(String::new, |file| {
        format!("; {} was taken for the file of --html, so give --html last", file.display())
    });
    CommandFailure::Input(format!("two versions are needed, OLD and NEW{taken}"))
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

fn text(reported: &RuledDiff, style: LineStyle) -> String {
    let diff = &reported.diff;
    let record = &diff.record;
    let head = format!("{}, magnitude {:.3}", style.verdict(&word(&diff.verdict)), diff.magnitude);
    let watched = watched_lines(&reported.triggers, &reported.not_found);
    let units = style.lines(record.changes.iter().map(Into::into), record.left_out);
    let mut lines: Vec<String> = std::iter::once(head).chain(watched).chain(units).collect();
    if record.passed_over > 0 && !record.changes.is_empty() {
        lines.push(format!("passed over: {} differences that do not count", record.passed_over));
    }
    lines.join("\n")
}
