//! robots.txt verdicts against facts that others have established, from the conformance corpus.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use politeness::RobotsFile;
use std::collections::BTreeMap;

/// Google's parser and specification tests.
#[test]
fn googles_facts_hold() {
    let Some(facts) = corpora::read("conformance/robots-google-facts.json") else { return };
    let facts: serde_json::Value = serde_json::from_slice(&facts).unwrap();
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
    let Some(files) = corpora::unpack("conformance/robots-real.tar.zst") else { return };
    let Some(verdicts) = corpora::read("conformance/robots-real-verdicts.csv.zst") else { return };
    let verdicts = String::from_utf8(verdicts).unwrap();
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
