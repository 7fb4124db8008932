//! Every command of operators, over Kafka.

use crate::services::{Distributed, kafka};
use tests::operating::{SETTINGS, sees_every_command, web};

#[test]
fn every_command_reaches_a_crawl_over_kafka() {
    let Some(brokers) = kafka() else { return };
    let web = web();
    let distributed = Distributed::of(&web, &brokers, &SETTINGS);
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    sees_every_command(&web, distributed.crawl.directory.path(), &|arguments| distributed.ask(arguments), &|| ());
}
