//! Fetching alone, from an nginx on the other core: keep-alive beside wrk, spider and Scrapy, a crawl beside crawlers, TLS
//! beside wrk, and memory at a thousand connections. What nginx wrote down must be what each contestant was to fetch.

use crate::measure::{Finished, Measured, Rounds, digits, on_core};
use crate::peers::{Program, colly, crawlee, java, own, peers, python, released_example};
use crate::table::{Row, Target};
use crate::web_server::{Books, Site, Way, WebServer, has, program};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CONTESTANT_CORE: usize = 0;
/// Hosts of the lists: recrawl opens one connection to a host, so this is also how many connections all have.
const HOSTS: usize = 64;
/// Hosts of those who take so much longer that fewer must do. Every host has all pages, so a page is a page.
const SPIDER_HOSTS: usize = 16;
const CRAWLED_HOSTS: usize = 16;
const SLOW_HOSTS: usize = 4;
const MEMORY_CONNECTIONS: usize = 1_000;
const TLS_PAGES: usize = 100;
const WRK_SECONDS: &str = "3s";
/// Crawlers may ask for a page twice: some do for the first, and some when two threads find it at once.
const MOST_TOO_MUCH: f64 = 1.02;

/// µs of CPU a page, for each contestant round by round.
#[derive(Default)]
struct Figures {
    whole: BTreeMap<&'static str, Vec<f64>>,
    /// Once compiled and warm, of those who say so.
    warm: BTreeMap<&'static str, Vec<f64>>,
}

impl Figures {
    fn add(&mut self, name: &'static str, (finished, books): &(Finished, Books)) {
        let [whole, nginx] = [finished.cpu, books.cpu].map(|cpu| cpu.as_secs_f64() * 1e6 / books.pages as f64);
        self.whole.entry(name).or_default().push(whole);
        eprintln!("  {name}: {} µs/page, nginx {}", digits(whole), digits(nginx));
        if let Some(warm) = finished.stdout.lines().find_map(|line| line.strip_prefix("warm us: ")) {
            self.warm.entry(name).or_default().push(warm.parse().expect("figures are numbers"));
        }
    }

    fn rounds(&self, name: &str) -> Option<Rounds> {
        self.whole.get(name).cloned().map(Rounds::new)
    }

    /// A row beside a peer, or the reason why the peer is not there.
    fn row(&self, what: &str, ours: &str, peer: &'static str, aim: f64, absent: Result<(), String>) -> Row {
        let name = format!("{what}, beside {peer}");
        match (self.rounds(ours), self.rounds(peer), absent) {
            (Some(ours), Some(theirs), _) => {
                let row = Row::new(name, "µs/page", ours.clone()).beside(peer, theirs).aims_at(Target::Ratio(aim));
                match self.warm.get(peer).cloned().map(Rounds::new) {
                    Some(warm) => row.note(format!(
                        "by the second half of {peer}'s pages, when it is warm: {warm} µs/page, ratio {}",
                        ours.over(&warm)
                    )),
                    None => row,
                }
            }
            (_, _, Err(reason)) => Row::skipped(name, reason),
            _ => Row::skipped(name, "not measured"),
        }
    }
}

pub(crate) fn rows(rounds: usize) -> Vec<Row> {
    let site = match (program(), Site::installed()) {
        (Ok(_), Ok(site)) => site,
        (Err(reason), _) | (_, Err(reason)) => return vec![Row::skipped("fetching", reason)],
    };
    let few = site.of_mean_size(TLS_PAGES);
    let ours = released_example("fetcher", "fetch_pages");
    let wrk = if has("wrk") { Ok(()) } else { Err("no wrk (make bench installs it)".to_owned()) };
    let (spider, scrapy) = (peers(), python());
    let crawlers = [
        ("colly", 1.0 / 10.0, colly()),
        ("crawler4j", 1.0 / 30.0, java("crawler4j", "Crawl")),
        ("Crawlee", 1.0 / 30.0, crawlee()),
    ];
    let mut figures = Figures::default();
    let mut memory = Vec::new();
    for round in 1..=rounds {
        eprintln!("fetching, round {round} of {rounds}");
        if wrk.is_ok() {
            figures.add("wrk", &run_wrk(&site, Way::KeepAlive));
        }
        figures.add("list", &run_ours(&ours, "list", &site, HOSTS, Way::KeepAlive));
        if let Ok(program) = &spider {
            figures.add("spider", &run_spider(program, &site));
        }
        if let Ok(python) = &scrapy {
            figures.add("Scrapy", &run_scrapy(python, &site));
        }
        figures.add("crawl", &run_ours(&ours, "crawl", &site, CRAWLED_HOSTS, Way::KeepAlive));
        for (name, _, program) in &crawlers {
            if let Ok(program) = program {
                figures.add(name, &run_crawler(name, program, &site));
            }
        }
        if wrk.is_ok() {
            figures.add("wrk over TLS", &run_wrk(&few, Way::UncheckedHandshakes));
        }
        figures.add("unchecked handshakes", &run_ours(&ours, "list", &few, HOSTS, Way::UncheckedHandshakes));
        let full = run_ours(&ours, "list", &few, HOSTS, Way::FullHandshakes);
        assert_eq!(full.1.resumed, 0, "sessions were resumed that should not have been");
        figures.add("full handshakes", &full);
        let resumed = run_ours(&ours, "list", &few, HOSTS, Way::ResumedHandshakes);
        // The first connection to each host has nothing to resume; robots.txt goes over it.
        assert_eq!(resumed.1.resumed, resumed.1.pages, "not all sessions were resumed");
        figures.add("resumed handshakes", &resumed);
        memory.push(megabytes_at_many_connections(&ours, &site));
    }
    let keep_alive = "fetch a list, keep-alive, robots.txt, gates, limits and digests on";
    let crawl = "fetch, judge as new, extract, follow links";
    let unchecked = "TLS, a full handshake for each page, the certificate not verified";
    let tls = |what: &str, name: &str| {
        Row::new(
            format!("TLS, {what} for each page"),
            "µs/page",
            figures.rounds(name).expect("measured in every round"),
        )
    };
    let mut rows = vec![
        figures.row(keep_alive, "list", "wrk", 1.0 / 0.6, wrk.clone()),
        figures.row(keep_alive, "list", "spider", 1.0 / 5.0, spider.map(drop)),
        figures.row(keep_alive, "list", "Scrapy", 1.0 / 50.0, scrapy.map(drop)),
    ];
    rows.extend(crawlers.map(|(name, aim, program)| figures.row(crawl, "crawl", name, aim, program.map(drop))));
    rows.extend([
        Row::skipped(
            format!("{crawl}, beside StormCrawler"),
            "not built here; published figures in docs/MEASUREMENTS.md",
        ),
        figures.row(unchecked, "unchecked handshakes", "wrk over TLS", 0.45, wrk.clone()),
        tls("a full handshake with the certificate verified", "full handshakes"),
        tls("a resumed session", "resumed handshakes"),
        Row::new(format!("memory at {MEMORY_CONNECTIONS} connections, peak"), "MiB", Rounds::new(memory))
            .aims_at(Target::Value(64.0)),
    ]);
    rows
}

/// Runs a contestant against a server of its own. `command` gets the server, so that it can pass its address on.
fn run(site: &Site, way: Way, command: impl FnOnce(&WebServer) -> Command) -> (Finished, Books) {
    let server = WebServer::start(site, way);
    let command = on_core(command(&server), CONTESTANT_CORE);
    let finished = Measured::start(command, server.directory.path()).finish();
    (finished, server.books(site))
}

/// Checks that every page of `hosts` hosts was fetched whole, and hardly any twice.
fn check(name: &str, (finished, books): &(Finished, Books), site: &Site, hosts: usize) {
    let pages = (hosts * site.pages.len()) as u64;
    let bytes = hosts as u64 * site.bytes();
    let fits = |got: u64, wanted: u64| got >= wanted && got as f64 <= wanted as f64 * MOST_TOO_MUCH;
    assert!(
        fits(books.pages, pages) && fits(books.bytes, bytes),
        "{name}: {} pages with {} bytes were served, not {pages} with {bytes}; it said: {} {}",
        books.pages,
        books.bytes,
        finished.stdout,
        finished.stderr
    );
}

/// Writes addresses to a file, host by host within each page, so that all hosts are at work all the time.
fn write_list(server: &WebServer, pages: &[&str], hosts: usize) -> PathBuf {
    let addresses = pages.iter().flat_map(|page| (0..hosts).map(move |host| server.url(host, page) + "\n"));
    let file = server.directory.path().join("addresses");
    std::fs::write(&file, addresses.collect::<String>()).expect("a temporary directory takes files");
    file
}

fn all(site: &Site) -> Vec<&str> {
    site.pages.keys().map(String::as_str).collect()
}

const FIRST: [&str; 1] = ["index.html"];

fn run_ours(program: &Path, mode: &str, site: &Site, hosts: usize, way: Way) -> (Finished, Books) {
    let ran = run(site, way, |server| {
        let mut command = Command::new(program);
        let pages = if mode == "crawl" { FIRST.to_vec() } else { all(site) };
        command.arg(mode).arg(write_list(server, &pages, hosts)).args([
            "fetch.allow_private_addresses=127.0.0.0/8",
            "fetch.connections=1000",
            "politeness.crawl_delay=0s",
            "politeness.address_delay=0s",
            "politeness.response_time_factor=0",
        ]);
        match way {
            Way::KeepAlive | Way::Slow => {}
            Way::UncheckedHandshakes => {
                command.arg("fetch.tls_verify=false");
            }
            Way::FullHandshakes | Way::ResumedHandshakes => {
                let authority = server.directory.path().join("certificate.pem");
                command.arg(format!("fetch.extra_ca={}", authority.display()));
            }
        }
        command
    });
    check("recrawl", &ran, site, hosts);
    let reported: u64 = ran.0.stdout.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
    assert_eq!(reported, ran.1.pages, "recrawl says: {}", ran.0.stdout);
    ran
}

fn run_wrk(site: &Site, way: Way) -> (Finished, Books) {
    let ran = run(site, way, |server| {
        let list = server.directory.path().join("pages");
        std::fs::write(&list, all(site).join("\n") + "\n").expect("a temporary directory takes files");
        let mut command = Command::new("wrk");
        command.args(["-t1", &format!("-c{HOSTS}"), "-d", WRK_SECONDS, "-s"]).arg(own("wrk.lua"));
        command.arg(server.url(0, "")).env("PAGES", list);
        command
    });
    // It stops in the middle of the list.
    let mean = |bytes: u64, pages: u64| bytes as f64 / pages as f64;
    let (served, wanted) = (mean(ran.1.bytes, ran.1.pages), mean(site.bytes(), site.pages.len() as u64));
    assert!((served / wanted - 1.0).abs() < 0.05, "wrk: pages of {served:.0} bytes, not {wanted:.0}: {}", ran.0.stdout);
    ran
}

fn run_spider(program: &Path, site: &Site) -> (Finished, Books) {
    let ran = run(site, Way::KeepAlive, |server| {
        let mut command = Command::new(program);
        command.arg("spider").args((0..SPIDER_HOSTS).map(|host| server.url(host, FIRST[0])));
        command
    });
    check("spider", &ran, site, SPIDER_HOSTS);
    ran
}

fn run_scrapy(python: &Path, site: &Site) -> (Finished, Books) {
    let ran = run(site, Way::KeepAlive, |server| {
        let mut command = Command::new(python);
        command.arg(own("scrapy/fetch_list.py")).arg(write_list(server, &all(site), SLOW_HOSTS));
        command
    });
    check("Scrapy", &ran, site, SLOW_HOSTS);
    ran
}

/// A crawler that follows links from the first page of each host. Its arguments are the number of connections that it may
/// have and the number of pages, by which it knows when it is half done.
fn run_crawler(name: &str, program: &Program, site: &Site) -> (Finished, Books) {
    let ran = run(site, Way::KeepAlive, |server| {
        let mut command = program.command();
        command.arg(write_list(server, &FIRST, SLOW_HOSTS));
        command.args([HOSTS, SLOW_HOSTS * site.pages.len()].map(|number| number.to_string()));
        command
    });
    check(name, &ran, site, SLOW_HOSTS);
    ran
}

/// Resident memory with a page under way on every connection.
fn megabytes_at_many_connections(program: &Path, site: &Site) -> f64 {
    let site = site.of_mean_size(2);
    let (finished, books) = run_ours(program, "list", &site, MEMORY_CONNECTIONS, Way::Slow);
    assert_eq!(books.connections, MEMORY_CONNECTIONS, "connections that pages went over");
    finished.peak_memory_bytes as f64 / f64::from(1 << 20)
}
