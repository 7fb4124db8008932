//! A crawl of hosts that answer with TLS and without, with everything that can happen to it, judged by what the hosts have
//! seen.

use tests::mixed_web::{impoliteness, mixed_web, settings_for_mixed_web};
use tests::{Crawl, SOON, wait_for};

const HOSTS: usize = 24;
const PAGES_PER_HOST: usize = 30;

#[test]
fn hosts_have_seen_nothing_but_politeness_with_tls_and_without_and_through_a_kill() {
    let web = mixed_web(HOSTS, PAGES_PER_HOST);
    let settings = settings_for_mixed_web();
    let crawl = settings.iter().fold(Crawl::of(&web), |crawl, (key, value)| crawl.with(key, value));
    let process = crawl.run(&[]);
    wait_for("a third of the pages is asked for", SOON, || web.page_requests() >= HOSTS * PAGES_PER_HOST / 3);
    process.kill();
    crawl.run(&["--until-idle"]).finish_within(2 * SOON).exits_with(0);
    let complaints = impoliteness(&web.ledger(), HOSTS);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
