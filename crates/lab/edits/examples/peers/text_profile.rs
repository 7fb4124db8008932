//! Nutch's TextProfileSignature, by its documentation: alphanumeric tokens in lower case, longer than two
//! characters, with counts rounded down to a multiple of 1 % of the highest count, at least 2 (1 if no token comes twice).
//! Here tokens of one count are sorted by name; there they stand in the order of a hash table.

use document::text_hash;
use std::collections::BTreeMap;

const MIN_TOKEN_LENGTH: usize = 2;
const QUANTUM_SHARE: f32 = 0.01;

pub(crate) fn digest(text: &str) -> u64 {
    text_hash(profile(text).as_bytes())
}

/// The signature of a fetched page: of its bytes if it has no text.
pub(crate) fn signature(text: &str, body: &[u8]) -> u64 {
    if text.is_empty() { text_hash(body) } else { digest(text) }
}

fn profile(text: &str) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for token in text.split(|c: char| !c.is_alphanumeric()) {
        if token.chars().count() > MIN_TOKEN_LENGTH {
            *counts.entry(token.to_lowercase()).or_default() += 1;
        }
    }
    let highest = counts.values().copied().max().unwrap_or(0);
    let quantum = match (highest as f32 * QUANTUM_SHARE).round() as usize {
        0 | 1 if highest > 1 => 2,
        0 => 1,
        quantum => quantum,
    };
    let rounded = counts.into_iter().map(|(token, count)| (count / quantum * quantum, token));
    let mut profile: Vec<(usize, String)> = rounded.filter(|(count, _)| *count >= quantum).collect();
    profile.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    profile.iter().map(|(count, token)| format!("{token} {count}\n")).collect()
}
