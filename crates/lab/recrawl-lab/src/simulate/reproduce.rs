//! `recrawl simulate reproduce`: compares figures of papers and of the algorithm notes with ours.

use super::jobs;
use clap::Args;
use outputs::stdout::{Format, answers, print};
use recrawl::CommandFailure;
use simulate::reproduce::{Effort, Reproduction, ReproductionRow, all, named};
use std::ops::ControlFlow;

/// Arguments of `recrawl simulate reproduce`.
#[derive(Args, Debug)]
pub(super) struct ReproduceArguments {
    /// R1, B12, C17..., or `all`. `recrawl simulate list` names them.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Share of the replicates where randomness plays a part. With fewer the comparison is less precise.
    #[arg(long, default_value_t = 1.0)]
    share: f64,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: super::ThreadsArgument,
}

/// Computes and compares the figures. Exit status 1 if one does not agree.
pub(super) fn reproduce(arguments: &ReproduceArguments, format: Format) -> Result<(), CommandFailure> {
    let parts = parts(&arguments.ids)?;
    if !(arguments.share > 0.0 && arguments.share <= 100.0) {
        return Err(CommandFailure::Input(format!(
            "--share is {}; give a number above 0, such as 0.1",
            arguments.share
        )));
    }
    let effort = Effort { seed: arguments.seed, share: arguments.share };
    let names: Vec<String> = parts.iter().map(|part| format!("{} {}", part.id, part.title)).collect();
    let (done, stopped) = jobs::run(&names, arguments.threads.number()?, |index, report| {
        let rows = (parts[index].run)(&effort);
        // Parts are short, so a part that is running on Ctrl-C is completed.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = report(1.0);
        Ok((parts[index], rows))
    })?;
    if format == Format::Text {
        for (part, rows) in &done {
            print(&text(part, rows))?;
        }
    } else {
        let rows: Vec<&ReproductionRow> = done.iter().flat_map(|(_, rows)| rows).collect();
        answers(format, &rows, |_| String::new())?;
    }
    if stopped > 0 {
        return Err(super::stopped(done.len(), names.len()));
    }
    let rows = done.iter().flat_map(|(_, rows)| rows);
    match rows.clone().filter(|row| !row.within).count() {
        0 => Ok(()),
        failed => {
            Err(CommandFailure::No(format!("{failed} of {} figures differ from the published ones", rows.count())))
        }
    }
}

fn parts(ids: &[String]) -> Result<Vec<&'static Reproduction>, CommandFailure> {
    if ids.iter().any(|id| id.eq_ignore_ascii_case("all")) {
        return Ok(all().iter().collect());
    }
    let mut parts = Vec::new();
    for id in ids {
        let found = named(id);
        if found.is_empty() {
            let mut known: Vec<&str> = all().iter().map(|part| part.id).collect();
            known.dedup();
            return Err(CommandFailure::Input(format!(
                "unknown reproduction {id:?}; give one of {}, or all",
                known.join(", ")
            )));
        }
        parts.extend(found);
    }
    Ok(parts)
}

fn text(part: &Reproduction, rows: &[ReproductionRow]) -> String {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.what.clone(),
                row.published.unwrap_or("-").to_owned(),
                number(row.reference),
                number(row.ours),
                if row.standard_error > 0.0 { number(row.standard_error) } else { "-".to_owned() },
                match (row.within, row.tolerance) {
                    (false, _) => "NO".to_owned(),
                    (true, Some(_)) => "yes".to_owned(),
                    (true, None) => "order".to_owned(),
                },
            ]
        })
        .collect();
    let head = ["what", "published", "reference", "ours", "standard error", "agrees"];
    format!("{}: {}\n{}\n", part.id, part.title, super::columns(&head, &cells, 1))
}

/// Formats a number with six significant digits.
fn number(value: f64) -> String {
    let digits = (5.0 - value.abs().max(1e-12).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
