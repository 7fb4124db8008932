//! `recrawl run --print-config` as operators meet it: which secrets they see, and whether the answer can be used again.

use std::process::{Command, Output};
use tempfile::TempDir;

const SETTINGS: &str = "\
[hints]
token = \"swordfish-and-chips\"
indexnow = { \"a.test\" = \"swordfish\" }
websub = { news = \"https://a.test/feed?token=swordfish\" }
websub_secrets = { news = \"swordfish-and-chips\" }
[fetch]
proxy = { \"*\" = \"http://me:swordfish@10.0.0.1:3128\" }
";

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_recrawl")).arg("run").args(arguments).env_clear().output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn secrets_are_masked_unless_they_are_asked_for_and_then_the_answer_can_be_read_back() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let first = file("first.toml", SETTINGS);
    let masked = printed(&["--config", &first, "--print-config"]);
    assert!(!masked.contains("swordfish") && masked.contains("# token is set; its secrets are masked"), "{masked}");
    let shown = printed(&["--config", &first, "--print-config", "--secrets"]);
    assert_eq!(shown.matches("swordfish").count(), SETTINGS.matches("swordfish").count(), "{shown}");
    let second = file("second.toml", &shown);
    assert_eq!(printed(&["--config", &second, "--print-config", "--secrets"]), shown);
}

#[test]
fn secrets_without_print_config_are_refused() {
    let output = run(&["--secrets", "--data", "unused"]);
    let reported = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{reported}");
    assert!(
        reported.contains("required arguments were not provided") && reported.contains("--print-config"),
        "{reported}"
    );
}
