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

use clap::{CommandFactory, Parser, Subcommand};
use outputs::stdout::Format;
use recrawl::commands::manual;
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
    #[arg(long, value_enum, default_value_t, global = true)]
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

fn main() -> ExitCode {
    let LabArguments { format, command } = LabArguments::parse();
    let done = match command {
        LabCommand::Demo(arguments) => demo::demo(&arguments, format),
        LabCommand::Simulate(arguments) => simulate::simulate(&arguments, format),
        LabCommand::Detect(arguments) => detect::detect(&arguments, format),
        LabCommand::Mirrors(arguments) => mirrors::mirrors(&arguments, format),
        LabCommand::Rank(arguments) => rank::rank(&arguments, format),
        LabCommand::Simweb(arguments) => simweb::simweb(arguments),
        LabCommand::Completions { shell } => {
            clap_complete::generate(shell, &mut LabArguments::command(), "recrawl-lab", &mut std::io::stdout());
            Ok(())
        }
        LabCommand::Manual(arguments) => manual::manual(&arguments, LabArguments::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("recrawl-lab: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
