//! Bad input from an operator: configuration, seeds, directories.

use crate::small_web;
use tests::{Crawl, SOON, wait_for};

#[test]
fn all_faults_of_a_configuration_are_reported_at_once_with_file_line_key_and_remedy() {
    let crawl = Crawl::default();
    let file = crawl.directory.path().join("mine.toml");
    let text = "[budget]\nfetches_per_secnd = 3\n\n[policy]\nmin_interval = \"10\"\n[politness]\nx = 1\n";
    std::fs::write(&file, text).unwrap();
    let name = file.display().to_string();
    let output = crawl.ask("run", &["--config", &name, "--set", "fetch.connections=none"]).exits_with(2);
    let output = output.says(&[
        &format!("{name}:2: budget.fetches_per_secnd: "),
        "did you mean budget.fetches_per_second?",
        &format!("{name}:5: policy.min_interval: "),
        "a duration with its unit",
        &format!("{name}:6: politness: "),
        "did you mean politeness?",
        "fetch.connections",
    ]);
    assert_eq!(output.stderr.lines().count(), 4, "a line for each fault:\n{}", output.stderr);
    assert_eq!(output.stdout, "");
    assert!(!crawl.data().exists(), "nothing is made before the configuration is right");
}

#[test]
fn a_configuration_that_is_no_toml_or_is_not_there_is_reported_as_such() {
    let crawl = Crawl::default();
    let file = crawl.directory.path().join("mine.toml");
    let name = file.display().to_string();
    crawl.ask("run", &["--config", &name]).exits_with(2).says(&[&name, "No such file"]);
    std::fs::write(&file, "[budget\n").unwrap();
    crawl.ask("run", &["--config", &name]).exits_with(2).says(&[&format!("{name}:1: not valid TOML")]);
    crawl.ask("run", &["--set", "budget"]).exits_with(2).says(&["write section.key=value"]);
}

#[test]
fn lines_of_a_seeds_file_that_cannot_be_read_are_reported_by_number_and_the_rest_goes_on() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    let good = &web.urls()[0];
    let lines = format!("# mine\n\nnot an address\nftp://host-0001.test/\n{good} heavy\n{good}\n");
    let bytes = [lines.as_bytes(), b"http://host-0001.test/\xff\xfe %zz\n"].concat();
    std::fs::write(crawl.seeds_file(), bytes).unwrap();
    let output = crawl.run(&["--until-idle"]).finish().exits_with(0);
    let output = output.says(&["line 3: ", "line 4: ", "ftp", "line 5: ", "heavy", "line 7: ", "1 seeds used"]);
    let summary = output.json();
    assert_eq!((summary["pages"].as_u64(), summary["fetches_total"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn without_anything_to_crawl_it_says_what_to_give() {
    let crawl = Crawl::default();
    crawl.ask("run", &[]).exits_with(2).says(&["no pages to crawl", "--seeds"]);
    std::fs::write(crawl.seeds_file(), "# none yet\n\n").unwrap();
    crawl.run(&[]).finish().exits_with(2).says(&["no pages to crawl"]);
    std::fs::write(crawl.seeds_file(), "nonsense\n").unwrap();
    crawl.run(&[]).finish().exits_with(2).says(&["none of its 1 lines", "line 1: "]);
    assert!(!crawl.data().exists(), "nothing was crawled, so nothing is kept");
}

#[test]
fn a_seeds_file_that_cannot_be_read_is_named() {
    let crawl = Crawl::default();
    let name = crawl.seeds_file().display().to_string();
    crawl.run(&[]).finish().exits_with(2).says(&[&name, "No such file"]);
    std::fs::create_dir(crawl.seeds_file()).unwrap();
    crawl.run(&[]).finish().exits_with(2).says(&[&name, "Is a directory"]);
    crawl.ask("seed", &["--file", &name]).exits_with(2).says(&[&name]);
}

#[test]
fn other_peoples_machines_are_not_fetched_without_a_contact() {
    let crawl = Crawl::default();
    std::fs::write(crawl.seeds_file(), "http://127.0.0.1:1/\nhttp://example.org/\n").unwrap();
    crawl.run(&[]).finish().exits_with(2).says(&["crawl.contact", "mailto:"]);
    assert!(!crawl.data().exists());
}

#[test]
fn a_data_directory_that_cannot_be_made_is_named() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    // A regular file where a directory is needed; permissions would not stop root.
    std::fs::write(crawl.data(), "a file").unwrap();
    let data = crawl.data().display().to_string();
    crawl.run(&["--until-idle"]).finish().exits_with(2).says(&[&data, "check that its disk is mounted"]);
    assert_eq!(web.ledger().len(), 0);
}

#[test]
fn a_second_run_on_the_same_directory_is_refused_and_does_not_disturb_the_first() {
    let web = small_web();
    let crawl = Crawl::of(&web);
    let first = crawl.run(&[]);
    wait_for("the first is at work", SOON, || web.page_requests() == 30);
    let data = crawl.data().display().to_string();
    crawl.run(&["--until-idle"]).finish().exits_with(2).says(&[&data, "another"]);
    wait_for("the first one still answers", SOON, || {
        crawl.ask("status", &[]).exits_with(0).json()["fetches_total"].as_u64() == Some(30)
    });
    first.signal(libc::SIGINT);
    first.finish().exits_with(0);
    assert_eq!(web.page_requests(), 30);
}

#[test]
fn an_address_that_cannot_be_listened_on_is_named() {
    let web = small_web();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let crawl = Crawl::of(&web).with("http.bind", &address);
    crawl.run(&["--until-idle"]).finish().exits_with(2).says(&["http.bind", &address]);
}
