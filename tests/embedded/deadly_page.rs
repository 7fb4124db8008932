//! A page that takes more memory to read than there is ends the process three times, and from then on costs nothing but
//! itself.

use crate::deadly_site::{LITTLE_MEMORY, OTHERS, WHY, serve};
use crate::operating::shown_status;
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use tests::{Crawl, SOON, wait_for};

#[test]
fn a_page_that_ends_the_process_is_set_aside_and_the_rest_goes_on() {
    let crawl = LITTLE_MEMORY.iter().fold(Crawl::default(), |crawl, (name, value)| crawl.with_variable(name, value));
    let settings = serve(&crawl.seeds_file());
    let crawl = settings.iter().fold(crawl, |crawl, (key, value)| crawl.with(key, value));
    // After the first crash the processes note what they are at.
    for crash in 1..=3 {
        let output = crawl.run(&[]).finish();
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "crash {crash}: {}", output.stderr);
        assert!(output.stderr.contains("memory allocation of"), "crash {crash}: {}", output.stderr);
    }
    let process = crawl.run(&[]);
    wait_for("the page is set aside, and the others are answered", SOON, || {
        let status = shown_status(&crawl);
        let mut stages = status["stages"].as_array().into_iter().flatten();
        stages.any(|stage| stage["name"] == "detector" && stage["set_aside_total"].as_u64() >= Some(1))
            && status["pages"] == 1 + OTHERS
            && status["never_fetched"] == 1
    });
    // It waits for its next turn as after a failure, and not for the end of its lease.
    wait_for("the page counts as failed", SOON, || {
        let page = crawl.ask("page", &["http://deadly.test/"]).exits_with(0).stdout;
        serde_json::from_str::<Value>(&page).unwrap()["last_failure"] == "set_aside"
    });
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
    // More than once where the lease of its request has ended meanwhile.
    let dead_letters = crawl.ask("dead-letters", &[]).exits_with(0).json();
    let reasons: Vec<_> =
        dead_letters.as_array().unwrap().iter().map(|record| record["reason"].as_str().unwrap()).collect();
    assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason.starts_with(WHY)), "{reasons:?}");
}
