//! Questions of an operator to a crawl over Kafka: the owners of the partitions answer, and those that do not are named.

use crate::services::{Distributed, PARTITIONS, SOON, kafka};
use crate::site::serve;
use page::CanonicalUrl;
use serde_json::Value;
use simweb::SeededConfig;
use stream::partitioner::partition_for;
use tests::{SimulatedWeb, wait_for};

const HOSTS: usize = 8;
const PAGES_PER_HOST: usize = 5;

fn partition_of(url: &str) -> u32 {
    let site = CanonicalUrl::parse(url).unwrap().site_key();
    partition_for(site.as_str().as_bytes(), PARTITIONS)
}

fn sum(hosts: &Value, field: &str) -> u64 {
    hosts.as_array().unwrap().iter().map(|host| host[field].as_u64().unwrap()).sum()
}

#[test]
fn the_owners_of_the_partitions_answer_and_who_does_not_is_named() {
    let Some(brokers) = kafka() else { return };
    let config = SeededConfig { hosts: HOSTS, pages_per_host: PAGES_PER_HOST, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |_| ());
    let distributed = Distributed::of(&web, &brokers, &[("policy.min_interval", "1h"), ("detector.contents", "text")]);
    let ask = |arguments: &[&str]| distributed.ask(arguments);
    let pages = (HOSTS * PAGES_PER_HOST) as u64;

    // Nothing runs: the log's figures are shown at once, and unknown figures are null, not zero.
    let no_one_runs =
        ["these do not run: recrawl stage detector, recrawl stage estimator, recrawl stage scheduler; start them"];
    let output = ask(&["status", "--wait", "1m"]).exits_with(3).says(&no_one_runs);
    let status = output.json();
    assert_eq!(status["pages"], Value::Null, "{status:#}");
    assert_eq!(status["unanswered"].as_array().map(Vec::len), Some(3 * PARTITIONS as usize));
    assert!(status["stages"][0]["lag_records"].as_u64() >= Some(pages), "{status:#}");

    let mut services = distributed.start_all();
    distributed.wait_until_idle(&services);
    assert_eq!(web.page_requests() as u64, pages);

    let status = ask(&["status"]).exits_with(0).json();
    for (name, count) in [("pages", pages), ("fetches_total", pages), ("never_fetched", 0), ("in_flight", 0)] {
        assert_eq!(status[name].as_u64(), Some(count), "{name}: {status:#}");
    }
    assert_eq!((&status["unanswered"], &status["fetch_rate_per_s"]), (&Value::Null, &Value::Null));
    assert_eq!(status["stages"][0]["figures"]["pages"].as_f64(), Some(pages as f64));

    // A page of each host, so of each partition.
    for url in web.urls().into_iter().step_by(PAGES_PER_HOST) {
        let page = ask(&["page", &url]).exits_with(0).json();
        assert_eq!((page["url"].as_str(), page["partition"].as_u64()), (Some(&*url), Some(partition_of(&url).into())));
        // One count of each stage.
        for name in ["fetches", "results", "observations"] {
            assert_eq!(page[name].as_u64(), Some(1), "{name}: {page:#}");
        }
        assert_eq!((page["outcome"].as_str(), page["host_blocked"].as_bool()), (Some("fetched"), Some(false)));
    }
    let url = web.urls()[0].clone();
    let page = ask(&["page", &url]).exits_with(0).json();
    let explained = ask(&["explain", &url]).exits_with(0).json();
    assert_eq!((&explained["url"], &explained["importance"]), (&page["url"], &page["importance"]));
    assert_eq!((explained["state"].as_str(), explained["policy"].as_str()), (Some("held"), Some("live")));
    assert!(explained["change_rate_per_day"]["mean"].as_f64() > Some(0.0), "{explained:#}");
    assert!(!explained["reasons"].as_array().unwrap().is_empty());
    let copy = ask(&["page", &url, "--text"]).exits_with(0).stdout;
    assert!(copy.split_whitespace().count() > 5, "{copy}");
    let history = ask(&["history", &url]).exits_with(0).json();
    let [version] = &history.as_array().unwrap()[..] else { panic!("one version: {history:#}") };
    assert_eq!((version["number"].as_u64(), version["verdict"].as_str()), (Some(1), Some("first")));
    assert_eq!(ask(&["page", &url, "--text", "--version", "1"]).exits_with(0).stdout, copy);
    ask(&["page", &url, "--text", "--version", "2"]).exits_with(1).says(&["no version 2 of", "recrawl history"]);

    // The topic of copies has all of them.
    let contents = ask(&["export", "contents"]).exits_with(0).stdout;
    let contents: Vec<Value> = contents.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(contents.len() as u64, pages);
    let line = contents.iter().find(|line| line["url"] == *url).unwrap();
    assert_eq!((line["deleted"].as_bool(), line["text"].as_str()), (Some(false), Some(copy.trim_end())), "{line:#}");
    let hosts = ask(&["hosts"]).exits_with(0).json();
    assert_eq!(hosts.as_array().map(Vec::len), Some(HOSTS));
    assert_eq!((sum(&hosts, "pages"), sum(&hosts, "fetches")), (pages, pages));
    assert_eq!(hosts[0]["budget_share"].as_f64(), Some(1.0 / HOSTS as f64), "a share of all partitions");
    let by_name = ask(&["hosts", "--top", "3", "--by", "name"]).exits_with(0).json();
    let names: Vec<_> = by_name.as_array().unwrap().iter().map(|host| host["host"].as_str().unwrap()).collect();
    assert_eq!(names, ["host-0001.test", "host-0002.test", "host-0003.test"], "the first of all partitions");
    ask(&["hosts", "--top", "0"]).exits_with(2).says(&["--top 0"]);

    let listed = ask(&["pages", "--top", "0"]).exits_with(0).json();
    let urls: Vec<&str> = listed.as_array().unwrap().iter().map(|page| page["url"].as_str().unwrap()).collect();
    let mut known = web.urls();
    known.sort();
    assert_eq!(urls, known);
    let of_host = ask(&["pages", "--host", "host-0003.test", "--outcome", "fetched"]).exits_with(0).json();
    assert_eq!(of_host.as_array().map(Vec::len), Some(PAGES_PER_HOST), "{of_host:#}");
    assert_eq!(ask(&["pages", "--top", "7"]).exits_with(0).json().as_array().map(Vec::len), Some(7));
    ask(&["pages", "--outcome", "teapot"]).exits_with(2).says(&["there is no such outcome", "not_found"]);

    let unreceived = "http://host-0001.test/never-heard-of";
    for command in ["page", "explain"] {
        ask(&[command, unreceived]).exits_with(1).says(&["is not known in this crawl"]);
    }
    ask(&["page", unreceived, "--text"]).exits_with(1).says(&["no stored copy"]);
    ask(&["forget", &url]).exits_with(0);
    wait_for("it is gone", SOON, || ask(&["page", &url]).stderr.contains("and gone at"));
    ask(&["explain", &url]).exits_with(1).says(&["and gone at"]);
    assert_eq!(ask(&["dead-letters"]).exits_with(0).json(), Value::Array(Vec::new()));

    let detector = services.iter().position(|service| service.stage == "detector").unwrap();
    let other = web.urls()[7].clone();
    let silent = format!("detector/{} (", partition_of(&other));
    services[detector].signal(libc::SIGSTOP);
    // A second may be too short for the others.
    wait_for("all answer but the one that sleeps", SOON, || {
        let output = ask(&["page", &other, "--wait", "1s"]).exits_with(3).says(&["no answer within 1s from", &silent]);
        assert!(output.stdout.is_empty(), "{}", output.stderr);
        !output.stderr.contains("scheduler/")
    });
    services[detector].signal(libc::SIGCONT);

    services.remove(detector).stop();
    // It has left its group, so no command waits for it.
    wait_for("the group knows that the detector has left", SOON, || {
        ask(&["page", &other, "--wait", "1s"]).stderr.contains("do not run: recrawl stage detector; start")
    });
    let output =
        ask(&["page", &other, "--wait", "1m"]).exits_with(3).says(&["do not run: recrawl stage detector; start"]);
    assert!(!output.stderr.contains("scheduler/") && output.stdout.is_empty(), "{}", output.stderr);
    ask(&["explain", &other]).exits_with(0);
    let output = ask(&["status", "--wait", "1m"]).exits_with(3);
    assert_eq!(output.json()["pages"].as_u64(), Some(pages - 1), "the schedulers have answered");
    let unanswered = output.json()["unanswered"].as_array().unwrap().clone();
    assert!(unanswered.len() == 4 && unanswered.iter().all(|who| who.as_str().unwrap().starts_with("detector/")));
}

#[test]
fn rules_are_tried_on_all_pages_before_a_stage_runs_with_them() {
    let Some(brokers) = kafka() else { return };
    let config = SeededConfig { hosts: HOSTS, pages_per_host: PAGES_PER_HOST, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |_| ());
    let sets = [("policy.min_interval", "1h"), ("detector.contents", "body")];
    let distributed = Distributed::of(&web, &brokers, &sets);
    let services = distributed.start_all();
    distributed.wait_until_idle(&services);
    let rules = distributed.crawl.directory.path().join("tried.toml");
    let text = "[[rules]]\nname = \"prices\"\npages = [\"*\"]\nwatch = [\".no-such-part\"]\n";
    std::fs::write(&rules, text).unwrap();
    let checked = distributed.ask(&["rules", "--check", "--config", rules.to_str().unwrap()]).exits_with(1).json();
    let pages = checked["pages"].as_array().unwrap();
    assert_eq!((pages.len(), &checked["pages_with_rules"]), (HOSTS * PAGES_PER_HOST, &(HOSTS * PAGES_PER_HOST).into()));
    let is_tried = |page: &Value| page["from_copy"] == true && page["sees_nothing"][0] == ".no-such-part";
    assert!(pages.iter().all(is_tried), "{checked:#}");
    let of_rule = ["pages", "--rule", "prices", "--host", "host-0001.test", "--config", rules.to_str().unwrap()];
    assert_eq!(distributed.ask(&of_rule).exits_with(0).json().as_array().map(Vec::len), Some(PAGES_PER_HOST));
}

#[test]
fn the_fetcher_names_the_line_of_robots_txt_that_forbids_a_page() {
    let Some(brokers) = kafka() else { return };
    // Only its number of pages counts: the pages are those of another site.
    let config = SeededConfig { hosts: 1, pages_per_host: 2, ..SeededConfig::default() };
    let web = SimulatedWeb::start(config, 1.0, |_| ());
    let site = |path: &str| match path {
        "/robots.txt" => ("text/plain", "User-agent: *\nDisallow: /cart\n".to_owned()),
        _ => ("text/html", format!("<title>{path}</title><p>These are the words of {path}.</p>")),
    };
    let resolve = format!("*.test={}", serve(site));
    let sets = [("fetch.resolve", resolve.as_str()), ("policy.min_interval", "1h")];
    let distributed = Distributed::without_seeds(&web, &brokers, &sets);
    let (cart, shop) = ("http://www.shop.test/cart", "http://www.shop.test/shop");
    distributed.ask(&["seed", cart, shop]).exits_with(0);
    let mut services = distributed.start_all();
    distributed.wait_until_idle(&services);
    let explained = |url: &str| distributed.ask(&["explain", url]).exits_with(0);
    assert_eq!(explained(cart).json()["forbidden_by"], "Disallow: /cart");
    assert_eq!(explained(shop).json()["forbidden_by"], Value::Null);

    let fetcher = services.iter().position(|service| service.stage == "fetcher").unwrap();
    services.remove(fetcher).stop();
    wait_for("the group knows that the fetcher has left", SOON, || {
        let output = explained(cart);
        let is_alone = output.stderr.contains("the fetcher has not answered");
        assert_eq!(output.json()["forbidden_by"].is_null(), is_alone, "{}", output.stderr);
        is_alone
    });
}
