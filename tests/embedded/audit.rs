//! The record of orders of an embedded crawl: who gave them, and what came of them.

use daemon::http::{KeyEntry, Role};
use serde_json::Value;
use simweb::SeededConfig;
use tests::{Crawl, Process, SOON, SimulatedWeb, programs, wait_for};

fn orders(crawl: &Crawl) -> Vec<Value> {
    crawl.ask("audit", &[]).exits_with(0).json().as_array().unwrap().clone()
}

/// Waits until the last order is this one, and its commands are taken.
fn last(crawl: &Crawl, action: &str) -> Value {
    let is_it = |order: &Value| order["action"] == action && order["effect"]["awaited"] == 0;
    wait_for(&format!("{action} is taken"), SOON, || orders(crawl).last().is_some_and(is_it));
    orders(crawl).pop().unwrap()
}

#[test]
fn every_order_is_recorded_with_who_gave_it_and_what_came_of_it() {
    let web = SimulatedWeb::start(SeededConfig { hosts: 1, pages_per_host: 3, ..SeededConfig::default() }, 1.0, |_| ());
    let crawl = Crawl::of(&web).with("policy.min_interval", "1h");
    let (file, urls) = (crawl.directory.path().join("keys.toml"), web.urls());
    let token = "token-of-alice-the-viewer";
    std::fs::write(&file, KeyEntry::new("alice", Role::Viewer, None, token).to_toml()).unwrap();
    let crawl = crawl.with("http.keys_file", &file.display().to_string());

    // Orders to a stopped crawl are written to its log directly, so their author is a claim.
    crawl.ask("pause", &["a.test", "b.test"]).exits_with(0);
    let order = orders(&crawl).pop().unwrap();
    assert_eq!((&order["action"], &order["names"]), (&"pause".into(), &serde_json::json!(["a.test", "b.test"])));
    assert_eq!((&order["count"], &order["caller"]), (&2.into(), &Value::Null));
    let claimed = order["claimed_caller"].as_str().unwrap().to_owned();
    assert!(
        claimed.split_once('@').is_some_and(|(user, machine)| !user.is_empty() && !machine.is_empty()),
        "{claimed}"
    );
    assert_eq!(
        (&order["effect"]["awaited"], &order["effect"]["hosts"]),
        (&2.into(), &0.into()),
        "no stage has taken it"
    );

    let running = crawl.run(&[]);
    let seeds = last(&crawl, "seeds");
    assert_eq!((&seeds["count"], &seeds["effect"]["pages"]), (&3.into(), &3.into()), "the seeds of the start");
    let pause = orders(&crawl).into_iter().find(|order| order["action"] == "pause").unwrap();
    assert_eq!((&pause["effect"]["hosts"], &pause["effect"]["awaited"]), (&2.into(), &0.into()), "{pause:#}");

    crawl.ask("forget", &[&urls[0], "http://host-0001.test/no-such-page"]).exits_with(0);
    let forget = last(&crawl, "forget");
    assert_eq!((&forget["caller"], &forget["claimed_caller"]), (&"the data directory".into(), &claimed.clone().into()));
    assert_eq!((&forget["effect"]["pages"], &forget["effect"]["unchanged"]), (&1.into(), &1.into()));
    crawl.ask("block", &["host-0001.test"]).exits_with(0);
    assert_eq!(last(&crawl, "block")["effect"]["hosts"], 1);
    crawl.ask("seed", &["http://host-0001.test/new", &urls[1]]).exits_with(0);
    let seed = last(&crawl, "seed");
    assert_eq!((&seed["effect"]["unchanged"], &seed["effect"]["pages"]), (&1.into(), &0.into()));
    let refused = &seed["effect"]["refused"][0];
    assert_eq!((&refused["commands"], &refused["first"]), (&1.into(), &"http://host-0001.test/new".into()));
    assert!(refused["reason"].as_str().unwrap().starts_with("its host is blocked"), "{refused}");

    let address = operate::Access::noted(&crawl.data()).unwrap().address;
    let mut command = programs().command("recrawl");
    command.args(["forget", &urls[1], "--url", &address]).env("RECRAWL_HTTP_TOKEN", token);
    Process::start(command, crawl.directory.path()).finish().exits_with(3).says(&["403"]);
    let order = last(&crawl, "forget");
    assert_eq!((&order["caller"], &order["claimed_caller"]), (&"alice".into(), &claimed.into()));
    assert!(order["refusal"].as_str().unwrap().contains("has the role viewer"), "{order:#}");
    let backup = crawl.directory.path().join("backup").display().to_string();
    let mut command = programs().command("recrawl");
    command.args(["backup", &backup, "--data"]).arg(crawl.data());
    Process::start(command, crawl.directory.path()).finish().exits_with(0);
    let order = last(&crawl, "backup");
    assert_eq!((&order["names"][0], &order["effect"]["commands"]), (&backup.into(), &1.into()));

    let before = orders(&crawl);
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
    assert_eq!(orders(&crawl), before, "all of it is there when the crawl does not run");
    let mut command = programs().command("recrawl");
    command.args(["audit", "--last", "2", "--data"]).arg(crawl.data());
    let text = Process::start(command, crawl.directory.path()).finish().exits_with(0).stdout;
    assert!(
        text.contains("alice (claims ") && text.contains("    refused: the key \"alice\" has the role viewer"),
        "{text}"
    );
}
