//! The Python client: its types are those of the port's document, and its iterator loses nothing.

use serde_json::Value;
use simweb::SeededConfig;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use tests::{Crawl, SimulatedWeb, programs};

/// Restarts of each reader, if `RECRAWL_READER_RESTARTS` does not say how many. The nightly run makes 100.
const RESTARTS: usize = 20;
const HOSTS: usize = 5;

fn python() -> OsString {
    std::env::var_os("RECRAWL_PYTHON").unwrap_or_else(|| "python3".into())
}

fn client() -> PathBuf {
    tests::workspace().join("examples/python-client")
}

/// Runs a script of the client to a good end, and gives its output.
fn script(command: &mut Command) -> String {
    // Those of a test run are no settings of its crawl.
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("RECRAWL_") {
            command.env_remove(variable);
        }
    }
    // The repository stays as it is.
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let (made, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{made}\n{said}");
    made.into_owned()
}

#[test]
fn its_types_and_operations_are_those_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("openapi.json");
    std::fs::write(&document, daemon::http::openapi().to_string()).unwrap();
    let mut generate = Command::new(python());
    generate.arg(client().join("generate.py")).arg(&document);
    if std::env::var_os("UPDATE").is_none() {
        generate.arg("--check");
    }
    // If it is stale: UPDATE=1 cargo test -p recrawl --test embedded python_client
    script(&mut generate);
}

#[test]
fn it_keeps_its_promises_at_a_port_that_fails() {
    script(Command::new(python()).args(["-m", "unittest", "discover", "-q", "-s", "tests"]).current_dir(client()));
}

#[test]
fn readers_that_are_killed_and_readers_that_end_see_each_change_once() {
    let asked = std::env::var("RECRAWL_READER_RESTARTS").ok();
    let restarts = asked.map_or(RESTARTS, |number| number.parse().expect("RECRAWL_READER_RESTARTS is a number"));
    // Each restart takes up to ten changes, and each page brings one.
    let seeded =
        SeededConfig { hosts: HOSTS, pages_per_host: (10 * restarts).div_ceil(HOSTS), ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let crawl = Crawl::of(&web).with("budget.fetches_per_second", "40");
    let mut command = Command::new(python());
    command.arg(client().join("tests/restarts.py")).arg(programs().command("recrawl").get_program());
    command.arg(crawl.data()).arg(crawl.seeds_file()).arg(restarts.to_string()).arg((restarts / 10).to_string());
    let done: Value = serde_json::from_str(&script(command.args(crawl.flags()))).unwrap();
    println!("{done}");
    assert_eq!(done["restarts"], restarts / 10);
    let least = u64::try_from(restarts).unwrap();
    for reader in ["killed", "ended"] {
        assert!(done["read"][reader].as_u64() >= Some(least), "{done}");
    }
}
