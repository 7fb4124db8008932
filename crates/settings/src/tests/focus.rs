//! Settings of focuses, and of the pages that the crawl trusts.

use super::{faults_of, layered};
use crate::{Secrets, Settings};

#[test]
fn files_and_thresholds_are_read_and_printed_as_they_are() {
    let file =
        "[focus]\nfiles = [\"sailing.toml\", \"sport\"]\npage_threshold = 0.4\nlink_threshold = 0\ntunnel_depth = 3\n";
    let settings = layered(file, &[], &[("focus.tunnel_depth", "5")]).unwrap();
    let focus = &settings.focus;
    assert_eq!(
        focus.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        ["sailing.toml", "sport"]
    );
    assert_eq!((focus.page_threshold, focus.link_threshold, focus.tunnel_depth), (Some(0.4), 0.0, 5));
    assert_eq!(layered(&settings.to_toml(Secrets::Masked), &[], &[]).unwrap(), settings);
    assert_eq!(Settings::default().focus.page_threshold, None);
}

#[test]
fn thresholds_out_of_range_are_named_by_line() {
    let faults = faults_of("[focus]\npage_threshold = 1.5\nlink_threshold = -0.1\ntunnel_depth = -1\n");
    for line in [
        "recrawl.toml:2: focus.page_threshold",
        "recrawl.toml:3: focus.link_threshold",
        "recrawl.toml:4: focus.tunnel_depth",
    ] {
        assert!(faults.contains(line), "{line}: {faults}");
    }
}

#[test]
fn trust_needs_somewhere_to_begin_and_links_to_travel_by() {
    let faults = faults_of("[ranker]\nimportance = \"trustrank\"\n");
    assert!(faults.contains("ranker.trusted names none"), "{faults}");
    let faults = faults_of("[ranker]\nimportance = \"none\"\ntrusted = [\"a.test\"]\n");
    assert!(faults.contains("ranker.trusted has no effect"), "{faults}");
}
