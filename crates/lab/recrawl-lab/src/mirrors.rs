//! `recrawl mirrors FILE.jsonl`: finds pages that are copies of each other by their links.

use clap::Args;
use literature::mirrors_by_links::{LinkedPage, MethodReport, MirrorReport, compare_all};
use outputs::stdout::{Format, answer};
use recrawl::CommandFailure;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Arguments of `recrawl mirrors`.
#[derive(Args, Debug)]
pub(crate) struct MirrorsArguments {
    /// Pages with their links, one {"url":…, "links":[…]} per line; "-" is stdin.
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,
}

/// Finds mirrors by the seed's degree bound and by bands.
pub(crate) fn mirrors(arguments: &MirrorsArguments, format: Format) -> Result<(), CommandFailure> {
    let file = &arguments.file;
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(
            File::open(file).map_err(|error| CommandFailure::Input(format!("{}: {error}", file.display())))?,
        ))
    };
    let mut pages: Vec<LinkedPage> = Vec::new();
    for (index, line) in input.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let page = serde_json::from_str(&line).map_err(|error| {
            let problem = format!("{}, line {}: {error}", file.display(), index + 1);
            CommandFailure::Input(format!("{problem}; write {{\"url\":…, \"links\":[…]}}"))
        });
        pages.push(page?);
    }
    answer(format, &compare_all(pages), text)
}

fn text(report: &MirrorReport) -> String {
    let mut lines = Vec::new();
    for group in &report.groups {
        lines.extend(
            group.iter().enumerate().map(|(index, url)| format!("{}{url}", if index == 0 { "" } else { "  = " })),
        );
    }
    let method = |method: &MethodReport| {
        format!("{:<14}{} comparisons, {} groups", method.name, method.comparisons, method.groups.len())
    };
    lines.extend(report.methods.iter().map(method));
    lines.join("\n")
}
