//! Plain words in comments and names. Readers search for the field's terms, and one folk verb for many operations hides which is meant.

use std::path::{Path, PathBuf};

/// Beginnings of a doc line that make a riddle of a definition: "What is wrong with it." is "The fault."
const BEGINNINGS: [&str; 3] = ["What", "Of", "That"];
/// Words with a precise one in their place: publish, print, report, log, send, list, receive; message; owner, no process.
const WORDS: [&str; 10] = ["told", "tell", "tells", "telling", "hear", "hears", "heard", "letter", "letters", "nobody"];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if !path.ends_with("target") => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            _ => {}
        }
    }
}

/// Why a line of source breaks the rules.
fn fault(line: &str) -> Option<String> {
    let line = line.trim_start();
    let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    let first = doc.and_then(|doc| doc.strip_prefix(' ')?.split(|c: char| !c.is_alphanumeric()).next());
    if let Some(first) = first.filter(|first| BEGINNINGS.contains(first)) {
        return Some(format!("begins with {first:?}: name the thing"));
    }
    let comment = line.strip_prefix("//")?;
    let mut words = comment.split(|c: char| !c.is_alphanumeric() && c != '_');
    let found = words.find(|word| WORDS.contains(&word.to_lowercase().as_str()))?;
    Some(format!("{found:?}: say which operation or component it is"))
}

#[test]
fn comments_name_things_and_operations() {
    let mut files = Vec::new();
    ["crates", "services", "tests"].iter().for_each(|name| sources(&tests::workspace().join(name), &mut files));
    let mut faults = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(tests::workspace()).expect("it lies in the workspace").display();
        faults.extend(
            (1..).zip(text.lines()).filter_map(|(number, line)| Some(format!("{place}:{number}: {}", fault(line)?))),
        );
    }
    assert!(faults.is_empty(), "{} comments, such as\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
}

/// A word in the names of a line's code that hides the operation. `dead_letter` is the field's term.
fn name_fault(line: &str) -> Option<String> {
    // Not in texts: pages of tests have any words.
    let code: String = line.split("//").next().unwrap_or_default().split('"').step_by(2).collect();
    let names = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let of = |name: &&str| {
        let name = name.to_lowercase();
        !name.contains("dead_letter") && name.split('_').any(|word| WORDS.contains(&word))
    };
    names.filter(|name| !name.contains("Letter")).find(of).map(|name| format!("{name}: name the operation"))
}

#[test]
fn names_name_operations() {
    let mut files = Vec::new();
    ["crates", "services", "tests"].iter().for_each(|name| sources(&tests::workspace().join(name), &mut files));
    let mut faults = Vec::new();
    // Lines of other languages, in texts.
    for file in files.iter().filter(|file| !file.ends_with("tests/src/browser.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let place = file.strip_prefix(tests::workspace()).expect("it lies in the workspace").display();
        let lines = (1..).zip(text.lines());
        faults.extend(lines.filter_map(|(number, line)| Some(format!("{place}:{number}: {}", name_fault(line)?))));
    }
    assert!(faults.is_empty(), "{} names, such as\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
}

#[test]
fn the_rules_find_what_they_are_for() {
    assert!(name_fault("    fn tell_links(told: u32) {").is_some());
    assert_eq!(name_fault("    let dead_letters = read(&DeadLetter::NAME); // told"), None);
    for line in ["/// What is wrong.", "//! Of so many.", "    // Readers are told.", "/// A letter to the owner."] {
        assert!(fault(line).is_some(), "{line}");
    }
    for line in ["/// The fault.", "let told = 1;", "// The `told_at` of a record.", "/// Whatever it holds."] {
        assert_eq!(fault(line), None, "{line}");
    }
}
