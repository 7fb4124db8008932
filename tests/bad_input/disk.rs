//! State on disk that is damaged or gone.

use crate::small_web;
use simweb::SeededConfig;
use std::path::Path;
use std::time::Duration;
use tests::{Crawl, SimulatedWeb, books};

/// Spoils the file that names a RocksDB's current manifest.
fn damage(directory: &Path) {
    std::fs::write(directory.join("CURRENT"), "garbage\n").unwrap();
}

#[test]
fn damaged_state_is_named_and_deleting_it_as_told_loses_nothing() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let before = books::read(&crawl);
    for (stage, partition) in [("scheduler", 0), ("detector", 1), ("estimator", 2)] {
        damage(&crawl.data().join(stage).join(partition.to_string()));
        let output = crawl.run(&["--until-idle", "--for", "20s"]).finish().exits_with(3);
        let output = output.says(&[&format!("{stage}/{partition}"), "is damaged", "delete it and start again"]);
        assert_eq!(output.stdout, "");
        std::fs::remove_dir_all(crawl.data().join(stage).join(partition.to_string())).unwrap();
        crawl.run(&["--until-idle"]).finish().exits_with(0);
    }
    let after = books::read(&crawl);
    assert_eq!(format!("{before:?}"), format!("{after:?}"), "all is refilled from the changelog");
    assert_eq!(web.page_requests(), 30, "and nothing is fetched again for it");
}

#[test]
fn tools_tell_of_damaged_state_instead_of_counting_what_is_left() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    for partition in 0..4 {
        damage(&crawl.data().join("scheduler").join(partition.to_string()));
    }
    crawl.ask("status", &[]).exits_with(3).says(&["scheduler/0", "is damaged"]);
    crawl.ask("page", &[&web.urls()[0]]).exits_with(3).says(&["scheduler/", "is damaged"]);
}

#[test]
fn a_damaged_log_is_named_by_every_command() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    damage(&crawl.data().join("log"));
    let log = crawl.data().join("log").display().to_string();
    crawl.run(&["--until-idle"]).finish().exits_with(2).says(&[&log, "is damaged"]);
    for (name, further) in [("status", &[][..]), ("page", &["http://host-0001.test/"]), ("dead-letters", &[])] {
        crawl.ask(name, further).exits_with(2).says(&[&log, "is damaged"]);
    }
}

#[test]
fn all_local_state_lost_is_refilled_from_the_log() {
    let seeded = SeededConfig { hosts: 6, pages_per_host: 20, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |config| config.dials.latency = Duration::from_millis(1));
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let before = books::read(&crawl);
    for stage in ["scheduler", "detector", "estimator"] {
        std::fs::remove_dir_all(crawl.data().join(stage)).unwrap();
    }
    let summary = crawl.run(&["--until-idle"]).finish().exits_with(0).json();
    assert_eq!(summary["fetches_total"].as_u64(), Some(120), "{summary:#}");
    assert_eq!(format!("{before:?}"), format!("{:?}", books::read(&crawl)));
    assert_eq!(web.page_requests(), 120);
}
