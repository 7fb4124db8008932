//! `recrawl simulate`: policies and estimators on recorded change times and on synthetic populations.

mod budget;
mod contenders;
mod corpus;
mod crawl;
mod first_days;
mod focus;
mod grow;
mod jobs;
mod list;
mod lists;
mod population;
mod report;
mod reproduce;
mod trace;
mod versus;

use change_rate::EstimatorChoice;
use clap::{Args, Subcommand};
use outputs::stdout::Format;
use policies::PolicyKind;
use recrawl::CommandFailure;
use simulate::{SimulationError, setup};

/// Arguments of `recrawl simulate`.
#[derive(Args, Debug)]
pub(crate) struct SimulateArguments {
    #[command(subcommand)]
    command: SimulateCommand,
}

#[derive(Debug, Subcommand)]
enum SimulateCommand {
    /// Replays recorded change times of real sites.
    Trace(trace::TraceArguments),
    /// Simulates synthetic populations of pages.
    Population(population::PopulationArguments),
    /// Simulates a crawl of one's own with other budgets.
    Crawl(crawl::CrawlArguments),
    /// Computes the budget that other crawlers need for the same freshness.
    Versus(versus::VersusArguments),
    /// Crawls a web that grows, and measures how soon new pages are copied.
    Grow(grow::GrowArguments),
    /// Crawls for pages in a focus, and measures how many of the pages fetched are.
    Focus(focus::FocusArguments),
    /// Compares published figures with ours.
    Reproduce(reproduce::ReproduceArguments),
    /// Lists policies, estimators, populations, change models and reproductions.
    List,
}

pub(crate) fn simulate(arguments: &SimulateArguments, format: Format) -> Result<(), CommandFailure> {
    match &arguments.command {
        SimulateCommand::Trace(arguments) => trace::trace(arguments, format),
        SimulateCommand::Population(arguments) => population::population(arguments, format),
        SimulateCommand::Crawl(arguments) => crawl::crawl(arguments, format),
        SimulateCommand::Versus(arguments) => versus::versus(arguments, format),
        SimulateCommand::Grow(arguments) => grow::grow(arguments, format),
        SimulateCommand::Focus(arguments) => focus::focus(arguments, format),
        SimulateCommand::Reproduce(arguments) => reproduce::reproduce(arguments, format),
        SimulateCommand::List => list::list(format),
    }
}

fn input(error: SimulationError) -> CommandFailure {
    CommandFailure::Input(error.to_string())
}

/// Parses policy names and removes duplicates. Also returns whether `all` was given.
fn policies(names: &[String]) -> Result<(Vec<PolicyKind>, bool), CommandFailure> {
    if names.iter().any(|name| name.trim() == "all") {
        return Ok((PolicyKind::ALL.to_vec(), true));
    }
    let mut policies = Vec::new();
    for name in names {
        let policy =
            setup::policy(name.trim()).map_err(|error| CommandFailure::Input(format!("--policy: {error}, all")))?;
        if !policies.contains(&policy) {
            policies.push(policy);
        }
    }
    Ok((policies, false))
}

fn estimator(name: &str) -> Result<EstimatorChoice, CommandFailure> {
    setup::estimator(name.trim()).map_err(|error| CommandFailure::Input(format!("--estimator: {error}")))
}

/// How many simulations run at once.
#[derive(Args, Clone, Copy, Debug)]
struct ThreadsArgument {
    /// Number of simulations in parallel. Defaults to the number of cores.
    #[arg(long)]
    threads: Option<usize>,
}

impl ThreadsArgument {
    fn number(self) -> Result<usize, CommandFailure> {
        match self.threads {
            Some(0) => Err(CommandFailure::Input("--threads is 0; give at least 1".to_owned())),
            Some(threads) => Ok(threads),
            None => Ok(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
        }
    }
}

/// The error after Ctrl-C.
fn stopped(done: usize, all: usize) -> CommandFailure {
    CommandFailure::No(format!("stopped after {done} of {all} simulations"))
}

/// Formats a table for people. The first `left` columns are flush left, the numbers flush right.
fn columns<H: AsRef<str>>(head: &[H], rows: &[Vec<String>], left: usize) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].as_ref().chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.into_iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column < left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head = line(head.iter().map(AsRef::as_ref).collect());
    let rows = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    [head].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up() {
        let rows = vec![vec!["a".to_owned(), "10".to_owned()], vec!["bcd".to_owned(), "9".to_owned()]];
        assert_eq!(columns(&["name", "n"], &rows, 1), "name   n\na     10\nbcd    9");
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let names = |names: &[&str]| policies(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names(&["live", "uniform", "live"]).unwrap(), (vec![PolicyKind::Live, PolicyKind::Uniform], false));
        assert_eq!(names(&["live", "all"]).unwrap().0.len(), PolicyKind::ALL.len());
        let error = names(&["life"]).unwrap_err();
        assert_eq!(error.status(), 2);
        assert!(error.to_string().contains("life") && error.to_string().contains("live, uniform"));
    }
}
