//! Mixing and generators of random numbers are written once, in `crates/chance`.

use std::path::Path;

/// Constants by which one knows a generator or mixing function.
const CONSTANTS: &str = "9e3779b1 2654435761 9e3779b97f4a7c15 bf58476d1ce4e5b9 94d049bb133111eb d6e8feb86659fd93 \
                         cbf29ce484222325 6364136223846793005 2360ed051fc65da44385df649fccf645";

/// Files that have one all the same, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("tests/architecture/mixing.rs", "the list itself"),
    ("tests/embedded/presets.rs", "one multiplication after another, from which the words of its pages follow"),
    ("services/fetcher/tests/memory/main.rs", "the seed of the only xorshift, whose bytes need only not compress"),
];

/// Paths of the sources with such a constant below a directory.
fn find(directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.unwrap().path();
        let place = path.strip_prefix(tests::workspace()).expect("it lies in the workspace").display().to_string();
        if path.is_dir() && place != "crates/chance" {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap().replace('_', "").to_lowercase();
            found.extend(CONSTANTS.split(' ').any(|constant| text.contains(constant)).then_some(place));
        }
    }
}

#[test]
fn only_one_crate_mixes_numbers_and_generates_random_ones() {
    let mut found = Vec::new();
    ["crates", "services", "tests"].iter().for_each(|part| find(&tests::workspace().join(part), &mut found));
    found.sort();
    let mut known = EXCEPTIONS.map(|(place, _)| place);
    known.sort_unstable();
    assert_eq!(found, known, "call crates/chance instead, or give the reason among the exceptions");
}
