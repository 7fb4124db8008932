//! `recrawl diff OLD NEW`: what a reader would notice between two versions of a page. `recrawl diff URL`: a change that a
//! crawl has seen.

mod context;
pub mod html;
mod of_crawl;
mod of_versions;
mod struck;

pub(crate) use self::of_crawl::record_of;
pub(crate) use self::of_versions::ComparedVersions;

use crate::batch::answer_lines;
use crate::commands::diff::context::Context;
use crate::commands::diff::html::{PageHead, VersionHead};
use crate::commands::{SettingsArguments, WaitArguments};
use crate::one_fetch::{Given, file_or_address, is_address};
use crate::ruled_diff::{Comparing, GivenVersion, RuledDiff};
use crate::{CommandFailure, documents};
use clap::Args;
use outputs::record::{ColorOptions, LineStyle, passed_over_line, stand_in_line, watched_lines};
use outputs::source::Cursor;
use outputs::stdout::{Format, answer_coloured, print, word};
use page::Timestamp;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Arguments of `recrawl diff`.
#[derive(Args, Debug)]
pub struct DiffArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// The older version: a file ("-" is stdin) or a URL. A URL alone: the last change of the page that the crawl has seen. A URL
    /// and one or two numbers: versions of `recrawl history`, compared with each other or with the last one.
    #[arg(required_unless_present = "batch")]
    old: Option<String>,
    /// The newer version, or the number of the older one.
    new: Option<String>,
    /// The number of the newer version.
    newer: Option<u32>,
    /// State directory of a `recrawl run`, which may be running; for the versions that a crawl has seen.
    #[arg(long, conflicts_with = "batch")]
    data: Option<PathBuf>,
    /// The change that has this cursor, or the last one of the page before it.
    #[arg(long, value_name = "CURSOR", conflicts_with_all = ["new", "batch"])]
    at: Option<Cursor>,
    #[command(flatten)]
    wait: WaitArguments,
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
    let data = arguments.data.as_ref().map(|path| path.display().to_string());
    let settings = arguments.settings.load(&[("crawl.data", data)])?;
    if let (Some(url), None) = (&arguments.old, &arguments.new)
        && is_address(url)
    {
        return of_crawl::of_crawl(arguments, &settings, url, format);
    }
    if let (Some(url), Some(Ok(number))) = (&arguments.old, arguments.new.as_ref().map(|new| new.parse()))
        && is_address(url)
    {
        return of_versions::of_versions(arguments, &settings, (url, number), format);
    }
    if arguments.newer.is_some() || (arguments.data.is_some() && arguments.new.is_some()) {
        let problem = "versions of a crawl are given as a URL and their numbers, as recrawl history lists them";
        return Err(CommandFailure::Input(problem.to_owned()));
    }
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
        let names = [old.as_str(), new.as_str()];
        if write_page(file, &page_of(&reported, (&given, names), urls[1].as_deref(), arguments))? {
            return Ok(());
        }
    }
    answer_coloured(format, &reported, |reported| text(reported, arguments.color.style()))
}

/// Writes a page into a file, or in place of the answer. Returns whether it was the latter.
fn write_page(file: &Path, page: &str) -> Result<bool, CommandFailure> {
    if file == Path::new("-") {
        return print(page.trim_end()).map(|()| true);
    }
    std::fs::write(file, page)
        .map_err(|error| CommandFailure::World(format!("cannot write {}: {error}", file.display())))?;
    eprintln!("page: {}", file.display());
    Ok(false)
}

/// The versions side by side.
fn page_of(
    reported: &RuledDiff,
    (given, names): (&[Given; 2], [&str; 2]),
    url: Option<&str>,
    arguments: &DiffArguments,
) -> String {
    let bodies = given.each_ref().map(|given| {
        let version = given_version(given, url, arguments);
        documents::body(version.bytes, version.content_type, version.url)
    });
    let title = bodies[1].text().title;
    let times = names.map(modified_at);
    let version = |index: usize| VersionHead { name: Some(names[index]), time: times[index].as_deref() };
    let verdict = word(&reported.diff.verdict);
    let looks_like = reported.diff.looks_like.map(|kind| word(&kind));
    let head = PageHead {
        sentence: None,
        title: Some(title.trim()).filter(|title| !title.is_empty()),
        url,
        versions: [version(0), version(1)],
        verdict: &verdict,
        magnitude: reported.diff.magnitude,
        rule: reported.rule.as_deref(),
        triggers: &reported.triggers,
        not_found: &reported.not_found,
        looks_like: looks_like.as_deref(),
    };
    html::page(&head, &reported.diff.record, &Context::of_bodies(&bodies[0], &bodies[1]))
}

/// When a file was last written. `None` for anything else.
fn modified_at(name: &str) -> Option<String> {
    let modified = std::fs::metadata(name).ok().filter(std::fs::Metadata::is_file)?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_secs(i64::try_from(since.as_secs()).ok()?).to_string())
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
    let stand_in = diff.looks_like.map(|kind| stand_in_line(&word(&kind)));
    let units = style.lines(record.changes.iter().map(Into::into), record.left_out);
    let passed_over = passed_over_line(record.passed_over).filter(|_| !record.changes.is_empty());
    let lines = std::iter::once(head).chain(stand_in).chain(watched).chain(units).chain(passed_over);
    lines.collect::<Vec<_>>().join("\n")
}
