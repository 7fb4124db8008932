//! State on disk that is damaged or gone.

use crate::small_web;
use std::path::Path;
use tests::{Crawl, Process, books, programs};

/// Spoils the file that names a RocksDB's current manifest.
fn damage(directory: &Path) {
    std::fs::write(directory.join("CURRENT"), "garbage\n").unwrap();
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
fn a_log_that_is_gone_is_refused_instead_of_begun_anew() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let before = books::read(&crawl);
    let (log, aside) = (crawl.data().join("log"), crawl.data().join("elsewhere"));
    std::fs::rename(&log, &aside).unwrap();
    let output = crawl.run(&["--until-idle"]).finish().exits_with(2);
    output.says(&[&log.display().to_string(), "is missing", "restore the data directory from a backup"]);
    assert!(!log.exists(), "nothing was begun in its place");
    // Put back, all is as it was.
    std::fs::rename(&aside, &log).unwrap();
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    assert_eq!(format!("{before:?}"), format!("{:?}", books::read(&crawl)));
    assert_eq!(web.page_requests(), 30, "and nothing was fetched again");
}

#[test]
fn state_check_finds_a_crawl_sound_and_names_what_is_not() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let data = crawl.data().display().to_string();
    let check = || {
        let mut command = programs().command("recrawl");
        command.args(["state", "check", "--data", &data]);
        Process::start(command, &crawl.data()).finish()
    };
    check().exits_with(0);
    damage(&crawl.data().join("log"));
    check().exits_with(1);
}
