//! The documents: no dead link, a table of contents and an index without gaps, and quotations that are what they quote.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Most lines and columns of the README: who opens the repository reads it first, and as a file.
const README_LINES: usize = 120;
const COLUMNS: usize = 120;

/// Files below a directory whose name has one of these endings, as paths from the repository's root, without what is built
/// or installed there.
fn files(directory: &str, endings: &[&str]) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![tests::workspace().join(directory)]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
            let path = entry.unwrap().path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_left_out = name == "target" || name == "node_modules" || name == ".git";
            if path.is_dir() && !is_left_out {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) && path.is_file() {
                let place = path.strip_prefix(tests::workspace()).expect("it lies in the workspace");
                found.push(place.to_str().expect("names are in UTF-8").to_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(place: &str) -> String {
    std::fs::read_to_string(tests::workspace().join(place)).unwrap_or_else(|error| panic!("{place}: {error}"))
}

/// A document without its blocks and spans of code, whose brackets are no links.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
        .collect();
    let text = lines.join("\n");
    // Between every second pair of backticks there is code.
    text.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// Targets of the links and pictures of a document: `[words](target)` and `[name]: target`.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let references =
        prose.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: ")).map(|(_, target)| target);
    inline.chain(references).map(|target| target.trim().to_owned()).collect()
}

/// The anchors of the headings of a document, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut found, mut times, mut is_code) = (BTreeSet::new(), BTreeMap::new(), false);
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) else { continue };
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        let words: String = heading.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect();
        let anchor = words.replace(' ', "-");
        let before: &mut usize = times.entry(anchor.clone()).or_default();
        found.insert(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
        *before += 1;
    }
    found
}

/// A path without `..`; `None` if it leaves the repository.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => plain.pop().then_some(())?,
            Component::Normal(name) => plain.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(plain)
}

/// Why a link of a document leads nowhere.
fn dead(document: &str, target: &str) -> Option<&'static str> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let place = match path {
        "" => PathBuf::from(document),
        path => match plain(&Path::new(document).parent().unwrap_or(Path::new("")).join(path)) {
            Some(place) => place,
            None => return Some("it leaves the repository"),
        },
    };
    let file = tests::workspace().join(&place);
    if !file.exists() {
        return Some("there is no such file");
    }
    let anchor = anchor.filter(|_| place.extension().is_some_and(|ending| ending == "md"))?;
    let text = std::fs::read_to_string(file).unwrap_or_default();
    (!anchors(&text).contains(anchor)).then_some("there is no such heading")
}

#[test]
fn no_link_of_a_document_is_dead() {
    let mut faults = Vec::new();
    for document in files("", &[".md"]) {
        for target in targets(&read(&document)) {
            if !target.contains("://") && !target.starts_with("mailto:") {
                faults.extend(dead(&document, &target).map(|why| format!("{document}: {target}: {why}")));
            }
        }
    }
    assert!(faults.is_empty(), "{} dead links:\n{}", faults.len(), faults.join("\n"));
}

/// Documents that a document links to, by their paths from the repository's root.
fn linked(document: &str) -> BTreeSet<String> {
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let paths = targets(&read(document)).into_iter().filter(|target| !target.contains("://"));
    let plain = paths.filter_map(|target| plain(&folder.join(target.split('#').next()?)));
    plain.filter_map(|path| path.to_str().map(str::to_owned)).collect()
}

#[test]
fn every_page_is_in_the_table_of_contents_once_and_every_decision_in_the_index() {
    let pages: BTreeSet<String> =
        files("docs", &[".md"]).into_iter().filter(|page| page != "docs/SUMMARY.md").collect();
    let listed = targets(&read("docs/SUMMARY.md"));
    let distinct: BTreeSet<String> = listed.iter().map(|target| format!("docs/{target}")).collect();
    assert_eq!(distinct.len(), listed.len(), "docs/SUMMARY.md has a page twice");
    let missing: Vec<_> = pages.difference(&distinct).collect();
    assert!(missing.is_empty(), "add to docs/SUMMARY.md: {missing:?}");

    let decisions: BTreeSet<String> = files("docs/adr", &[".md"]).into_iter().collect();
    let indexed = linked("docs/adr/README.md");
    let missing: Vec<_> =
        decisions.iter().filter(|file| *file != "docs/adr/README.md" && !indexed.contains(*file)).collect();
    assert!(missing.is_empty(), "add to docs/adr/README.md, under its subject: {missing:?}");
}

#[test]
fn every_page_is_two_links_from_the_readme() {
    let first = linked("README.md");
    let second: BTreeSet<String> = first
        .iter()
        .filter(|place| place.ends_with(".md"))
        .flat_map(|place| linked(place))
        .chain(first.clone())
        .collect();
    let far: Vec<_> = files("docs", &[".md"]).into_iter().filter(|page| !second.contains(page)).collect();
    assert_eq!(far, ["docs/SUMMARY.md"], "link them from docs/README.md; the table of contents is for mdBook");
}

#[test]
fn the_readme_is_short_enough_to_be_read() {
    let readme = read("README.md");
    assert!(readme.lines().count() <= README_LINES, "{} lines; move details to docs", readme.lines().count());
    let wide: Vec<_> = readme.lines().filter(|line| line.chars().count() > COLUMNS).collect();
    assert!(wide.is_empty(), "longer than {COLUMNS} columns: {wide:#?}");
}

#[test]
fn the_unit_in_the_document_is_the_file() {
    let unit = read("services/recrawl/systemd/recrawl.service");
    assert!(read("docs/operate-embedded.md").contains(&unit), "copy the unit into docs/operate-embedded.md");
}

/// The messages of the program with which the lines of a list begin, in parts between dots.
fn quoted_messages(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    // An entry goes on over lines that are indented.
    for entry in text.replace("\n  ", " ").lines().filter_map(|line| line.strip_prefix("* ")) {
        let mut rest = entry;
        while let Some((message, behind)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
            if !message.starts_with("recrawl ") {
                found.extend(message.split('…').map(|part| part.trim().to_owned()));
            }
            rest = behind.trim_start_matches(", ");
        }
    }
    found
}

#[test]
fn messages_in_the_page_on_troubles_are_those_of_the_program() {
    let sources = ["crates", "services"].map(|directory| files(directory, &[".rs", ".html", ".toml"])).concat();
    // A text that goes on behind a backslash has no line break.
    let joined = |text: String| text.split("\\\n").map(str::trim_start).collect::<String>();
    let sources: Vec<String> = sources.iter().map(|source| joined(read(source))).collect();
    let messages = quoted_messages(&read("docs/troubleshooting.md"));
    assert!(messages.len() > 40, "{messages:?}");
    let unknown: Vec<_> =
        messages.iter().filter(|message| !sources.iter().any(|source| source.contains(&**message))).collect();
    assert!(unknown.is_empty(), "docs/troubleshooting.md quotes what no program says: {unknown:#?}");
}

#[test]
fn links_anchors_and_messages_are_found() {
    let text = "# A `b`: c\n\n## Two\n```sh\n# no heading\n[x](y)\n```\n\
                [a](b.md#c) `[d](e)` ![f](g.png)\n\n[h]: i.md\n## Two\n";
    assert_eq!(targets(text), ["b.md#c", "g.png", "i.md"]);
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["a-b-c", "two", "two-1"]);
    assert_eq!(dead("README.md", "docs/tune.md#no-such-heading"), Some("there is no such heading"));
    assert_eq!(dead("README.md", "docs/none.md"), Some("there is no such file"));
    assert_eq!(dead("README.md", "../elsewhere"), Some("it leaves the repository"));
    assert_eq!(dead("docs/tune.md", "../README.md#install"), None);
    assert_eq!(quoted_messages("* `no … at`, `x y`: a\n  `b`.\n* `recrawl url`: c\nd `e`"), ["no", "at", "x y"]);
}
