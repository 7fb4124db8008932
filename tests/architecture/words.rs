//! A scan of the sources of the pure crates, and of the stages that are simulated with them.

use crate::PURE;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FORBIDDEN: [(&str, &str); 12] = [
    ("SystemTime::now", "take a page::Timestamp as an argument; a service asks the clock it was handed"),
    ("Instant::now", "take a page::Timestamp as an argument; a service asks the clock it was handed"),
    ("std::fs", "take the bytes as an argument; whoever calls reads the file"),
    ("std::net", "take what was received as an argument; only services open sockets"),
    ("std::env::var", "settings are read in crates/daemon and handed down by value"),
    ("std::process", "return an error that says what to do; only a main ends the process"),
    ("thread::sleep", "return how long to wait; whoever calls waits"),
    ("thread::spawn", "stay synchronous; crates/daemon has the threads"),
    ("rand::", "take the seed or the number drawn as an argument"),
    ("println!", "return a value; only services log and only commands print"),
    ("async fn", "a decision is a function of values; return it, let a service act"),
    (".await", "a decision is a function of values; return it, let a service act"),
];

/// Said all the same: file, word, and why that breaks nothing.
const EXCEPTIONS: [(&str, &str, &str); 1] =
    [("crates/settings", "std::net", "addresses are values there (IpAddr, SocketAddr); nothing is opened")];

/// Sources of a crate, without tests.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.unwrap().path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem == "tests" {
            continue;
        }
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

/// Lines of code: no comments, and nothing from the first `#[cfg(test)]` on a module, which in this house comes last.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..tests].lines().enumerate();
    lines.map(|(number, line)| (number + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn broken(crates: &[&str]) -> Vec<String> {
    let mut broken = Vec::new();
    for name in crates {
        let mut files = Vec::new();
        sources(&tests::workspace().join(name).join("src"), &mut files);
        assert!(!files.is_empty(), "{name} has no sources; update the list");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for (number, line) in code(&text) {
                for (word, advice) in FORBIDDEN {
                    let excused = EXCEPTIONS.iter().any(|(where_, what, _)| where_ == name && *what == word);
                    if line.contains(word) && !excused {
                        let place = file.strip_prefix(tests::workspace()).expect("it lies in the workspace").display();
                        broken.push(format!("{place}:{number}: {word}: {advice}"));
                    }
                }
            }
        }
    }
    broken
}

#[test]
fn pure_crates_never_ask_for_time_chance_files_or_the_network() {
    let crates: Vec<_> = PURE.iter().map(|name| format!("crates/{name}")).collect();
    let broken = broken(&crates.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(broken.is_empty(), "pure crates say what they must not:\n{}", broken.join("\n"));
}

#[test]
fn stages_that_a_simulation_replays_take_time_and_chance_as_arguments() {
    let broken = broken(&[
        "services/scheduler",
        "services/detector",
        "services/estimator",
        "services/matcher",
        "services/ranker",
    ]);
    assert!(broken.is_empty(), "a replay would not give the same again:\n{}", broken.join("\n"));
}

/// Files that may write to stdout themselves, and why.
const WRITERS: [(&str, &str); 2] = [
    ("crates/outputs/src/stdout", "this is the one writer"),
    ("crates/outputs/src/record/change_text.rs", "it asks whether stdout is a terminal, and writes nothing"),
];

/// Whether a line of code writes to stdout, or may.
fn writes_to_stdout(line: &str) -> bool {
    // The sink of outputs is of that writer.
    let line = line.replace("Out::stdout()", "").replace("eprint", "");
    line.contains("stdout()") || line.contains("print!(") || line.contains("println!(")
}

#[test]
fn one_writer_alone_writes_to_the_terminal_because_it_makes_the_texts_of_pages_harmless() {
    let mut files = Vec::new();
    for directory in ["services/recrawl/src", "crates/outputs/src", "crates/operate/src", "crates/daemon/src"] {
        sources(&tests::workspace().join(directory), &mut files);
    }
    let (mut found, mut excused) = (Vec::new(), BTreeSet::new());
    for file in files {
        let place = file.strip_prefix(tests::workspace()).expect("it lies in the workspace").display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in code(&text).filter(|(_, line)| writes_to_stdout(line)) {
            match WRITERS.iter().find(|(writer, _)| place.starts_with(writer)) {
                Some((writer, _)) => drop(excused.insert(*writer)),
                None => found.push(format!("{place}:{number}: {}", line.trim())),
            }
        }
    }
    assert!(found.is_empty(), "print with outputs::stdout:\n{}", found.join("\n"));
    assert_eq!(excused, WRITERS.iter().map(|(writer, _)| *writer).collect(), "take off who writes no more");
}

#[test]
fn the_scan_finds_what_it_looks_for_and_passes_over_comments_and_tests() {
    let text = "// std::fs\nlet a = std::fs::read(path);\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    assert_eq!(code(text).collect::<Vec<_>>(), [(2, "let a = std::fs::read(path);")]);
    for line in ["println!(\"{}\", page.text);", "(print!(\"x\"))", "let mut out = std::io::stdout().lock();"] {
        assert!(writes_to_stdout(line), "{line}");
    }
    for line in ["eprintln!(\"{error}\");", "let sink = Out::stdout();"] {
        assert!(!writes_to_stdout(line), "{line}");
    }
}
