//! Changes over Kafka reach a web server, whatever happens to the sender.

use crate::services::{Distributed, SOON, kafka};
use serde_json::Value;
use simweb::{ChangeRates, SeededConfig};
use std::collections::BTreeMap;
use tests::{Process, Reply, SimulatedWeb, Webhook, WebhookReceiver, programs, wait_for};

const PAGES: usize = 40;

fn sender(distributed: &Distributed, receiver: &WebhookReceiver) -> Process {
    let mut command = programs().command("recrawl");
    command.args(["--format", "json", "changes", "--follow", "--unsigned", "--webhook", &receiver.url()]);
    // Its progress is where it was started, as there is no data directory.
    command.args(distributed.crawl.flags()).current_dir(distributed.crawl.directory.path());
    Process::start(command, distributed.crawl.directory.path())
}

/// The changes of each page in the order in which they came, without repetitions.
pub(crate) fn by_page(changes: impl Iterator<Item = Value>) -> BTreeMap<String, Vec<String>> {
    let mut pages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for change in changes {
        let text = |name: &str| change[name].as_str().unwrap().to_owned();
        let page = pages.entry(text("page_id")).or_default();
        if page.last() != Some(&text("change_id")) {
            page.push(text("change_id"));
        }
    }
    pages
}

#[test]
fn changes_over_kafka_are_delivered_across_kills_of_the_sender() {
    let Some(brokers) = kafka() else { return };
    let rates = ChangeRates::Same(0.0);
    let seeded = SeededConfig { hosts: 4, pages_per_host: PAGES / 4, rates, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let distributed = Distributed::of(&web, &brokers, &[]);
    let receiver = WebhookReceiver::start(|webhook| match webhook.came_before {
        0 if webhook.body.len() % 3 == 0 => Reply::status(503),
        _ => Reply::status(200),
    });
    let first = sender(&distributed, &receiver);
    let services = distributed.start_all();
    let mut process = first;
    for part in 1..4 {
        wait_for("some changes are taken", SOON, || receiver.taken().len() >= part * 7);
        process.kill();
        process = sender(&distributed, &receiver);
    }
    distributed.wait_until_idle(&services);
    let output = distributed.ask(&["changes"]).exits_with(0);
    let reported = by_page(output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()));
    assert_eq!(reported.len(), PAGES);
    let taken = || by_page(receiver.taken().iter().map(Webhook::json));
    wait_for("every change is taken, in order", SOON, || taken() == reported);
    process.signal(libc::SIGTERM);
    process.finish().exits_with(0).says(&["recrawl-data/changes-webhook-"]);
    let repeated = receiver.taken().len() - reported.values().map(Vec::len).sum::<usize>();
    assert!(repeated <= 3, "a kill repeats the change that was on its way, and no other: {repeated}");

    let feed = distributed.ask(&["feed", "--items", "15"]).exits_with(0).stdout;
    assert_eq!(feed.matches("<entry>").count(), 15);
}
