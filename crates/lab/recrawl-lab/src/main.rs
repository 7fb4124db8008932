//! `recrawl-lab`: simulations, reproductions of published figures, the demo, a simulated web, and rankings and mirrors of pages given
//! as files.
//!
//! It is a program of its own so that the program that crawls is small. `recrawl simulate`, `demo`, `detect`, `rank` and
//! `mirrors` start it.

mod demo;
mod detect;
mod mirrors;
mod rank;
mod simulate;
mod simweb;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use outputs::stdout::{Format, print};
use recrawl::commands::manual;
use recrawl::help::{COMMON_OPTIONS, Examples, with_examples};
use std::process::ExitCode;

/// As in `recrawl`, whose speed is measured here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(
    version,
    about = "Measures recrawl: simulations, published figures, a demo, and a web whose changes are known"
)]
struct LabArguments {
    /// Format of the answer on stdout.
    #[arg(long, value_enum, default_value_t, global = true, help_heading = COMMON_OPTIONS)]
    format: Format,
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Subcommand)]
enum LabCommand {
    /// Crawls a replay of real sites on a fast clock, and reports the freshness of the copies.
    Demo(demo::DemoArguments),
    /// Simulates policies and estimators on recorded change times and on synthetic populations.
    Simulate(simulate::SimulateArguments),
    /// Judges which raw changes of a recorded history are meaningful.
    Detect(detect::DetectArguments),
    /// Finds pages that are copies of each other, by their links.
    Mirrors(mirrors::MirrorsArguments),
    /// Ranks pages or hosts by how they are linked.
    Rank(rank::RankArguments),
    /// Serves a simulated web on loopback, whose pages change at known times.
    Simweb(simweb::SimwebArguments),
    /// Prints shell completions.
    Completions {
        /// Shell to print completions for.
        shell: clap_complete::Shell,
    },
    /// Writes a manual page for each command.
    #[command(hide = true)]
    Manual(manual::ManualArguments),
}

/// `recrawl` starts most of them, so that is how they are typed.
const EXAMPLES: Examples = &[
    ("demo", &["recrawl demo", "recrawl demo --days 14 --built-in --plain"]),
    ("simulate trace", &["recrawl simulate trace traces --budget 0.1 --policy live --policy uniform"]),
    (
        "simulate population",
        &["recrawl simulate list", "recrawl simulate population table-1 --seeds 20 --report table.html"],
    ),
    ("simulate crawl", &["recrawl simulate crawl --data my-data --budget 2 --budget 4"]),
    ("simulate versus", &["recrawl simulate versus --pages 10000"]),
    ("simulate grow", &["recrawl simulate grow --from-seeds --sites 50"]),
    ("simulate focus", &["recrawl simulate focus --pages pages.jsonl --focus climate.focus"]),
    ("simulate reproduce", &["recrawl simulate reproduce all"]),
    ("simulate list", &["recrawl simulate list"]),
    ("detect", &["recrawl detect --corpus corpora"]),
    ("mirrors", &["recrawl mirrors pages.jsonl --threshold 0.9"]),
    ("rank", &["recrawl rank links.txt --method pagerank --top 20"]),
    ("completions", &["recrawl-lab completions zsh > _recrawl-lab"]),
];

fn program() -> clap::Command {
    with_examples(LabArguments::command(), EXAMPLES)
}

fn main() -> ExitCode {
    if let Some(status) = recrawl::documents::run_if_asked() {
        return status;
    }
    let arguments = LabArguments::from_arg_matches(&program().get_matches());
    let LabArguments { format, command } = arguments.unwrap_or_else(|error| error.exit());
    let done = match command {
        LabCommand::Demo(arguments) => demo::demo(&arguments, format),
        LabCommand::Simulate(arguments) => simulate::simulate(&arguments, format),
        LabCommand::Detect(arguments) => detect::detect(&arguments, format),
        LabCommand::Mirrors(arguments) => mirrors::mirrors(&arguments, format),
        LabCommand::Rank(arguments) => rank::rank(&arguments, format),
        LabCommand::Simweb(arguments) => simweb::simweb(arguments),
        LabCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut program(), "recrawl-lab", &mut script);
            print(String::from_utf8_lossy(&script).trim_end())
        }
        LabCommand::Manual(arguments) => manual::manual(&arguments, program()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("recrawl-lab: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
