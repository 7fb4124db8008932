//! `recrawl`: the stages, and the operator's commands.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use messages::CommandKind;
use outputs::stdout::{Format, Keeps, harmless, print};
use recrawl::commands::{
    audit, backup, changes, console, dead_letters, deliver, diff, explain, export, feed, fetch, focus, forget, history,
    hosts, identity, key, lab, manual, mcp, mirror, operate, page, pages, robots, rules, run, seed, sitemap, stage,
    state, status, study, text, topics, url,
};
use recrawl::help::{COMMON_OPTIONS, EXAMPLES, in_groups, with_examples};
use recrawl::{CommandFailure, documents};
use std::process::ExitCode;

/// Reading a page allocates and frees hundreds of pieces, often on different threads: a crawl took a tenth less CPU with this
/// allocator than with that of glibc.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(version, about = "Keeps a copy of many web pages fresh under a fetch budget")]
struct RecrawlArguments {
    /// Format of the answer on stdout.
    #[arg(long, value_enum, default_value_t, global = true, help_heading = COMMON_OPTIONS)]
    format: Format,
    #[command(subcommand)]
    command: RecrawlCommand,
}

#[derive(Subcommand)]
enum RecrawlCommand {
    /// Runs the whole loop in this process, until stopped.
    Run(run::RunArguments),
    /// Runs one or several stages of the loop over Kafka, until stopped.
    Stage(stage::StageArguments),
    /// Serves the console of a crawl over Kafka to browsers, until stopped.
    Console(console::ConsoleArguments),
    /// Crawls a replay of real sites on a fast clock, and reports the freshness of the copies.
    Demo(lab::LabArguments),
    /// Simulates policies and estimators on recorded change times and on synthetic populations.
    Simulate(lab::LabArguments),
    /// Shows the state of a crawl, running or not.
    Status(status::StatusArguments),
    /// Shows everything stored about one page.
    Page(page::PageArguments),
    /// Lists the versions of a page that are kept.
    History(history::HistoryArguments),
    /// Lists pages, by host, address, outcome, verdict or rule.
    Pages(pages::PagesArguments),
    /// Says whether and when a page is fetched, and why.
    Explain(explain::ExplainArguments),
    /// Lists hosts: what each takes of the budget, and what its pages are worth.
    Hosts(hosts::HostsArguments),
    /// Studies a crawl: how its pages change by kind and place, whether that is by chance, and how they are linked.
    Study(study::StudyArguments),
    /// Prints changes, one per line, or delivers them to a web server or a program; optionally follows.
    Changes(Box<changes::ChangesArguments>),
    /// Delivers changes to the receivers of the settings: web servers, programs, people by mail.
    Deliver(deliver::DeliverArguments),
    /// Shows a crawl to a model, over the Model Context Protocol on stdin and stdout.
    Mcp(mcp::McpArguments),
    /// Prints the newest changes as a feed, Atom or RSS.
    Feed(feed::FeedArguments),
    /// Exports fetch results as web archives or as lines of JSON, or the texts of all copies, and optionally follows.
    Export(export::ExportArguments),
    /// Keeps a search index, or a directory of files, equal to the current copies; optionally follows.
    Mirror(Box<mirror::MirrorArguments>),
    /// Adds pages to a crawl, running or not.
    Seed(seed::SeedArguments),
    /// Fetches pages next.
    Refetch(operate::OperateArguments),
    /// Removes pages from a crawl, one by one or all of a site.
    Forget(forget::ForgetArguments),
    /// Stops fetching from hosts.
    Pause(operate::OperateArguments),
    /// Resumes fetching from hosts.
    Resume(operate::OperateArguments),
    /// Stops fetching from hosts, and takes in no further pages of them.
    Block(operate::OperateArguments),
    /// Ends that.
    Unblock(operate::OperateArguments),
    /// Makes a key for a person or a program that uses the port of a crawl.
    Key(key::KeyArguments),
    /// Makes the keys by which sites can check who asks, and the files that they are published in.
    Identity(identity::IdentityArguments),
    /// Fetches one page politely and prints the details.
    Fetch(fetch::FetchArguments),
    /// Shows what a robots.txt allows, and which line decides.
    Robots(robots::RobotsArguments),
    /// Shows the rule of a page: whether it is crawled, and what is watched there.
    Rules(rules::RulesArguments),
    /// Reads a page: main text, title, links, language, dates.
    Text(text::TextArguments),
    /// Shows what a reader would notice between two versions of a page.
    Diff(diff::DiffArguments),
    /// Judges which raw changes of a recorded history are meaningful.
    Detect(lab::LabArguments),
    /// Finds pages that are copies of each other, by their links.
    Mirrors(lab::LabArguments),
    /// Ranks pages or hosts by how they are linked.
    Rank(lab::LabArguments),
    /// Says how much pages are about a focus, and learns one from examples.
    Focus(focus::FocusArguments),
    /// Lists the entries of a sitemap or feed.
    Sitemap(sitemap::SitemapArguments),
    /// Analyses URLs: canonical form, host, site, page id.
    Url(url::UrlArguments),
    /// Creates or checks the topics on Kafka.
    Topics(topics::TopicsArguments),
    /// Copies a crawl to a new directory as it is at one moment, running or not.
    Backup(backup::BackupArguments),
    /// Checks everything in a data directory and reports what is wrong, or makes a copy a crawl of its own.
    State(state::StateArguments),
    /// Lists the orders of operators: who gave them, when, what they ask for, and what came of them.
    Audit(audit::AuditArguments),
    /// Lists records that could not be processed, with the reason.
    DeadLetters(dead_letters::DeadLettersArguments),
    /// Prints shell completions.
    Completions {
        /// Shell to print completions for.
        shell: clap_complete::Shell,
    },
    /// Writes a manual page for each command.
    #[command(hide = true)]
    Manual(manual::ManualArguments),
}

impl RecrawlCommand {
    /// Whether the files that it writes are those of a crawl. Others are asked for by the caller, whose umask holds.
    fn writes_crawl(&self) -> bool {
        match self {
            Self::Run(_) | Self::Stage(_) | Self::Seed(_) | Self::Refetch(_) | Self::Forget(_) => true,
            Self::Pause(_) | Self::Resume(_) | Self::Block(_) | Self::Unblock(_) => true,
            Self::Focus(_) | Self::DeadLetters(_) | Self::State(_) | Self::Backup(_) | Self::Topics(_) => true,
            Self::Status(_) | Self::Audit(_) | Self::Page(_) | Self::Pages(_) | Self::Explain(_) | Self::Hosts(_) => {
                true
            }
            Self::Console(_) | Self::Changes(_) | Self::Feed(_) | Self::Export(_) | Self::Diff(_) | Self::Fetch(_) => {
                false
            }
            Self::Deliver(_) | Self::Key(_) | Self::History(_) | Self::Study(_) | Self::Mcp(_) => true,
            Self::Identity(_) | Self::Mirror(_) => false,
            Self::Robots(_) | Self::Rules(_) | Self::Text(_) | Self::Sitemap(_) | Self::Url(_) => false,
            Self::Demo(_) | Self::Simulate(_) | Self::Detect(_) | Self::Mirrors(_) | Self::Rank(_) => false,
            Self::Completions { .. } | Self::Manual(_) => false,
        }
    }
}

fn program() -> clap::Command {
    in_groups(with_examples(RecrawlArguments::command(), EXAMPLES))
}

fn main() -> ExitCode {
    if let Some(status) = documents::run_if_asked() {
        return status;
    }
    // A huge page takes its whole memory once a byte of it is used. With huge pages a crawl took a fifth more memory and as much
    // CPU. If the system refuses, the process only takes more memory.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let arguments = RecrawlArguments::from_arg_matches(&program().get_matches()).unwrap_or_else(|error| error.exit());
    if let Err(failure) = daemon::raise_open_files() {
        return ended(Err(failure));
    }
    if arguments.command.writes_crawl() {
        daemon::keep_files_private();
    }
    let format = arguments.format;
    let done = match &arguments.command {
        RecrawlCommand::Run(arguments) => run::run(arguments, format),
        RecrawlCommand::Stage(arguments) => return ended(stage::stage(arguments)),
        RecrawlCommand::Demo(arguments) => lab::lab("demo", arguments, format),
        RecrawlCommand::Simulate(arguments) => lab::lab("simulate", arguments, format),
        RecrawlCommand::Status(arguments) => status::status(arguments, format),
        RecrawlCommand::Page(arguments) => page::page(arguments, format),
        RecrawlCommand::History(arguments) => history::history(arguments, format),
        RecrawlCommand::Pages(arguments) => pages::pages(arguments, format),
        RecrawlCommand::Explain(arguments) => explain::explain(arguments, format),
        RecrawlCommand::Console(arguments) => console::console(arguments),
        RecrawlCommand::Hosts(arguments) => hosts::hosts(arguments, format),
        RecrawlCommand::Study(arguments) => study::study(arguments, format),
        RecrawlCommand::Changes(arguments) => changes::changes(arguments, format),
        RecrawlCommand::Deliver(arguments) => deliver::deliver(arguments, format),
        RecrawlCommand::Feed(arguments) => feed::feed(arguments),
        RecrawlCommand::Mcp(arguments) => mcp::mcp(arguments),
        RecrawlCommand::Key(arguments) => key::key(arguments, format),
        RecrawlCommand::Export(arguments) => export::export(arguments, format),
        RecrawlCommand::Mirror(arguments) => mirror::mirror(arguments, format),
        RecrawlCommand::Seed(arguments) => seed::seed(arguments, format),
        RecrawlCommand::Refetch(arguments) => operate::operate(CommandKind::Refetch, arguments, format),
        RecrawlCommand::Forget(arguments) => forget::forget(arguments, format),
        RecrawlCommand::Pause(arguments) => operate::operate(CommandKind::PauseHost, arguments, format),
        RecrawlCommand::Resume(arguments) => operate::operate(CommandKind::ResumeHost, arguments, format),
        RecrawlCommand::Block(arguments) => operate::operate(CommandKind::BlockHost, arguments, format),
        RecrawlCommand::Unblock(arguments) => operate::operate(CommandKind::UnblockHost, arguments, format),
        RecrawlCommand::Identity(arguments) => identity::identity(arguments, format),
        RecrawlCommand::Fetch(arguments) => fetch::fetch(arguments, format),
        RecrawlCommand::Robots(arguments) => robots::robots(arguments, format),
        RecrawlCommand::Rules(arguments) => rules::rules(arguments, format),
        RecrawlCommand::Sitemap(arguments) => sitemap::sitemap(arguments, format),
        RecrawlCommand::Text(arguments) => text::text(arguments, format),
        RecrawlCommand::Diff(arguments) => diff::diff(arguments, format),
        RecrawlCommand::Detect(arguments) => lab::lab("detect", arguments, format),
        RecrawlCommand::Mirrors(arguments) => lab::lab("mirrors", arguments, format),
        RecrawlCommand::Rank(arguments) => lab::lab("rank", arguments, format),
        RecrawlCommand::Url(arguments) => url::url(arguments, format),
        RecrawlCommand::Focus(arguments) => focus::focus(arguments, format),
        RecrawlCommand::Topics(arguments) => topics::topics(arguments, format),
        RecrawlCommand::Backup(arguments) => backup::backup(arguments, format),
        RecrawlCommand::State(arguments) => state::state(arguments, format),
        RecrawlCommand::Audit(arguments) => audit::audit(arguments, format),
        RecrawlCommand::DeadLetters(arguments) => dead_letters::dead_letters(arguments, format),
        RecrawlCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut program(), "recrawl", &mut script);
            print(String::from_utf8_lossy(&script).trim_end())
        }
        RecrawlCommand::Manual(arguments) => manual::manual(arguments, program()),
    };
    ended(done.map(|()| ExitCode::SUCCESS))
}

fn ended(done: Result<ExitCode, CommandFailure>) -> ExitCode {
    match done {
        Ok(status) => status,
        Err(failure) => {
            let message = daemon::with_remedy_for_files(failure.to_string());
            // It may quote what a server sent.
            eprintln!("recrawl: {}", harmless(&message, Keeps::Lines));
            ExitCode::from(failure.status())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        let inner: Vec<_> = command.get_subcommands().filter(|inner| !inner.is_hide_set()).collect();
        if inner.is_empty() && !command.is_disable_help_flag_set() {
            found.push(path.trim().to_owned());
        }
        for inner in inner {
            leaves(inner, &format!("{path} {}", inner.get_name()), found);
        }
    }

    #[test]
    fn each_command_is_in_one_group_and_has_examples_that_it_takes() {
        let help = program().render_help().to_string();
        for command in program().get_subcommands().filter(|command| !command.is_hide_set()) {
            let listed = format!("\n  {:<13} {}\n", command.get_name(), command.get_about().unwrap());
            assert_eq!(help.matches(&listed).count(), 1, "{}\n{help}", command.get_name());
        }
        let mut commands = Vec::new();
        leaves(&program(), "", &mut commands);
        for command in commands {
            let examples = EXAMPLES.iter().find(|(path, _)| *path == command);
            let (_, examples) = examples.unwrap_or_else(|| panic!("recrawl {command} has no example"));
            for example in *examples {
                let typed = example.split(['#', '>']).next().unwrap().replace('\'', "");
                assert!(format!("{typed} ").starts_with(&format!("recrawl {command} ")), "{example}");
                if let Err(error) = program().try_get_matches_from(typed.split_whitespace()) {
                    panic!("{example}: {error}");
                }
            }
        }
    }
}
