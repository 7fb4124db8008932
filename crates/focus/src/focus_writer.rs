//! Writes the file of a focus, as [`crate::read_focus`] reads it.

use crate::focus::{Focus, LanguageTerms};
use crate::focus_file::FORMAT;
use crate::near_words::NearWords;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Writes the file of a focus, terms of larger weight first. Reading it gives the focus again, weights to six digits.
pub fn write_focus(focus: &Focus) -> String {
    let mut file = format!("format = {FORMAT}\nname = {}\n", quote(&focus.name));
    // Writing to a string cannot fail.
    let threshold =
        |(language, terms): (&String, &LanguageTerms)| format!("{} = {:.6}", quote_key(language), terms.threshold);
    let thresholds: Vec<String> = focus.languages.iter().map(threshold).collect();
    let _ = writeln!(file, "segmenter = {}\nthreshold = {{ {} }}", quote(&focus.segmenter), thresholds.join(", "));
    for (key, addresses) in [("examples", &focus.examples), ("seeds", &focus.seeds)] {
        let lines: String = addresses.iter().map(|address| format!("    {},\n", quote(address))).collect();
        let _ = if lines.is_empty() { Ok(()) } else { writeln!(file, "{key} = [\n{lines}]") };
    }
    for (language, LanguageTerms { vector, .. }) in &focus.languages {
        let _ = writeln!(file, "\n[terms.{}]", quote_key(language));
        let mut terms: Vec<(&str, f64)> = vector.iter().filter(|(_, weight)| *weight >= 1e-6).collect();
        terms.sort_by(|one, other| other.1.total_cmp(&one.1));
        for (term, weight) in terms {
            let _ = writeln!(file, "{} = {weight:.6}", quote_key(term));
        }
    }
    write_near_words(&focus.near, &mut file);
    file
}

/// Writes near words by the term of the focus, as people look for them.
fn write_near_words(near: &NearWords, file: &mut String) {
    let mut by_term: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (word, terms) in near.iter() {
        for (term, similarity) in terms.iter().filter(|(_, similarity)| **similarity >= 1e-6) {
            by_term.entry(term).or_default().push(format!("{} = {similarity:.6}", quote_key(word)));
        }
    }
    if !by_term.is_empty() {
        file.push_str("\n[near]\n");
    }
    for (term, words) in by_term {
        let _ = writeln!(file, "{} = {{ {} }}", quote_key(term), words.join(", "));
    }
}

/// A basic string of TOML, on one line. The library's own may have several, which a key must not.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        let _ = match character {
            '"' | '\\' => write!(quoted, "\\{character}"),
            character if character.is_control() => write!(quoted, "\\u{:04X}", u32::from(character)),
            character => write!(quoted, "{character}"),
        };
    }
    quoted + "\""
}

/// A key as TOML writes it: bare where it can be.
fn quote_key(key: &str) -> Cow<'_, str> {
    let is_bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { Cow::Borrowed(key) } else { Cow::Owned(quote(key)) }
}
