//! Commands of the second program.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a copy of recrawl, which is alone in a directory but for what the test puts there.
fn recrawl(directory: &Path, arguments: &[&str]) -> Output {
    let copy = directory.join("recrawl");
    if !copy.exists() {
        std::fs::hard_link(env!("CARGO_BIN_EXE_recrawl"), &copy)
            .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_recrawl"), &copy).map(|_| ()))
            .unwrap();
    }
    Command::new(copy).args(arguments).env("PATH", "/nowhere").output().unwrap()
}

#[test]
fn commands_of_the_laboratory_become_its_program_with_all_their_arguments() {
    let directory = tempfile::tempdir().unwrap();
    let lab = directory.path().join("recrawl-lab");
    std::fs::write(&lab, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&lab, PermissionsExt::from_mode(0o755)).unwrap();
    for (arguments, expected) in [
        (&["simulate", "population", "wide", "--seed", "3"][..], "simulate population wide --seed 3\n"),
        (&["demo", "--help"], "demo --help\n"),
        (&["--format", "json", "detect", "--corpus", "x"], "--format json detect --corpus x\n"),
        (&["mirrors", "-"], "mirrors -\n"),
        (&["rank", "links.csv", "--method", "hits"], "rank links.csv --method hits\n"),
        (&["demo", "--days", "5", "--format", "json"], "demo --days 5 --format json\n"),
    ] {
        let output = recrawl(directory.path(), arguments);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        assert_eq!(output.status.code(), Some(7));
    }
}

#[test]
fn without_the_second_program_its_commands_say_where_it_is_to_be_had() {
    let directory = tempfile::tempdir().unwrap();
    let output = recrawl(directory.path(), &["simulate", "list"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("recrawl-lab") && stderr.contains("cargo build"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}
