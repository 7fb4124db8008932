//! `Content-Usage` and `Content-Signal` as headers.

use crate::{check_all, header, said};
use preferences::Preferences;

/// Draft-ietf-aipref-vocab, section 6, and the dictionaries of RFC 9651.
const CONTENT_USAGE: [(&str, &str); 57] = [
    ("train-ai=n", "train-ai=n"),
    ("train-ai=y", "train-ai=y"),
    ("search=n", "search=n"),
    ("search=y", "search=y"),
    ("ai-use=n", "ai-input=n"),
    ("train-ai=y, search=n", "search=n train-ai=y"),
    ("train-ai=y,search=n", "search=n train-ai=y"),
    ("train-ai=y\t,\tsearch=n", "search=n train-ai=y"),
    ("  train-ai=n  ", "train-ai=n"),
    ("", ""),
    // Labels and tokens are case-sensitive; an uppercase key breaks the dictionary.
    ("Train-AI=n", ""),
    ("train-ai=n, Search=y", ""),
    ("train-ai=N", ""),
    ("train-ai=Y, search=y", "search=y"),
    // Values that are no tokens, or other ones, are unknown.
    ("train-ai", ""),
    ("train-ai=?0", ""),
    ("train-ai=?1, search=n", "search=n"),
    ("train-ai=\"n\"", ""),
    ("train-ai=1", ""),
    ("train-ai=no", ""),
    ("train-ai=(n)", ""),
    ("train-ai=(n y);a, search=n", "search=n"),
    ("train-ai=1.5, search=n", "search=n"),
    ("train-ai=-999999999999999, search=n", "search=n"),
    ("train-ai=:bg==:, search=n", "search=n"),
    ("train-ai=@1659578233, search=n", "search=n"),
    ("train-ai=%\"n%c3%bc\", search=n", "search=n"),
    ("train-ai=\"a \\\" b, c\", search=n", "search=n"),
    // The last of the same key counts.
    ("train-ai=y, train-ai=n", "train-ai=n"),
    ("train-ai=n, train-ai=y", "train-ai=y"),
    ("train-ai=y, train-ai, search=n, search=\"n\"", ""),
    // Parameters and unknown labels are ignored.
    ("train-ai=n;why=licence", "train-ai=n"),
    ("train-ai;allow=n, train-ai=y", "train-ai=y"),
    ("train-ai=n; a ;b", ""),
    ("train-ai=n; a;b=\"c\"", "train-ai=n"),
    ("train-ai;has;parameters=\"?\";", ""),
    ("bots=n, train-ai=n", "train-ai=n"),
    ("train-genai=n", ""),
    ("*x=y, a.b_c-9=(1 2), search=n", "search=n"),
    // A broken dictionary says nothing at all.
    ("train-ai=n,", ""),
    (",train-ai=n", ""),
    ("train-ai=n,,search=n", ""),
    ("train-ai=n search=n", ""),
    ("train-ai = n", ""),
    ("train-ai=", ""),
    ("train-ai=n;", ""),
    ("train-ai=n, search=\"n", ""),
    ("train-ai=n, search=(n", ""),
    ("train-ai=n, search=(n)x", ""),
    ("train-ai=n, x=?2", ""),
    ("train-ai=n, x=1.", ""),
    ("train-ai=n, x=1234567890123456", ""),
    ("train-ai=n, x=:a", ""),
    ("train-ai=n, x=%\"%C3\"", ""),
    ("train-ai=n, é=y", ""),
    ("train-ai: n", ""),
    ("{\"train-ai\": \"n\"}", ""),
];

#[test]
fn content_usage_is_a_dictionary_of_y_and_n() {
    check_all(&CONTENT_USAGE, |value| header("Content-Usage", value));
}

#[test]
fn lines_of_content_usage_are_one_dictionary() {
    let lines = |lines: &[&'static str]| {
        said(&Preferences::of_headers(lines.iter().map(|line| ("content-usage", *line)), "ExampleBot"))
    };
    assert_eq!(lines(&["train-ai=n", "search=y"]), "search=y train-ai=n");
    assert_eq!(lines(&["train-ai=n", "train-ai=y"]), "train-ai=y");
    assert_eq!(lines(&["train-ai=n", "broken=("]), "");
}

/// Contentsignals.org.
const CONTENT_SIGNAL: [(&str, &str); 18] = [
    ("search=yes, ai-train=no", "search=y train-ai=n"),
    ("search=yes,ai-train=no", "search=y train-ai=n"),
    ("ai-train=yes, search=yes, ai-input=yes", "search=y train-ai=y ai-input=y"),
    ("ai-input=no", "ai-input=n"),
    ("AI-Train=NO", "train-ai=n"),
    (" ai-train = no ", "train-ai=n"),
    ("search=no", "search=n"),
    ("ai-train=no, ai-train=yes", "train-ai=n"),
    ("ai-train=yes, ai-train=no", "train-ai=n"),
    ("ai-train=maybe, search=yes", "search=y"),
    ("ai-train=n", ""),
    ("ai-train", ""),
    ("ai-train:no", ""),
    ("ai-train=no;search=yes", ""),
    ("use=reference, ai-train=no", "train-ai=n"),
    ("use=full", ""),
    ("train-ai=no", ""),
    (",,search=yes,", "search=y"),
];

#[test]
fn content_signals_are_a_list_of_yes_and_no() {
    check_all(&CONTENT_SIGNAL, |value| header("content-signal", value));
}

#[test]
fn other_headers_say_nothing() {
    for name in ["content-type", "x-content-usage", "robots", "permissions-policy", ""] {
        assert!(header(name, "train-ai=n, noindex").is_empty(), "{name}");
    }
}
