//! A mirror is equal to the copies, whatever happens to its sender and to the index on the way.

use crate::archives::{crawl as lively_crawl, export, web_of_pages};
use crate::site::{answer, serve_answers};
use serde_json::Value;
use simweb::SeededConfig;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::{BulkFault, Crawl, Output, Process, SOON, SearchServer, SimulatedWeb, programs, wait_for};

const INDEX: &str = "pages";

fn start(crawl: &Crawl, server: &SearchServer, further: &[&str]) -> Process {
    crawl.start("mirror", &[&["--to", &server.address(INDEX)], further].concat())
}

fn mirror(crawl: &Crawl, server: &SearchServer, further: &[&str]) -> Output {
    start(crawl, server, further).finish()
}

/// The copies by page id.
pub(crate) fn contents(crawl: &Crawl) -> BTreeMap<String, Value> {
    let lines = export(crawl, &["contents"]).exits_with(0).stdout;
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["page_id"].as_str().unwrap().to_owned(), line)).collect()
}

/// Compares ids, versions and texts.
#[track_caller]
fn is_equal(crawl: &Crawl, server: &SearchServer) -> usize {
    let (copies, found) = (contents(crawl), server.with(|documents| documents.found(INDEX)));
    assert!(copies.keys().eq(found.keys()), "{} copies, {} documents", copies.len(), found.len());
    for (id, copy) in &copies {
        let document = &found[id];
        assert_eq!(document["id"], **id);
        for field in ["url", "version", "seen_at", "verdict", "title", "language", "text", "preferences"] {
            assert_eq!(document.get(field), copy.get(field), "{field} of {}", copy["url"]);
        }
    }
    copies.len()
}

/// Every third request is held, half of them after the index has done it. In between it fails in every other way.
fn chaos(number: usize) -> BulkFault {
    match number % 12 {
        0 => BulkFault::Status(429),
        1 => BulkFault::Partial,
        3 => BulkFault::Close,
        4 => BulkFault::Status(503),
        7 => BulkFault::BreakOff,
        2 | 8 => BulkFault::Silence,
        5 | 11 => BulkFault::SilenceAfterwards,
        _ => BulkFault::None,
    }
}

/// Kills the sender whenever the index holds a request, until it ends by itself. Returns the number of kills.
fn kill_until_done(crawl: &Crawl, server: &SearchServer) -> usize {
    let mut kills = 0;
    loop {
        let held = server.with(|documents| documents.held);
        let mut process = start(crawl, server, &["--timeout", "20m"]);
        wait_for("a request is held, or all is done", SOON, || {
            !process.is_running() || server.with(|documents| documents.held) > held
        });
        if !process.is_running() {
            process.finish().exits_with(0);
            return kills;
        }
        process.kill();
        kills += 1;
    }
}

#[test]
fn an_index_that_fails_in_every_way_gets_every_copy_of_a_sender_that_is_killed_again_and_again() {
    const PAGES: usize = 1_200;
    let seeded = SeededConfig { hosts: 30, pages_per_host: PAGES / 30, ..SeededConfig::default() };
    let web = SimulatedWeb::start(seeded, 1.0, |_| {});
    let crawl = Crawl::of(&web);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let server = SearchServer::start(chaos);
    let kills = kill_until_done(&crawl, &server);
    assert!(kills >= 3, "{kills}");
    assert_eq!(is_equal(&crawl, &server), PAGES);
    // Nothing is sent again that the index has.
    let before = server.with(|documents| documents.bulks);
    let again = mirror(&crawl, &server, &[]).exits_with(0).json();
    assert_eq!((&again["indexed"], &again["deleted"]), (&0.into(), &0.into()));
    assert_eq!(server.with(|documents| documents.bulks), before);
    let mut check = programs().command("recrawl");
    check.args(["state", "check", "--data"]).arg(crawl.data());
    Process::start(check, crawl.directory.path()).finish().exits_with(0);
}

#[test]
fn a_mirror_follows_a_crawl_through_kills_and_no_page_goes_back() {
    let web = web_of_pages(2_000);
    let crawl = lively_crawl(&web);
    let server = SearchServer::start(chaos);
    let run = crawl.run(&[]);
    wait_for("the crawl is at work", SOON, || web.page_requests() > 20);
    for kill in 1..=12 {
        let held = server.with(|documents| documents.held);
        let process = start(&crawl, &server, &["--follow", "--timeout", "20m"]);
        wait_for("a request is held", SOON, || server.with(|documents| documents.held) > held);
        process.kill();
        if kill == 6 {
            crawl.ask("forget", &[&web.urls()[0]]).exits_with(0);
        }
    }
    run.signal(libc::SIGINT);
    run.finish().exits_with(0);
    kill_until_done(&crawl, &server);
    assert!(is_equal(&crawl, &server) > 5);
}

/// A site whose pages have this state: 0 and more are editions, and others a status.
fn site(state: Arc<AtomicUsize>) -> SocketAddr {
    serve_answers(move |request| {
        let (path, edition) = (request.path(), state.load(Ordering::SeqCst));
        let is_page = ["/lamp", "/chair", "/bell"].contains(&path);
        let text = |edition: usize| {
            let opt_out = if path == "/bell" { "<meta name=robots content=noindex>" } else { "" };
            format!(
                "<html lang=en><title>Goods {path}</title>{opt_out}<p>The goods cost {edition} crowns in all shops."
            )
        };
        match (is_page, edition) {
            (false, _) => answer("404 Not Found", ""),
            (true, 500) => answer("500 Internal Server Error", "out of order"),
            (true, 410) if path == "/chair" => answer("410 Gone", ""),
            (true, edition) => answer("200 OK\r\ncontent-type: text/html", text(edition)),
        }
    })
}

/// A crawl of three pages, each of which has been looked at.
pub(crate) struct Shop {
    pub(crate) crawl: Crawl,
    state: Arc<AtomicUsize>,
    address: SocketAddr,
}

impl Shop {
    pub(crate) fn open() -> Self {
        let state = Arc::new(AtomicUsize::new(40));
        let address = site(state.clone());
        let crawl = Crawl::default()
            .with("politeness.crawl_delay", "0s")
            .with("policy.min_interval", "1d")
            .with("crawl.discover", "none");
        let shop = Self { crawl, state, address };
        let pages = ["/lamp", "/chair", "/bell"].map(|path| shop.url(path));
        shop.crawl.ask("run", &["--until-idle", &pages[0], &pages[1], &pages[2]]).exits_with(0);
        shop
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Looks at all pages in a new state.
    pub(crate) fn look(&self, state: usize) {
        self.state.store(state, Ordering::SeqCst);
        let pages = ["/lamp", "/chair", "/bell"].map(|path| self.url(path));
        // A difference within minutes is held back until it has lasted.
        for _ in 0..2 {
            self.crawl.ask("refetch", &[&pages[0], &pages[1], &pages[2]]).exits_with(0);
            // A run that fetched nothing says so by its status.
            self.crawl.ask("run", &["--until-idle"]).exits_with(i32::from(state == 500));
        }
    }
}

#[test]
fn an_outage_deletes_nothing_and_a_page_that_is_gone_or_forgotten_goes() {
    let shop = Shop::open();
    let server = SearchServer::start(|_| BulkFault::None);
    mirror(&shop.crawl, &server, &[]).exits_with(0);
    assert_eq!(is_equal(&shop.crawl, &server), 3);
    shop.look(500);
    mirror(&shop.crawl, &server, &[]).exits_with(0);
    assert_eq!((is_equal(&shop.crawl, &server), server.with(|documents| documents.deleted)), (3, 0));
    shop.look(410);
    mirror(&shop.crawl, &server, &[]).exits_with(0);
    assert_eq!((is_equal(&shop.crawl, &server), server.with(|documents| documents.deleted)), (2, 1));
    shop.crawl.ask("forget", &[&shop.url("/lamp")]).exits_with(0);
    shop.crawl.ask("run", &["--until-idle"]).exits_with(0);
    mirror(&shop.crawl, &server, &[]).exits_with(0);
    assert_eq!((is_equal(&shop.crawl, &server), server.with(|documents| documents.deleted)), (1, 2));
    // Its versions are numbered from 1 again, and yet it does not stay away.
    shop.state.store(30, Ordering::SeqCst);
    shop.crawl.ask("seed", &[&shop.url("/lamp")]).exits_with(0);
    shop.crawl.ask("run", &["--until-idle"]).exits_with(0);
    mirror(&shop.crawl, &server, &[]).exits_with(0);
    assert_eq!((is_equal(&shop.crawl, &server), server.with(|documents| documents.superseded)), (2, 0));
}

#[test]
fn a_new_index_is_filled_beside_the_one_in_use_through_kills() {
    let shop = Shop::open();
    let server = SearchServer::start(|number| if number == 2 { BulkFault::Silence } else { BulkFault::None });
    mirror(&shop.crawl, &server, &[]).exits_with(0);
    assert_eq!(server.with(|documents| documents.names()), [INDEX]);
    for turn in 1..=2 {
        if turn == 2 {
            let process = start(&shop.crawl, &server, &["--rebuild", "--timeout", "20m"]);
            wait_for("a request is held", SOON, || server.with(|documents| documents.held) == 1);
            assert_eq!(server.with(|documents| documents.found(INDEX).len()), 3, "the one in use is as it was");
            process.kill();
            mirror(&shop.crawl, &server, &[]).exits_with(0).says(&["going on with the new index pages-"]);
        } else {
            mirror(&shop.crawl, &server, &["--rebuild"]).exits_with(0).says(&["the new index is in use"]);
        }
        let (behind, names) = server.with(|documents| (documents.behind(INDEX), documents.names()));
        assert!(behind.iter().eq(&names) && names.len() == 1 && names[0].starts_with("pages-"), "{behind:?} {names:?}");
        assert_eq!(is_equal(&shop.crawl, &server), 3);
    }
}

#[test]
fn rejected_documents_are_set_aside_and_owners_keep_pages_from_a_use() {
    let shop = Shop::open();
    let server = SearchServer::start(|_| BulkFault::None);
    let copies = contents(&shop.crawl);
    let id = |path: &str| copies.values().find(|copy| copy["url"] == *shop.url(path)).unwrap()["page_id"].clone();
    server.with(|documents| documents.refused.insert(id("/lamp").as_str().unwrap().to_owned()));
    let file = shop.crawl.directory.path().join("notes/of.cursor");
    let further = ["--uses", "search", "--cursor-file", &file.display().to_string()];
    let done = mirror(&shop.crawl, &server, &further).exits_with(3);
    let done = done.says(&["1 pages left out, whose owners disallow search", "of.cursor.rejected.jsonl"]).json();
    assert_eq!((&done["indexed"], &done["rejected"]), (&1.into(), &1.into()));
    let found = server.with(|documents| documents.found(INDEX));
    assert_eq!(found.into_keys().collect::<Vec<_>>(), [id("/chair").as_str().unwrap()]);
    let aside = std::fs::read_to_string(file.with_file_name("of.cursor.rejected.jsonl")).unwrap();
    let aside: Value = serde_json::from_str(&aside).unwrap();
    assert_eq!(
        (&aside["page_id"], &aside["reason"]),
        (&id("/lamp"), &"400 mapper_parsing_exception: failed to parse".into())
    );
    // Progress of one selection is none of another.
    let other = mirror(&shop.crawl, &server, &further[2..]).exits_with(2);
    other.says(&["it is of the selection \"all hosts, search\"", "delete it to begin again"]);
}

/// The files below a directory with their contents.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for host in std::fs::read_dir(directory).unwrap() {
        for file in std::fs::read_dir(host.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
    found
}

#[test]
fn a_directory_has_a_markdown_file_for_each_page() {
    let shop = Shop::open();
    let directory = shop.crawl.directory.path().join("texts");
    let to = format!("file://{}", directory.display());
    let mirror = || shop.crawl.ask("mirror", &["--to", &to]).exits_with(0);
    mirror();
    let names = |found: &BTreeMap<String, String>| -> Vec<String> {
        found.keys().map(|name| name.split('-').next().unwrap().to_owned()).collect()
    };
    let found = files(&directory);
    assert_eq!(names(&found), ["bell", "chair", "lamp"]);
    let lamp = &found[found.keys().next_back().unwrap()];
    assert!(lamp.starts_with(&format!("---\nurl: \"{}\"\n", shop.url("/lamp"))), "{lamp}");
    assert!(
        lamp.contains("title: \"Goods /lamp\"\n") && lamp.ends_with("The goods cost 40 crowns in all shops.\n"),
        "{lamp}"
    );
    shop.look(410);
    mirror();
    let found = files(&directory);
    assert_eq!(names(&found), ["bell", "lamp"]);
    let rebuild = shop.crawl.ask("mirror", &["--to", &to, "--rebuild"]).exits_with(2);
    rebuild.says(&["--rebuild: only OpenSearch and Elasticsearch have aliases"]);
}

#[test]
fn what_cannot_be_is_reported_before_anything_is_sent() {
    let nowhere = Crawl::default();
    let check = |to: &str, parts: &[&str]| {
        nowhere.ask("mirror", &["--to", to]).exits_with(2).says(parts);
    };
    check("https://search.test/pages", &["give opensearch+https://"]);
    check("opensearch+https://me:word@search.test/pages", &["--header-file"]);
    check("file:///tmp/pages", &["no log at"]);
}
