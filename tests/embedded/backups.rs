//! A backup that is made while a crawl runs goes on as that crawl, or as one of its own.

use page::CanonicalUrl;
use simweb::SeededConfig;
use std::path::Path;
use tests::{Crawl, Output, Process, SOON, SimulatedWeb, books, programs, wait_for};

fn recrawl(crawl: &Crawl, arguments: &[&str], path: &Path) -> Output {
    let mut command = programs().command("recrawl");
    command.args(["--format", "json"]).args(arguments).arg("--data").arg(path);
    Process::start(command, crawl.directory.path()).finish()
}

fn log_of(crawl: &Crawl) -> String {
    let report = recrawl(crawl, &["state", "check"], &crawl.data()).exits_with(0).json();
    report["databases"][0]["log"].as_str().unwrap().to_owned()
}

#[test]
fn a_crawl_goes_on_from_a_backup_of_its_running_self_and_loses_nothing() {
    let seeded = SeededConfig { hosts: 4, pages_per_host: 30, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let crawl = Crawl::of(&web).with("policy.min_interval", "1s");
    let running = crawl.run(&[]);
    let restored = Crawl::of(&web).with("policy.min_interval", "1h");
    let to = restored.data();
    // Seeds are taken in by now, and some pages are under way.
    wait_for("requests", SOON, || web.page_requests() >= 40);
    recrawl(&crawl, &["backup", to.to_str().unwrap()], &crawl.data()).exits_with(0);
    let again = recrawl(&crawl, &["backup", to.to_str().unwrap()], &crawl.data()).exits_with(3);
    again.says(&["exists"]);
    let requested = web.page_requests();
    wait_for("requests after the backup", SOON, || web.page_requests() > requested);
    running.kill();

    let original = log_of(&crawl);
    assert_eq!(log_of(&restored), original, "it is sound, and the same crawl");
    restored.ask("run", &["--until-idle"]).exits_with(0);
    let pages = books::read(&restored);
    for url in web.urls() {
        let page = pages.get(&CanonicalUrl::parse(&url).unwrap().page_id());
        let page = page.unwrap_or_else(|| panic!("{url} is lost"));
        let counts = (page.scheduler.fetches, page.detector_fetches, page.estimator_fetches);
        assert!(counts.0 > 0 && counts.0 == counts.1 && counts.1 == counts.2, "{url}: {counts:?}");
        assert_eq!(page.scheduler.request.lease_until(), None, "{url} is in flight");
    }

    // A stopped crawl is copied, too, and the copy becomes another crawl.
    let other = Crawl::of(&web).with("policy.min_interval", "1h");
    recrawl(&restored, &["backup", other.data().to_str().unwrap()], &restored.data()).exits_with(0);
    recrawl(&other, &["state", "new-crawl"], &other.data()).exits_with(0);
    assert_ne!(log_of(&other), original);
    other.ask("run", &["--until-idle"]).exits_with(0);
    assert_eq!(books::read(&other).len(), pages.len());
}
