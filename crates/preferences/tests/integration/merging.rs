//! Properties of merging, of the written list, and of any bytes.

use crate::{NOW, said};
use politeness::RobotsFile;
use preferences::{Place, Preferences, Source, TdmFile, Use};
use proptest::prelude::*;

/// The statements of one source, such as sites make them.
fn source() -> impl Strategy<Value = Preferences> {
    let answer = "(train-ai|search|ai-use)=[yn](, (train-ai|search)=[yn])?";
    let signal = "(ai-train|ai-input|search|use)=(yes|no|full)(, search=(yes|no))?";
    let directive = "((x|otherbot): )?(noindex|nofollow|none|nosnippet|noai|max-snippet:0|unavailable_after: 20[0-4]0-01-01)(, noarchive)?";
    let lines = format!("(Content-Usage: (/a )?{answer}|Content-Signal: {signal}|License: https://a/[a-f])\n");
    prop_oneof![
        answer.prop_map(|value| Preferences::of_headers([("content-usage", value.as_str())], "x")),
        signal.prop_map(|value| Preferences::of_headers([("content-signal", value.as_str())], "x")),
        directive.prop_map(|value| Preferences::of_headers([("x-robots-tag", value.as_str())], "x")),
        ("(robots|x|y)", directive)
            .prop_map(|(name, value)| Preferences::of_meta([(name.as_str(), value.as_str())], "x")),
        ("[01]", "https://a/[ab]").prop_map(|(value, policy)| {
            Preferences::of_headers([("tdm-reservation", value.as_str()), ("tdm-policy", policy.as_str())], "x")
        }),
        "[01]".prop_map(|value| Preferences::of_meta([("tdm-reservation", value.as_str())], "x")),
        proptest::collection::vec(proptest::string::string_regex(&lines).unwrap(), 1..4).prop_map(|lines| {
            let file = format!("User-agent: *\n{}", lines.concat());
            Preferences::of_robots_txt(&RobotsFile::parse(file.as_bytes()).usage("x", "/a"))
        }),
        "[01]".prop_map(|value| {
            let file = format!(r#"[{{"location": "/", "tdm-reservation": {value}}}]"#);
            TdmFile::parse(file.as_bytes()).preferences("/")
        }),
    ]
}

fn merged(sources: &[Preferences]) -> Preferences {
    sources.iter().fold(Preferences::default(), Preferences::and)
}

/// How strict a decision is: unknown, allowed, disallowed.
fn strictness(preferences: &Preferences, usage: Use) -> u8 {
    preferences.decision(usage, NOW).map_or(0, |decision| if decision.is_allowed { 1 } else { 2 })
}

proptest! {
    #[test]
    fn the_order_of_the_sources_does_not_matter(
        sources in proptest::collection::vec(source(), 0..8),
        shuffled in proptest::collection::vec(any::<u64>(), 8),
    ) {
        let mut numbered: Vec<_> = shuffled.iter().zip(&sources).collect();
        numbered.sort_by_key(|(number, _)| **number);
        let other: Vec<_> = numbered.into_iter().map(|(_, source)| source.clone()).collect();
        prop_assert_eq!(merged(&sources), merged(&other));
        // In halves, too.
        let (one, two) = sources.split_at(sources.len() / 2);
        prop_assert_eq!(merged(one).and(&merged(two)), merged(&sources));
        prop_assert_eq!(merged(&sources).and(&merged(&sources)), merged(&sources));
    }

    #[test]
    fn a_further_source_never_loosens(sources in proptest::collection::vec(source(), 0..8), further in source()) {
        let before = merged(&sources);
        let after = before.clone().and(&further);
        for (usage, _) in Use::NAMES {
            // Of text and data mining, the page supersedes the header, and that the file.
            let place = |it: &Preferences| it.decision(Use::Tdm, NOW).map(|decision| decision.source.place());
            if usage == Use::Tdm && place(&further) > place(&before) {
                prop_assert_eq!(strictness(&after, usage), strictness(&further, usage));
            } else {
                prop_assert!(strictness(&after, usage) >= strictness(&before, usage), "{usage}");
            }
            prop_assert!(strictness(&after, usage) == 0 || strictness(&before, usage) + strictness(&further, usage) > 0);
        }
    }

    #[test]
    fn more_directives_never_loosen(value in "[a-z:, ]{0,30}", more in "(, (x: |y: )?(noindex|all|index|nofollow|follow)){0,3}") {
        for name in ["x-robots-tag", "robots-tag"] {
            let before = Preferences::of_headers([(name, value.as_str())], "x");
            let after = Preferences::of_headers([(name, format!("{value}{more}").as_str())], "x");
            for (usage, _) in Use::NAMES {
                prop_assert!(strictness(&after, usage) >= strictness(&before, usage), "{usage}");
            }
        }
    }

    #[test]
    fn a_list_says_the_same_as_what_it_was_made_of(sources in proptest::collection::vec(source(), 0..8)) {
        let all = merged(&sources);
        let list = all.to_list();
        prop_assert_eq!(&Preferences::of_list(list.iter().map(String::as_str)), &all);
        let decided = all.to_decisions(NOW);
        let read = Preferences::of_list(decided.iter().map(String::as_str));
        prop_assert_eq!(said(&read), said(&all));
        prop_assert_eq!(read.decisions(NOW), all.decisions(NOW));
        prop_assert!(decided.len() <= list.len() + 1);
    }

    #[test]
    fn what_is_found_at_the_places_is_all(sources in proptest::collection::vec(source(), 0..8)) {
        let all = merged(&sources);
        let (fetch, page) = ([Place::RobotsTxt, Place::WellKnown, Place::Header], [Place::Page]);
        prop_assert_eq!(all.found_at(&fetch).and(&all.found_at(&page)), all.clone());
        prop_assert!(all.found_at(&[]).is_empty());
    }

    #[test]
    fn no_bytes_make_it_panic_or_grow(bytes in proptest::collection::vec(any::<u8>(), 0..400), name in "\\PC{0,12}") {
        let text = String::from_utf8_lossy(&bytes);
        let names = ["content-usage", "content-signal", "x-robots-tag", "robots-tag", "tdm-reservation", "tdm-policy", &name];
        let mut all = Preferences::of_headers(names.map(|name| (name, &*text)), &name);
        all.merge(&Preferences::of_meta(["robots", "tdm-reservation", "tdm-policy", &name].map(|name| (name, &*text)), &name));
        all.merge(&TdmFile::parse(&bytes).preferences(&text));
        all.merge(&Preferences::of_list([&*text, &*name]));
        let file = [b"User-agent: *\nContent-Usage: ", &bytes[..], b"\nContent-Signal: ", &bytes, b"\nLicense: ", &bytes].concat();
        all.merge(&Preferences::of_robots_txt(&RobotsFile::parse(&file).usage(&name, &text)));
        prop_assert!(all.to_list().len() <= 2 * Use::NAMES.len() * 12 + 40);
    }

    #[test]
    fn what_looks_like_fields_does_not_make_it_panic(text in "[a-z0-9;,:=\"\\\\()?%@*. -]{0,60}") {
        Preferences::of_headers([("content-usage", text.as_str()), ("robots-tag", text.as_str())], "x");
        Preferences::of_list([text.as_str()]);
    }
}

#[test]
fn the_list_has_short_words_and_the_sources() {
    let headers = [
        ("content-usage", "train-ai=n, search=y"),
        ("x-robots-tag", "noindex, unavailable_after: 2010-06-25T15:00:00Z"),
        ("tdm-reservation", "1"),
        ("tdm-policy", "https://a.test/p?to=me@a.test"),
    ];
    let all = Preferences::of_headers(headers, "x").and(&Preferences::of_meta([("robots", "noindex")], "x"));
    let list = [
        "index=n@x-robots-tag",
        "index=n@meta:robots",
        "search=y@content-usage",
        "train-ai=n@content-usage",
        "tdm=n@tdm-reservation",
        "unavailable-after=2010-06-25T15:00:00.000Z@x-robots-tag",
        "tdm-policy=https://a.test/p?to=me@a.test@tdm-reservation",
    ];
    assert_eq!(all.to_list(), list);
    assert_eq!(all.to_decisions(NOW), [&list[..1], &list[2..]].concat());
    for entry in
        ["", "index", "index=n", "index=n@", "index=maybe@x-robots-tag", "fly=n@x-robots-tag", "index=n@elsewhere"]
    {
        assert!(Preferences::of_list([entry]).is_empty(), "{entry}");
    }
    assert_eq!(all.decision(Use::Index, NOW).unwrap().source, Source::XRobotsTag);
}
