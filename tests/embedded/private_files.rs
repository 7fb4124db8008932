//! The files of a crawl are for its user alone, and those that were asked for are as the caller's umask says.

use simweb::SeededConfig;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tests::{Crawl, Output, Process, SimulatedWeb, programs};

/// Runs a command of recrawl, in one or two words, on a crawl, under a umask that hides nothing.
fn open_to_all(crawl: &Crawl, name: &str, arguments: &[&str]) -> Output {
    let program = programs().command("recrawl");
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(program.get_program());
    for (variable, _) in program.get_envs() {
        command.env_remove(variable);
    }
    command
        .args(["--format", "json"])
        .args(name.split(' '))
        .arg("--data")
        .arg(crawl.data())
        .args(crawl.flags())
        .args(arguments);
    Process::start(command, crawl.directory.path()).finish()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Everything in a directory that others than its owner may open.
fn open_files(path: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let expected = if path.is_dir() { 0o700 } else { 0o600 };
    if mode(path) != expected {
        found.push(format!("{} is {:o}", path.display(), mode(path)));
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            found.extend(open_files(&entry.unwrap().path()));
        }
    }
    found
}

#[test]
fn whatever_the_umask_a_crawl_is_for_its_user_alone_and_an_export_is_as_the_umask_says() {
    let seeded = SeededConfig { hosts: 2, pages_per_host: 2, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let crawl = Crawl::of(&web).with("log.retention_results", "1h");
    let seeds = crawl.seeds_file().display().to_string();
    open_to_all(&crawl, "run", &["--seeds", &seeds, "--until-idle"]).exits_with(0);
    open_to_all(&crawl, "seed", &["http://later.test/"]).exits_with(0);
    open_to_all(&crawl, "changes", &["--exec", "true"]).exits_with(0);
    open_to_all(&crawl, "status", &[]).exits_with(0);
    assert_eq!(open_files(&crawl.data()), Vec::<String>::new());

    let out = crawl.directory.path().join("out");
    open_to_all(&crawl, "export jsonl", &["--out", out.to_str().unwrap()]).exits_with(0);
    let exported: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| mode(&entry.unwrap().path())).collect();
    assert!(!exported.is_empty() && exported.iter().all(|mode| *mode == 0o666), "{exported:?}, in decimal");
}
