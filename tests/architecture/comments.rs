//! Plain words in comments and names. Readers search for the field's terms, and one folk verb for many operations hides which is meant.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
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

/// The names in a source that hide an operation. `dead_letter` is the field's term.
fn unclear_names(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect_names(source.parse().expect("the source compiles"), &mut names);
    let is_clear = |name: &str| {
        let name = name.to_lowercase().replace("deadletter", "").replace("dead_letter", "");
        name.split('_').all(|word| !WORDS.contains(&word))
    };
    names.into_iter().filter(|name| !is_clear(name)).collect()
}

fn collect_names(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => drop(names.insert(name.to_string())),
            TokenTree::Group(group) => collect_names(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[test]
fn names_name_operations() {
    let mut files = Vec::new();
    ["crates", "services", "tests"].iter().for_each(|name| sources(&tests::workspace().join(name), &mut files));
    let mut faults = Vec::new();
    for file in files {
        let names = unclear_names(&std::fs::read_to_string(&file).unwrap());
        let place = file.strip_prefix(tests::workspace()).expect("it lies in the workspace").display();
        faults.extend(names.into_iter().map(|name| format!("{place}: {name}: name the operation")));
    }
    assert!(faults.is_empty(), "{} names, such as\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
}

#[test]
fn the_rules_find_what_they_are_for() {
    assert_eq!(unclear_names("fn tell_links(told: u32) {}").len(), 2);
    assert!(unclear_names("let dead_letters: Vec<DeadLetter> = read(\"what was told\"); // told").is_empty());
    for line in ["/// What is wrong.", "//! Of so many.", "    // Readers are told.", "/// A letter to the owner."] {
        assert!(fault(line).is_some(), "{line}");
    }
    for line in ["/// The fault.", "let told = 1;", "// The `told_at` of a record.", "/// Whatever it holds."] {
        assert_eq!(fault(line), None, "{line}");
    }
}
