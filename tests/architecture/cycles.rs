//! Files that need each other in a circle have to be understood all at once. Two or three may; more may not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Most files in one circle.
const MOST: usize = 3;

/// A file by its module path, as in `stage/commit`.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn crates() -> Vec<PathBuf> {
    let folders = ["crates", "crates/lab", "services"].map(|folder| tests::workspace().join(folder));
    let inside = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut found: Vec<_> =
        inside.map(|entry| entry.unwrap().path()).filter(|path| path.join("src").exists()).collect();
    found.sort();
    found
}

/// Source files of a crate by module path, without tests.
fn modules(directory: &Path, above: &str, found: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let module = if above.is_empty() { stem.to_owned() } else { format!("{above}/{stem}") };
        if stem == "tests" || stem.ends_with("_tests") || module == "bin" {
            continue;
        }
        if path.is_dir() {
            modules(&path, &module, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if stem == "mod" { above.to_owned() } else { module };
            found.insert(module, path);
        }
    }
}

/// The paths that a text names after `prefix`; from braces each one.
fn paths_after<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    for (place, _) in text.match_indices(prefix) {
        let rest = &text[place + prefix.len()..];
        let several = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(inside, _)| inside);
        let paths = several.map_or_else(|| vec![rest], |inside| inside.split(',').map(str::trim).collect());
        found.extend(paths.into_iter().map(|path| &path[..path.find(|c| !is_word(c)).unwrap_or(path.len())]));
    }
    found
}

/// The modules that a text names after `prefix`, each as the longest path that is a file.
fn named<'a>(text: &str, prefix: &str, above: &str, modules: &'a BTreeMap<String, PathBuf>) -> BTreeSet<&'a String> {
    let module_of = |path: &str| {
        let parts: Vec<_> = path.split("::").collect();
        (1..=parts.len()).rev().find_map(|length| {
            let inside = parts[..length].join("/");
            let module = if above.is_empty() { inside } else { format!("{above}/{inside}") };
            modules.get_key_value(&module).map(|(module, _)| module)
        })
    };
    paths_after(text, prefix).into_iter().filter_map(module_of).collect()
}

/// The names that `lib.rs` re-exports, each with the module that it comes from.
fn re_exports(lib: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for statement in lib.split(';').filter_map(|statement| statement.split_once("pub use crate::").map(|(_, it)| it)) {
        let Some((module, names)) = statement.rsplit_once("::{").or_else(|| statement.rsplit_once("::")) else {
            continue;
        };
        for name in names.trim_end_matches('}').split(',').map(str::trim).filter(|name| !name.is_empty()) {
            found.insert(name.to_owned(), module.replace("::", "/"));
        }
    }
    found
}

/// Which file uses which, also by way of what `lib.rs` re-exports. A list of modules and a re-export are not uses.
fn uses(source: &Path) -> Uses {
    let mut files = BTreeMap::new();
    modules(source, "", &mut files);
    let exported = files.get("lib").map(|lib| re_exports(&std::fs::read_to_string(lib).unwrap())).unwrap_or_default();
    let mut uses = Uses::new();
    for (module, path) in files.iter().filter(|(module, _)| !["lib", "main"].contains(&module.as_str())) {
        let text = std::fs::read_to_string(path).unwrap();
        // A module of tests stands at the end. One in a file of its own is no end.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let is_code =
            |line: &&str| !["//", "pub use", "pub(crate) use"].iter().any(|it| line.trim_start().starts_with(it));
        let code: Vec<_> = text.lines().filter(is_code).collect();
        let code = code.join("\n");
        let above = module.rsplit_once('/').map_or("", |(above, _)| above);
        let mut used = named(&code, "crate::", "", &files);
        let by_name = paths_after(&code, "crate::").into_iter().filter_map(|name| exported.get(name));
        used.extend(by_name.filter_map(|module| files.get_key_value(module)).map(|(module, _)| module));
        used.extend(named(&code, "super::", above, &files));
        // What is named in the module above and is no file of its own is in that module's file.
        used.extend(files.get_key_value(above).map(|(above, _)| above).filter(|_| code.contains("super::")));
        uses.insert(module.clone(), used.into_iter().filter(|other| *other != module).cloned().collect());
    }
    uses
}

fn reachable(uses: &Uses, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(module) = open.pop() {
        for next in uses.get(&module).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

/// Circles of more files than may be.
fn circles(uses: &Uses) -> BTreeSet<BTreeSet<String>> {
    let reached: BTreeMap<_, _> = uses.keys().map(|module| (module, reachable(uses, module))).collect();
    let circle = |module: &String| -> BTreeSet<String> {
        reached[module]
            .iter()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(module)))
            .cloned()
            .collect()
    };
    uses.keys().map(circle).filter(|circle| circle.len() > MOST).collect()
}

#[test]
fn no_more_than_three_files_need_each_other() {
    let mut found = Vec::new();
    for directory in crates() {
        let name = directory.strip_prefix(tests::workspace()).unwrap().display().to_string();
        for circle in circles(&uses(&directory.join("src"))) {
            found.push((name.clone(), circle.into_iter().collect::<Vec<_>>()));
        }
    }
    assert!(found.is_empty(), "move what several files need into one of its own: {found:#?}");
}

#[test]
fn a_circle_is_found_and_a_chain_is_none() {
    let uses = |pairs: &[(&str, &str)]| -> Uses {
        pairs.iter().map(|(from, to)| (from.to_string(), BTreeSet::from([to.to_string()]))).collect()
    };
    assert!(circles(&uses(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])).is_empty());
    assert!(circles(&uses(&[("a", "b"), ("b", "c"), ("c", "a")])).is_empty());
    let four = circles(&uses(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("e", "a")]));
    assert_eq!(four.len(), 1);
    assert_eq!(four.first().unwrap().len(), 4);
}

#[test]
fn what_is_re_exported_is_found_in_its_module() {
    let lib = "mod a;\npub use crate::a::{One, Two};\npub use crate::b::c::Three;\n";
    let pairs = [("One", "a"), ("Three", "b/c"), ("Two", "a")];
    let expected = pairs.map(|(name, module)| (name.to_owned(), module.to_owned()));
    assert_eq!(re_exports(lib), BTreeMap::from(expected));
}
