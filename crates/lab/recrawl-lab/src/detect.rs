//! `recrawl detect --corpus DIR`: judges every raw change of a recorded history, learning as it goes.

mod history;

use archives::{Archive, ArchiveError, JudgedChange};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use outputs::stdout::{Format, word, written};
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
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// Only this source of the corpus.
    #[arg(long)]
    source: Option<String>,
    /// Writes the changes that would be reported there, with their extents: a corpus for `recrawl simulate trace`. The directory
    /// is made; a corpus in it is replaced.
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
}

/// Judges all versions in order of time and prints a line per raw change.
pub(crate) fn detect(arguments: &DetectArguments, format: Format) -> Result<(), CommandFailure> {
    let urls = arguments.settings.load(&[])?.urls.rules();
    let directory = &arguments.corpus;
    let mut archive = Archive::open(directory, arguments.source.as_deref()).map_err(failure)?;
    if archive.pages().is_empty() {
        let which = arguments.source.as_ref().map(|source| format!(" of source {source}")).unwrap_or_default();
        return Err(CommandFailure::Input(format!("{}: no pages{which}", directory.display())));
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(4));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} versions  {elapsed}") {
        bar.set_style(style);
    }
    let mut progress = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let lines = archive.judge(&urls, &mut progress);
    bar.finish_and_clear();
    let lines = lines.map_err(failure)?;
    let meaningful = lines.iter().filter(|line| line.meaningful).count();
    eprintln!("{} raw changes of {} pages, {meaningful} meaningful", lines.len(), archive.pages().len());
    if let Some(trace) = &arguments.trace {
        return history::write(directory, trace, archive.pages(), &lines);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    written(lines.iter().try_for_each(|line| write(line, format, &mut out)).and_then(|()| out.flush()))
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
