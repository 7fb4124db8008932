//! robots.txt verdicts against facts that others have established, from the conformance corpus.
//!
//! The corpus is looked for in `RECRAWL_CORPORA`, relative to the workspace; what is not there is left out, and said
//! so.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use politeness::RobotsFile;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

/// Google's parser and specification tests.
#[test]
fn googles_facts_hold() {
    let Some(file) = corpus_file("conformance/robots-google-facts.json") else { return };
    let facts: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let facts = facts.as_array().unwrap();
    let broken: Vec<&serde_json::Value> = facts
        .iter()
        .filter(|fact| {
            let url = String::from_utf8(bytes(&fact["url"])).unwrap();
            let robots = RobotsFile::parse(&bytes(&fact["robots"]));
            let verdict = robots.check(fact["agent"].as_str().unwrap(), path_of_url(&url));
            verdict.allowed != fact["allowed"].as_bool().unwrap()
        })
        .collect();
    println!("{} of {} facts hold", facts.len() - broken.len(), facts.len());
    assert!(broken.is_empty() && !facts.is_empty(), "{broken:#?}");
}

/// Verdicts on real files that two other parsers agree on. They do not take a byte-order mark for one, as RFC 9309's
/// grammar and Google's facts ask for, and they percent-encode the path they are asked about, which here the caller
/// does.
#[test]
fn verdicts_on_real_files_are_those_of_two_other_parsers() {
    let Some(files) = corpus_file("conformance/robots-real.tar.zst").map(|path| untar(&unpack(&path))) else { return };
    let Some(verdicts) = corpus_file("conformance/robots-real-verdicts.csv.zst") else { return };
    let verdicts = String::from_utf8(unpack(&verdicts)).unwrap();
    let has_mark = |file: &[u8]| file.starts_with(b"\xef\xbb\xbf");
    let robots: BTreeMap<&str, RobotsFile> = files
        .iter()
        .filter(|(_, file)| !has_mark(file))
        .map(|(name, file)| (name.trim_start_matches("./").trim_end_matches(".txt"), RobotsFile::parse(file)))
        .collect();
    let (mut agreed, mut broken) = (0, Vec::new());
    for row in verdicts.lines().skip(1) {
        // Paths are the one field that may be quoted.
        let (row, allowed) = row.rsplit_once(',').unwrap();
        let [file, agent, path] = row.splitn(3, ',').collect::<Vec<_>>().try_into().unwrap();
        let path = match path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) {
            Some(quoted) => quoted.replace("\"\"", "\""),
            None => path.to_owned(),
        };
        let Some(robots) = robots.get(file) else { continue };
        if robots.check(agent, &percent_encoded(&path)).allowed == (allowed == "1") {
            agreed += 1;
        } else {
            broken.push((file, agent, path));
        }
    }
    println!("{agreed} verdicts agree");
    assert!(broken.is_empty() && agreed > 0, "{} verdicts differ: {broken:#?}", broken.len());
}

/// Byte strings are written as latin-1 code points.
fn bytes(value: &serde_json::Value) -> Vec<u8> {
    value.as_str().unwrap().chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect()
}

fn path_of_url(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = after_scheme.find(['/', '?']).map_or("/", |at| &after_scheme[at..]);
    path.split('#').next().unwrap()
}

fn percent_encoded(path: &str) -> String {
    path.bytes()
        .map(|byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn unpack(path: &PathBuf) -> Vec<u8> {
    let mut decoder = zstd::Decoder::new(std::fs::File::open(path).unwrap()).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut bytes = Vec::new();
    decoder.read_to_end(&mut bytes).unwrap();
    bytes
}

/// The regular files of a tar archive: a header block of 512 bytes with name and octal size, then the file in whole
/// blocks.
fn untar(mut archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = |field: &[u8]| str::from_utf8(field).unwrap().trim_end_matches(['\0', ' ']).to_owned();
    let mut files = Vec::new();
    while let Some((header, rest)) = archive.split_at_checked(512).filter(|(header, _)| header[0] != 0) {
        let size = usize::from_str_radix(&text(&header[124..136]), 8).unwrap();
        if matches!(header[156], b'0' | 0) {
            files.push((text(&header[..100]), rest[..size].to_vec()));
        }
        archive = &rest[size.next_multiple_of(512)..];
    }
    files
}

fn corpus_file(name: &str) -> Option<PathBuf> {
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpora = std::env::var_os("RECRAWL_CORPORA").unwrap_or_else(|| "../shared/corpora".into());
    let file = workspace.join(corpora).join(name);
    if !file.exists() {
        println!("LEFT OUT: {name} is not there; set RECRAWL_CORPORA to the corpora directory");
        return None;
    }
    Some(file)
}
