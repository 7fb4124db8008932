//! `recrawl`: the operator's command.

use clap::{CommandFactory, Parser, Subcommand};
use recrawl::commands::{
    OnePageArguments, changes, dead_letters, demo, detect, diff, explain, export, fetch, mirrors, page, robots, run,
    seed, simulate, sitemap, state, status, text, topics, url,
};
use recrawl::output::Format;
use std::process::ExitCode;

#[derive(Parser)]
#[command(version, about = "Keeps a copy of many web pages fresh under a fetch budget")]
struct Arguments {
    /// Form of the answer on stdout.
    #[arg(long, value_enum, default_value_t, global = true)]
    format: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the whole loop in this process, until stopped.
    Run(run::RunArguments),
    /// Crawls a replay of real sites on a fast clock, and reports how fresh the copies were.
    Demo(demo::DemoArguments),
    /// Simulates policies and estimators on recorded change times and on made-up populations.
    Simulate(simulate::SimulateArguments),
    /// Shows how a crawl stands, running or not.
    Status(status::StatusArguments),
    /// Shows everything kept about one page.
    Page(page::PageArguments),
    /// Explains why a page is, or is not, due.
    Explain(OnePageArguments),
    /// Prints what changed, one change a line, and follows.
    Changes(changes::ChangesArguments),
    /// Writes what was fetched as web archives or as lines of JSON, and follows.
    Export(export::ExportArguments),
    /// Adds pages to a crawl, running or not.
    Seed(seed::SeedArguments),
    /// Fetches one page, politely, and tells everything about it.
    Fetch(fetch::FetchArguments),
    /// Says what a robots.txt allows, and which line decides.
    Robots(robots::RobotsArguments),
    /// Reads a page: main text, title, links, language, dates.
    Text(text::TextArguments),
    /// Says what a reader would notice between two versions of a page.
    Diff(diff::DiffArguments),
    /// Judges every raw change of a recorded history: is it meaningful?
    Detect(detect::DetectArguments),
    /// Finds pages that are copies of each other, by their links.
    Mirrors(mirrors::MirrorsArguments),
    /// Lists what a sitemap or feed says.
    Sitemap(sitemap::SitemapArguments),
    /// Takes addresses apart: canonical form, host, site, page id.
    Url(url::UrlArguments),
    /// Makes or checks the topics on a Kafka.
    Topics(topics::TopicsArguments),
    /// Reads everything in a data directory and says what is wrong with it.
    State(state::StateArguments),
    /// Lists records that could not be processed, with the reason.
    DeadLetters(dead_letters::DeadLettersArguments),
    /// Prints completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let format = arguments.format;
    let done = match &arguments.command {
        Command::Run(arguments) => run::run(arguments, format),
        Command::Demo(arguments) => demo::demo(arguments, format),
        Command::Simulate(arguments) => simulate::simulate(arguments, format),
        Command::Status(arguments) => status::status(arguments, format),
        Command::Page(arguments) => page::page(arguments, format),
        Command::Explain(arguments) => explain::explain(arguments, format),
        Command::Changes(arguments) => changes::changes(arguments, format),
        Command::Export(arguments) => export::export(arguments, format),
        Command::Seed(arguments) => seed::seed(arguments, format),
        Command::Fetch(arguments) => fetch::fetch(arguments, format),
        Command::Robots(arguments) => robots::robots(arguments, format),
        Command::Sitemap(arguments) => sitemap::sitemap(arguments, format),
        Command::Text(arguments) => text::text(arguments, format),
        Command::Diff(arguments) => diff::diff(arguments, format),
        Command::Detect(arguments) => detect::detect(arguments, format),
        Command::Mirrors(arguments) => mirrors::mirrors(arguments, format),
        Command::Url(arguments) => url::url(arguments, format),
        Command::Topics(arguments) => topics::topics(arguments, format),
        Command::State(arguments) => state::state(arguments, format),
        Command::DeadLetters(arguments) => dead_letters::dead_letters(arguments, format),
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut Arguments::command(), "recrawl", &mut std::io::stdout());
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("recrawl: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
