//! Lines of robots.txt, by crawler and path.

use crate::{NOW, said};
use politeness::RobotsFile;
use preferences::{Preferences, Source, Use};

fn robots(file: &str, token: &str, path: &str) -> Preferences {
    Preferences::of_robots_txt(&RobotsFile::parse(file.as_bytes()).usage(token, path))
}

const FILE: &str = "License: https://a.test/license.xml\n\
    User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: / train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n\
    Content-Usage: /*.pdf$ train-ai=n, search=n\nContent-Signal: search=yes, ai-input=no\n\n\
    User-Agent: ExampleBot\nAllow: /\nContent-Usage: / train-ai=y\n\n\
    User-agent: bare\nDisallow: /x\n\n\
    User-agent: twice\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n, search=y\nContent-Usage: /b train-ai=(\n\
    User-agent: Twice\nContent-Usage: / ai-use=n\n";

/// Crawler, path, expected.
const CASES: [(&str, &str, &str); 16] = [
    ("OtherBot", "/test", "search=y train-ai=n ai-input=n"),
    ("OtherBot", "/ai-ok/test", "search=y train-ai=y ai-input=n"),
    ("OtherBot", "/ai-ok", "search=y train-ai=n ai-input=n"),
    ("OtherBot", "/x.pdf", "search=n train-ai=n ai-input=n"),
    ("OtherBot", "/x.pdf?page=1", "search=y train-ai=n ai-input=n"),
    // Both paths have seven bytes, and the rules apply separately.
    ("OtherBot", "/ai-ok/x.pdf", "search=n train-ai=n ai-input=n"),
    ("ExampleBot", "/test", "train-ai=y"),
    ("examplebot", "/ai-ok/test", "train-ai=y"),
    ("EXAMPLEBOT", "/x.pdf", "train-ai=y"),
    ("bare", "/test", ""),
    ("bare", "/x", ""),
    ("twice", "/a", "search=y train-ai=n"),
    ("twice", "/a/b", "search=y train-ai=n"),
    // The longest path decides alone, though its preference is broken.
    ("twice", "/b", ""),
    ("twice", "/c", "ai-input=n"),
    ("TWICE", "/", "ai-input=n"),
];

#[test]
fn the_longest_path_of_the_groups_for_the_crawler_decides() {
    for (token, path, expected) in CASES {
        assert_eq!(said(&robots(FILE, token, path)), expected, "{token} {path}");
    }
}

#[test]
fn licences_are_for_everybody() {
    for token in ["OtherBot", "ExampleBot", "bare"] {
        assert!(robots(FILE, token, "/").licenses().eq(["https://a.test/license.xml"]), "{token}");
    }
}

#[test]
fn few_whole_addresses_are_kept_as_licences() {
    let kept = |written: &str| robots(&format!("License: {written}"), "x", "/").licenses().count();
    assert_eq!(kept("HTTPS://a.test/l?x=y@z"), 1);
    for written in ["/license.xml", "license.xml", "ftp://a.test/l", "https://", "https://a.test/a b", "javascript:x"] {
        assert_eq!(kept(written), 0, "{written}");
    }
    assert_eq!(kept(&format!("https://a.test/{}", "x".repeat(600))), 0);
    let many: String = (0..100).map(|number| format!("License: https://a.test/{number}\n")).collect();
    assert_eq!(robots(&many, "x", "/").licenses().count(), 4);
}

#[test]
fn both_kinds_of_lines_are_named_as_sources() {
    let preferences = robots(FILE, "OtherBot", "/");
    assert_eq!(preferences.decision(Use::TrainAi, NOW).unwrap().source, Source::RobotsContentUsage);
    assert_eq!(preferences.decision(Use::AiInput, NOW).unwrap().source, Source::RobotsContentSignal);
}
