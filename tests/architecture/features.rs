//! Programs and tests are one build: `make test` compiles nothing again that `make demo` has compiled.

use std::collections::BTreeSet;
use std::process::Command;

/// Packages with their features, as cargo would build them for this selection.
fn built(selection: &[&str], edges: &str) -> BTreeSet<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} [{f}]", "--edges", edges])
        .args(selection)
        .current_dir(tests::workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // A package that was listed already has a mark behind it. Listing it whole each time takes a minute.
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn tests_give_no_package_of_the_programs_other_features() {
    let program = built(&["--package", "recrawl", "--package", "recrawl-lab"], "normal,build");
    let tests = built(&["--workspace", "--exclude", "bench"], "normal,build,dev");
    let again: Vec<_> = program.difference(&tests).collect();
    assert!(
        again.is_empty(),
        "tests have these packages with more features, so that they and all above them are compiled twice: {again:#?}\n\
         name the features where the program needs the package, or do without them in the tests"
    );
}
