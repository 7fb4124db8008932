//! The limit of open files is no limit of a crawl.

use std::process::Command;
use tests::{Crawl, Process, SOON, programs};

/// Starts a crawl with other limits of open files.
fn run_with_limits(crawl: &Crawl, soft: u32, hard: u32) -> Process {
    let program = programs().command("recrawl");
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -Sn "$0" && ulimit -Hn "$1" && shift && exec "$@""#]);
    command.args([soft.to_string(), hard.to_string()]);
    for (variable, _) in program.get_envs() {
        command.env_remove(variable);
    }
    command.arg(program.get_program());
    command.args(["--format", "json", "run", "--until-idle", "--data"]).arg(crawl.data());
    command.arg("--seeds").arg(crawl.seeds_file()).args(crawl.flags());
    Process::start(command, crawl.data().parent().unwrap())
}

#[test]
fn a_crawl_raises_a_limit_of_open_files_that_is_too_low() {
    let web = crate::operating::web(10);
    let crawl = Crawl::of(&web);
    let summary = run_with_limits(&crawl, 16, 4_096).finish_within(SOON).exits_with(0).json();
    assert_eq!((summary["pages"].as_u64(), summary["never_fetched"].as_u64()), (Some(40), Some(0)), "{summary:#}");
}

#[test]
fn a_limit_that_cannot_be_raised_is_named_with_the_next_step() {
    let web = crate::operating::web(10);
    let crawl = Crawl::of(&web);
    // Too few to start the program, for its threads and for its databases.
    for limit in [12, 16, 32, 63] {
        let output = run_with_limits(&crawl, limit, limit).finish_within(SOON);
        assert!(!output.status.success(), "{limit}: {}", output.stderr);
        let next_step = format!("raise the hard limit of open files, which is {limit} (");
        let last = output.stderr.lines().last().unwrap_or_default();
        assert_eq!(last.matches(&next_step).count(), 1, "{limit}: {}", output.stderr);
        assert!(!output.stderr.contains("panicked"), "{limit}: {}", output.stderr);
    }
}
