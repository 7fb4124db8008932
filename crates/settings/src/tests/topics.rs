//! What the pages should be about, and whom the crawl trusts.

use super::{faults_of, layered};
use crate::{RankMethod, Secrets, Settings};
use page::CanonicalUrl;

const SAILING: &str = "format = 1\nname = \"sailing\"\n\n[terms.en]\nsailing = 0.6\nregatta = 0.4\n";

#[test]
fn files_and_thresholds_are_read_and_printed_as_they_are() {
    let file =
        "[topics]\nfiles = [\"sailing.toml\", \"sport\"]\npage_threshold = 0.4\nlink_threshold = 0\ntunnel_depth = 3\n";
    let settings = layered(file, &[], &[("topics.tunnel_depth", "5")]).unwrap();
    let topics = &settings.topics;
    assert_eq!(
        topics.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        ["sailing.toml", "sport"]
    );
    assert_eq!((topics.page_threshold, topics.link_threshold, topics.tunnel_depth), (Some(0.4), 0.0, 5));
    assert_eq!(layered(&settings.to_toml(Secrets::Masked), &[], &[]).unwrap(), settings);
    assert_eq!(Settings::default().topics.page_threshold, None);
}

#[test]
fn thresholds_out_of_range_are_named_by_line() {
    let faults = faults_of("[topics]\npage_threshold = 1.5\nlink_threshold = -0.1\ntunnel_depth = -1\n");
    for line in [
        "recrawl.toml:2: topics.page_threshold",
        "recrawl.toml:3: topics.link_threshold",
        "recrawl.toml:4: topics.tunnel_depth",
    ] {
        assert!(faults.contains(line), "{line}: {faults}");
    }
}

#[test]
fn a_topic_has_a_name_of_its_own() {
    let mut settings = Settings::default();
    settings.add_topic_file("sailing.toml", SAILING).unwrap();
    let faults = settings.add_topic_file("again.toml", SAILING).unwrap_err().to_string();
    assert!(faults.contains("again.toml:1") && faults.contains("\"sailing\""), "{faults}");
    assert!(settings.add_topic_class("sport").unwrap());
    assert!(settings.add_topic_class("sport").unwrap_err().to_string().contains("topics.files"));
    assert!(!settings.add_topic_class("no such class").unwrap());
    assert_eq!(settings.wanted.iter().map(|topic| topic.name.as_str()).collect::<Vec<_>>(), ["sailing", "sport"]);
}

#[test]
fn every_line_that_is_wrong_in_a_topic_is_named() {
    let text = "format = 1\nname = \"sailing\"\nthreshold = 2.0\n\n[terms.en]\nsailing = \"much\"\n";
    let faults = Settings::default().add_topic_file("sailing.toml", text).unwrap_err().to_string();
    assert!(faults.contains("sailing.toml:3") && faults.contains("sailing.toml:6"), "{faults}");
}

#[test]
fn there_are_so_many_topics_and_no_more() {
    let mut settings = Settings::default();
    for number in 0..topic::MAX_TOPICS {
        settings
            .add_topic_file("many.toml", &SAILING.replace("\"sailing\"", &format!("\"sailing {number}\"")))
            .unwrap();
    }
    let faults = settings.add_topic_file("one-more.toml", SAILING).unwrap_err().to_string();
    assert!(faults.contains(&format!("more than {} topics", topic::MAX_TOPICS)), "{faults}");
}

#[test]
fn trusted_pages_are_hosts_or_paths() {
    let file = "[ranker]\nimportance = \"trustrank\"\ntrusted = [\"*.example.org\", \"shop.example/guides/*\"]\n";
    let settings = layered(file, &[], &[]).unwrap();
    assert_eq!(settings.ranker.importance, RankMethod::TrustRank);
    let is_trusted = |url: &str| {
        let url = CanonicalUrl::parse(url).unwrap();
        settings.ranker.trusted.iter().any(|trusted| trusted.includes(&url))
    };
    assert!(is_trusted("https://www.example.org/a") && is_trusted("http://shop.example/guides/1"));
    assert!(!is_trusted("http://shop.example/") && !is_trusted("http://example.com/"));
    assert_eq!(layered(&settings.to_toml(Secrets::Masked), &[], &[]).unwrap(), settings);
    let faults = faults_of("[ranker]\ntrusted = [\"a b\"]\n");
    assert!(faults.contains("recrawl.toml:2: ranker.trusted") && faults.contains("\"a b\""), "{faults}");
}

#[test]
fn trust_needs_somewhere_to_begin_and_links_to_travel_by() {
    let faults = faults_of("[ranker]\nimportance = \"trustrank\"\n");
    assert!(faults.contains("ranker.trusted names none"), "{faults}");
    let faults = faults_of("[ranker]\nimportance = \"none\"\ntrusted = [\"a.test\"]\n");
    assert!(faults.contains("ranker.trusted has no effect"), "{faults}");
}
