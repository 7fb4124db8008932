//! `X-Robots-Tag`, `Robots-Tag`, and `<meta>` for robots.

use crate::{NOW, check_all, header, said};
use preferences::{MAX_FIELD_BYTES, Preferences, Source, Use};

/// The form of `X-Robots-Tag` by the documentation of Google and Bing.
const X_ROBOTS_TAG: [(&str, &str); 42] = [
    ("noindex", "index=n"),
    ("NoIndex", "index=n"),
    ("nofollow", "follow=n"),
    ("none", "index=n follow=n"),
    ("noindex, nofollow", "index=n follow=n"),
    ("nosnippet", "snippet=n"),
    ("noarchive", "archive=n"),
    ("nocache", "archive=n"),
    ("noimageindex", "image-index=n"),
    ("notranslate", "translate=n"),
    ("noai", "train-ai=n"),
    ("noimageai", "train-ai-images=n"),
    ("noai, noimageai", "train-ai=n train-ai-images=n"),
    // The defaults are no instruction.
    ("all", ""),
    ("index, follow", ""),
    ("index, noindex", "index=n"),
    ("all, none", "index=n follow=n"),
    ("", ""),
    (",,noindex,", "index=n"),
    ("nofollowing, noindexing", ""),
    ("noodp, noydir, nositelinkssearchbox, indexifembedded", ""),
    // Limits.
    ("max-snippet:0", "snippet=n"),
    ("max-snippet: 0", "snippet=n"),
    ("Max-Snippet:0", "snippet=n"),
    ("max-snippet:-1", ""),
    ("max-snippet:20, max-image-preview:large, noindex", "index=n"),
    // Names of crawlers.
    ("examplebot: noindex", "index=n"),
    ("ExampleBot: noindex, nofollow", "index=n follow=n"),
    ("otherbot: noindex, nofollow", ""),
    ("otherbot: noindex, examplebot: nofollow", "follow=n"),
    ("examplebot: nofollow, otherbot: noindex", "follow=n"),
    ("noindex, otherbot: nofollow", "index=n"),
    ("otherbot: nofollow, *: noindex", "index=n"),
    ("robots: noindex", "index=n"),
    ("examplebotnews: noindex", ""),
    ("max-snippet: 0, otherbot: none", "snippet=n"),
    ("otherbot: max-snippet:0", ""),
    ("otherbot: noindex, max-snippet:0", ""),
    // Dates of 2010, which are over; no name is read out of them.
    ("unavailable_after: 25 Jun 2010 15:00:00 PST", "index=n"),
    ("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nofollow", "index=n follow=n"),
    ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST", ""),
    ("unavailable_after: soon, nofollow", "follow=n"),
];

#[test]
fn x_robots_tag_is_read_as_google_documents_it() {
    check_all(&X_ROBOTS_TAG, |value| header("X-Robots-Tag", value));
}

/// Draft-illyes-repext-03, section 2.1.1.
const ROBOTS_TAG: [(&str, &str); 18] = [
    ("*;nosnippet, ExampleBot;noindex", "index=n snippet=n"),
    ("*;noindex;nosnippet, ExampleBot", "index=n snippet=n"),
    ("ExampleBot;noindex", "index=n"),
    ("examplebot;NOINDEX", "index=n"),
    ("OtherBot;noindex", ""),
    ("OtherBot;noindex, *;nosnippet", "snippet=n"),
    ("ExampleBot;noindex, ExampleBot;nosnippet", "index=n snippet=n"),
    ("* ; noindex ; nosnippet", "index=n snippet=n"),
    ("*;noindex=?1", "index=n"),
    ("*;noindex=?0", ""),
    ("*;noindex=?0, ExampleBot;noindex", "index=n"),
    ("\"ExampleBot\";noindex", "index=n"),
    ("OtherBot;note=\"a, b\";noindex", ""),
    ("*;note=\"a, noindex\", *;nosnippet", "snippet=n"),
    ("*", ""),
    ("ExampleBot", ""),
    ("*;unknown, *;noarchive", "archive=n"),
    // The old form under the new name.
    ("noindex, nofollow", "index=n follow=n"),
];

#[test]
fn robots_tag_is_a_list_of_names_with_rules_that_add_up() {
    check_all(&ROBOTS_TAG, |value| header("Robots-Tag", value));
    check_all(&ROBOTS_TAG, |value| header("X-Robots-Tag", value));
}

#[test]
fn both_names_and_all_lines_add_up() {
    let headers = [("x-robots-tag", "noindex"), ("Robots-Tag", "*;nosnippet"), ("X-Robots-Tag", "otherbot: nofollow")];
    assert_eq!(said(&Preferences::of_headers(headers, "ExampleBot")), "index=n snippet=n");
}

/// Names and contents of `<meta>`, with `;` between pairs.
const META: [(&str, &str); 22] = [
    ("robots|noindex", "index=n"),
    ("ROBOTS|NOINDEX, NOFOLLOW", "index=n follow=n"),
    (" robots | none ", "index=n follow=n"),
    ("robots|index, follow", ""),
    ("robots|all", ""),
    ("robots|noindex;examplebot|nosnippet", "index=n snippet=n"),
    ("examplebot|noindex", "index=n"),
    ("ExampleBot|noindex", "index=n"),
    ("otherbot|noindex", ""),
    ("googlebot|noindex", ""),
    // No crawler is exempted by a tag of its own.
    ("robots|noindex;examplebot|index", "index=n"),
    ("examplebot|all;robots|nofollow", "follow=n"),
    ("robots|noindex;robots|nofollow", "index=n follow=n"),
    ("robots|max-snippet:0, max-image-preview:none", "snippet=n"),
    ("robots|max-snippet:-1,max-video-preview:-1", ""),
    ("robots|noai, noimageai", "train-ai=n train-ai-images=n"),
    ("robots|noindex nofollow", ""),
    ("robots|otherbot: noindex", ""),
    ("robots|unavailable_after: 2010-06-25T15:00:00+00:00", "index=n"),
    ("robots|unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", "index=n"),
    ("description|noindex", ""),
    ("|noindex", ""),
];

#[test]
fn meta_for_robots_and_of_our_own_name_add_up() {
    check_all(&META, |pairs| {
        Preferences::of_meta(pairs.split(';').filter_map(|pair| pair.split_once('|')), "ExampleBot")
    });
}

#[test]
fn the_own_name_is_named_as_the_source() {
    let meta = Preferences::of_meta([("robots", "nofollow"), ("examplebot", "noindex")], "ExampleBot");
    let source = |usage| meta.decision(usage, NOW).unwrap().source;
    assert_eq!((source(Use::Follow), source(Use::Index)), (Source::MetaRobots, Source::MetaOwnName));
}

#[test]
fn a_page_is_found_until_its_date() {
    let dated = |date: &str| header("x-robots-tag", &format!("unavailable_after: {date}"));
    for date in ["Fri, 15 Jan 2027 08:00:01 GMT", "15-Jan-2027 08:00:01 UTC", "2027-01-15T08:00:01Z"] {
        let preferences = dated(date);
        assert_eq!(preferences.decision(Use::Index, NOW), None, "{date}");
        let after = NOW + page::SECOND;
        assert!(!preferences.decision(Use::Index, after).unwrap().is_allowed, "{date}");
        assert!(preferences.refusal(Use::Search, after).is_some(), "{date}");
    }
    let two = dated("2030-01-01").and(&dated("2020-01-01"));
    assert_eq!(said(&two), "index=n");
}

#[test]
fn a_field_that_is_too_long_counts_up_to_the_last_whole_member() {
    let long = format!("noindex, {}nofollow", "x, ".repeat(MAX_FIELD_BYTES / 3));
    assert_eq!(said(&header("x-robots-tag", &long)), "index=n");
    let half = format!("nofollow, noindex{}", " ".repeat(MAX_FIELD_BYTES));
    assert_eq!(said(&header("x-robots-tag", &half)), "follow=n");
}
