//! Addresses as others read them: the web platform tests, and crawler-commons' rules for crawlers.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use page::{CanonicalUrl, UrlRules, whatwg_href};
use serde_json::Value;

/// The rows of a file of the corpora; none when it is not there.
fn rows(name: &str) -> Vec<Value> {
    let file = corpora::read(&format!("conformance/{name}"));
    file.map_or_else(Vec::new, |file| serde_json::from_slice(&file).unwrap())
}

#[test]
fn addresses_are_parsed_as_browsers_parse_them() {
    for row in rows("url-wpt.json") {
        let expected = row["href"].as_str().filter(|_| row["failure"] != true);
        let parsed = whatwg_href(row["input"].as_str().unwrap(), row["base"].as_str());
        assert_eq!(parsed.ok().as_deref(), expected, "{row}");
    }
    for row in rows("url-percent-encoding.json") {
        let parsed = whatwg_href(&format!("https://host/?{}", row["input"].as_str().unwrap()), None).unwrap();
        assert_eq!(parsed, format!("https://host/?{}", row["output"]["utf-8"].as_str().unwrap()), "{row}");
    }
    for row in rows("url-toascii.json") {
        let Some(input) = row["input"].as_str().filter(|input| !input.is_empty()) else { continue };
        let parsed = whatwg_href(&format!("https://{input}/x"), None).ok();
        let expected = row["output"].as_str().map(|host| format!("https://{host}/x"));
        assert_eq!(parsed, expected, "{row}");
    }
}

/// Where we differ from crawler-commons on purpose, by what stands in the input.
const DELIBERATE: [(&str, &str); 8] = [
    ("file:", "only http and https are crawled"),
    ("http:////", "no host"),
    ("http:///////", "no host"),
    ("90%+", "a lone percent sign stays as it is: the server may mean it"),
    ("foobar%", "a lone percent sign stays as it is: the server may mean it"),
    ("foobar^", "the standard leaves ^ in queries as it is"),
    ("foobar\"", "the row itself is broken by its quotes"),
    ("?b", "an empty value and no value are two things to servers"),
];

#[test]
fn crawler_commons_normalises_alike_but_where_we_differ_on_purpose() {
    let rules = UrlRules {
        drop_parameters: Vec::new(),
        sort_parameters: true,
        merge_slashes: true,
        max_parameters: 32,
        max_repeated_segments: 4,
    };
    let mut differing = 0;
    for row in rows("url-crawler-commons.json").iter().filter(|row| row["kind"] == "normalize") {
        // Some rows hold both addresses in one field, apart by a comma.
        let joined = row["fields"].as_array().unwrap().iter().map(|field| field.as_str().unwrap());
        let joined = joined.collect::<Vec<_>>().join(",");
        let Some((input, expected)) =
            joined.split_once(",http").map(|(one, two)| (one.to_owned(), format!("http{two}")))
        else {
            assert!(joined.contains("file:"), "{joined}");
            continue;
        };
        let ours = CanonicalUrl::parse(&input).map(|url| rules.apply(url).to_string());
        if ours.as_deref() != Ok(&expected) {
            let reason = DELIBERATE.iter().find(|(part, _)| input.contains(part));
            assert!(reason.is_some(), "{input}: expected {expected}, not {ours:?}");
            differing += 1;
        }
    }
    println!("{differing} rows differ on purpose");
}

#[test]
fn references_are_resolved_as_by_crawler_commons() {
    for row in rows("url-crawler-commons.json").iter().filter(|row| row["kind"] == "resolve") {
        let fields: Vec<&str> = row["fields"].as_array().unwrap().iter().map(|field| field.as_str().unwrap()).collect();
        let plain = |text: &str| text.trim_matches('"').to_owned();
        let [reference, base, expected] = [fields[0], fields[1], fields[2]].map(plain);
        assert_eq!(whatwg_href(&reference, Some(&base)).unwrap(), expected, "{row}");
    }
}
