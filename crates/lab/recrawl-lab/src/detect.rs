//! `recrawl detect --corpus DIR`: judges every raw change of a recorded history, learning as it goes. `recrawl detect
//! --edits DIR`: makes edits and noise on its pages, and judges those.

use archives::{Archive, ArchiveError, EditReport, JudgedChange, Origin, ReportedRow};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use outputs::stdout::{Format, answer, word, written};
use recrawl::CommandFailure;
use recrawl::commands::SettingsArguments;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Arguments of `recrawl detect`.
#[derive(Args, Debug)]
pub(crate) struct DetectArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// Directory in the corpus format, with the bytes of the versions.
    #[arg(long, value_name = "DIR", required_unless_present = "edits")]
    corpus: Option<PathBuf>,
    /// The same, for a table: makes edits and noise of many kinds on its pages, and prints how much of each kind is reported.
    #[arg(long, value_name = "DIR", conflicts_with = "corpus")]
    edits: Option<PathBuf>,
    /// With --edits: draws the pages, places and values.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "edits")]
    seed: u64,
    /// Only this source of the corpus.
    #[arg(long)]
    source: Option<String>,
}

/// Judges all versions in order of time and prints a line per raw change, or prints the table of edits and noise.
pub(crate) fn detect(arguments: &DetectArguments, format: Format) -> Result<(), CommandFailure> {
    let urls = arguments.settings.load(&[])?.urls.rules();
    let is_table = arguments.edits.is_some();
    let directory = arguments.edits.as_ref().or(arguments.corpus.as_ref()).expect("the parser asks for one of them");
    let mut archive = Archive::open(directory, arguments.source.as_deref()).map_err(failure)?;
    if archive.pages().is_empty() {
        let which = arguments.source.as_ref().map(|source| format!(" of source {source}")).unwrap_or_default();
        return Err(CommandFailure::Input(format!("{}: no pages{which}", directory.display())));
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(4));
    let unit = if is_table { "steps" } else { "versions" };
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:30}} {{pos}} of {{len}} {unit}  {{elapsed}}")) {
        bar.set_style(style);
    }
    let mut progress = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    if is_table {
        let report = archive.edits(arguments.seed, &urls, &mut progress);
        bar.finish_and_clear();
        return answer(format, &report.map_err(failure)?, table);
    }
    let lines = archive.judge(&urls, &mut progress);
    bar.finish_and_clear();
    let lines = lines.map_err(failure)?;
    let meaningful = lines.iter().filter(|line| line.meaningful).count();
    eprintln!("{} raw changes of {} pages, {meaningful} meaningful", lines.len(), archive.pages().len());
    let mut out = BufWriter::new(std::io::stdout().lock());
    written(lines.iter().try_for_each(|line| write(line, format, &mut out)).and_then(|()| out.flush()))
}

/// The report as tables, for people and for the documentation.
fn table(report: &EditReport) -> String {
    let (known, held_out) = (report.known_pages, report.held_out_pages);
    let mut text = format!("{} pages: {known} known, {held_out} held out\n", known + held_out);
    let mut section = |what: &str, rows: &[ReportedRow]| {
        let head = [what, "text", "known", "held out", "all", "of"];
        let widths = [44, 9, 5, 8, 5, 6];
        let mut line = |cells: [String; 6]| {
            let cells: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        };
        line(head.map(str::to_owned));
        line(widths.map(|width| "-".repeat(width)));
        for row in rows {
            let origin = match row.origin {
                Origin::Real => "real",
                Origin::Inserted => "inserted",
                Origin::Either => "either",
            };
            let all = row.all();
            let rates = [row.known, row.held_out, all].map(|rate| rate.to_string());
            let [known, held_out, reported] = rates;
            line([row.name.to_owned(), origin.to_owned(), known, held_out, reported, all.of.to_string()]);
        }
        text.push('\n');
    };
    section("edits that were reported", &[report.edits.clone(), vec![report.all_edits()]].concat());
    section("noise that was reported", &[report.noise.clone(), vec![report.all_noise()]].concat());
    section("must be reported", &report.must_be_reported);
    text
}

fn write(line: &JudgedChange, format: Format, out: &mut impl Write) -> std::io::Result<()> {
    if format == Format::Text {
        let mark = if line.meaningful { "*" } else { " " };
        let verdict = word(&line.verdict);
        return writeln!(
            out,
            "{mark} page {:<6} {:<11} {verdict:<9} {:.3}",
            line.page_id, line.unix_time, line.magnitude
        );
    }
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}

fn failure(error: ArchiveError) -> CommandFailure {
    CommandFailure::Input(error.to_string())
}
