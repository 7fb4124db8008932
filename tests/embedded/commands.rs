//! Every command of operators, to a crawl that is stopped and to one that runs.

use tests::operating::{SETTINGS, sees_every_command, web};
use tests::{Crawl, Process, SOON, SimulatedWeb, programs, wait_for};

fn crawl(web: &SimulatedWeb) -> Crawl {
    let crawl = SETTINGS.iter().fold(Crawl::of(web), |crawl, (key, value)| crawl.with(key, value));
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    crawl
}

#[test]
fn every_command_reaches_a_crawl_that_is_stopped() {
    let web = web();
    let crawl = crawl(&web);
    let send = |arguments: &[&str]| crawl.ask(arguments[0], &arguments[1..]);
    // Exit status 1 says that nothing was fetched, as on a busy machine where a request waits too long for its host.
    let run = || drop(crawl.ask("run", &["--until-idle"]));
    sees_every_command(&web, crawl.directory.path(), &send, &run);
}

#[test]
fn every_command_reaches_a_crawl_that_runs_by_its_address() {
    let web = web();
    let crawl = crawl(&web);
    let process = crawl.start("run", &[]);
    let address = || {
        let said = process.stderr();
        said.split_once("status at http://").and_then(|(_, rest)| rest.split('/').next().map(str::to_owned))
    };
    wait_for("the crawl runs", SOON, || address().is_some());
    let address = address().unwrap();
    let send = |arguments: &[&str]| {
        let mut command = programs().command("recrawl");
        command.args(["--format", "json"]).args(arguments).args(["--url", &address]);
        Process::start(command, crawl.directory.path()).finish()
    };
    sees_every_command(&web, crawl.directory.path(), &send, &|| ());
    process.signal(libc::SIGINT);
    process.finish().exits_with(0);
}
