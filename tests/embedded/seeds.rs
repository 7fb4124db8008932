//! The ways by which pages get into a crawl: a table in CSV, arguments, and the pages of a sitemap.

use crate::site::{answer, serve, serve_answers};
use page::{HOUR, Timestamp};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tests::{Crawl, Process, SOON, programs, wait_for};

#[test]
fn pages_come_from_a_table_from_arguments_and_from_a_sitemap() {
    let site = serve(|path| ("text/html", format!("<title>Page</title><h1>Page {path}</h1><p>It is about {path}.")));
    let url = |path: &str| format!("http://{site}{path}");
    let crawl = Crawl::default().with("politeness.crawl_delay", "0s");
    let file = |name: &str, text: String| {
        let path = crawl.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let table = file("pages.csv", format!("Name;URL;Weight\n\"Lamp; red\";{};4\nChair;{};\n", url("/1"), url("/2")));
    let ran = crawl.ask("run", &[&url("/3"), &url("/2"), "--seeds", &table, "--until-idle"]).exits_with(0);
    let ran = ran.says(&["addresses in column 2 (url), weights in column 3 (weight); 1 other column is not read"]);
    assert_eq!(ran.json()["pages"], 3);
    let weight = |path: &str| -> Value { crawl.ask("page", &[&url(path)]).exits_with(0).json()["weight"].clone() };
    assert_eq!([weight("/1"), weight("/2"), weight("/3")], [4.0, 1.0, 1.0]);

    let entries = ["/3", "/4", "/5"].map(|path| format!("<url><loc>{}</loc></url>", url(path))).concat();
    let sitemap = file("map.xml", format!("<urlset>{entries}</urlset>"));
    crawl.ask("seed", &["--file", &sitemap]).exits_with(2).says(&["a sitemap or feed of 3 pages", "map.xml --urls"]);
    let mut command = programs().command("recrawl");
    command.args(["sitemap", &sitemap, "--urls"]);
    let listed = Process::start(command, crawl.directory.path()).finish().exits_with(0).stdout;
    let sent = crawl.ask("seed", &["--file", &file("listed.txt", listed)]).exits_with(0).json();
    assert_eq!((&sent["seeds"], &sent["faults"]), (&Value::from(3), &Value::from(0)));
    assert_eq!(crawl.ask("run", &["--until-idle"]).exits_with(0).json()["pages"], 5);
}

#[test]
fn a_date_in_a_table_of_seeds_is_a_hint_for_pages_that_were_not_looked_at_since() {
    let asked: Arc<[AtomicUsize; 2]> = Arc::default();
    let counted = Arc::clone(&asked);
    let site = serve(move |path| {
        let number = usize::from(path == "/old");
        if path != "/robots.txt" {
            counted[number].fetch_add(1, Ordering::SeqCst);
        }
        ("text/html", format!("<title>Page</title><p>It is about {path}."))
    });
    let count = |number: usize| asked[number].load(Ordering::SeqCst);
    let crawl = Crawl::default()
        .with("politeness.crawl_delay", "0s")
        .with("policy.min_interval", "1h")
        .with("policy.audit_share", "0")
        .with("policy.scan_interval", "20ms");
    let table = crawl.directory.path().join("pages.csv");
    let write = |new: &str| {
        let text = format!("url,lastmod\nhttp://{site}/new,{new}\nhttp://{site}/old,2001-02-03\n");
        std::fs::write(&table, text).unwrap();
    };
    write("2001-02-03T04:05:06Z");
    let table = table.display().to_string();
    let ran = crawl.ask("run", &["--seeds", &table, "--until-idle"]).exits_with(0);
    ran.says(&["dates of the last change in column 2 (lastmod)"]);
    assert_eq!([count(0), count(1)], [1, 1]);
    // The hint is kept until the next look, which comes when it is worth it.
    let soon = Timestamp::from_secs(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64) + HOUR;
    write(&soon.to_string());
    let running = crawl.start("run", &["--seeds", &table]);
    let hints = |path: &str| {
        let explained = crawl.ask("explain", &[&format!("http://{site}{path}")]).exits_with(0);
        explained.json()["hints"]["kinds"].as_u64()
    };
    wait_for("a hint for the page that has changed since", SOON, || count(0) == 2 || hints("/new") == Some(1));
    assert_eq!(hints("/old"), Some(0));
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
    assert_eq!(count(1), 1, "the copy is younger than its date");
}

#[test]
fn a_seed_that_cannot_be_fetched_is_reported_once_like_a_change() {
    let site = serve_answers(|request| match request.path() {
        "/robots.txt" => answer("200 OK\r\ncontent-type: text/plain", "User-agent: *\nDisallow: /private\n"),
        "/here" => answer("200 OK\r\ncontent-type: text/html", "<p>It is here."),
        _ => answer("404 Not Found\r\ncontent-type: text/html", "<p>It is not here."),
    });
    let crawl = Crawl::default().with("politeness.crawl_delay", "0s");
    let urls = ["/here", "/typo", "/private"].map(|path| format!("http://{site}{path}"));
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let failures = |cursor: &[&str]| {
        let shown =
            crawl.ask("changes", &[&["--verdict", "failed", "--format", "jsonl"], cursor].concat()).exits_with(0);
        let mut lines: Vec<Value> = shown.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.sort_by_key(|line| line["url"].to_string());
        lines
    };
    crawl.ask("run", &[&urls[..], &["--until-idle"]].concat()).exits_with(0);
    let reported = failures(&[]);
    let facts: Vec<_> = reported.iter().map(|line| (&line["url"], &line["failure"], &line["status"])).collect();
    let (robots, missing) = (Value::from("robots_disallowed"), Value::from("not_found"));
    let (private, typo) = (Value::from(urls[2]), Value::from(urls[1]));
    assert_eq!(facts, [(&private, &robots, &Value::Null), (&typo, &missing, &Value::from(404))]);
    assert_eq!(crawl.ask("status", &[]).exits_with(0).json()["failed_seeds"], 2);

    // A program gets it like any change, in a sentence. Seeded and asked for again, nothing is reported once more.
    crawl.ask("refetch", &urls).exits_with(0);
    crawl.ask("run", &[&urls[..], &["--until-idle"]].concat()).exits_with(0);
    assert_eq!(failures(&[]).len(), 2);
    let sentences = crawl.directory.path().join("sentences.txt");
    let program = format!("sh -c 'echo \"$CHANGE_SENTENCE\" >> {}'", sentences.display());
    crawl.ask("changes", &["--verdict", "failed", "--exec", &program]).exits_with(0);
    let mut reported: Vec<_> = std::fs::read_to_string(sentences).unwrap().lines().map(str::to_owned).collect();
    reported.sort();
    assert_eq!(
        reported,
        [
            format!("Seed {site}/private cannot be fetched: the robots.txt of its host forbids it"),
            format!("Seed {site}/typo cannot be fetched: the server does not find it (404)"),
        ]
    );
}

#[test]
fn a_list_that_leaves_out_known_seeds_says_so_and_seeds_only_fetches_the_list_alone() {
    let asked: Arc<[AtomicUsize; 3]> = Arc::default();
    let counted = Arc::clone(&asked);
    let site = serve(move |path| {
        if let Some(number) = ["/1", "/2", "/3"].iter().position(|known| *known == path) {
            counted[number].fetch_add(1, Ordering::SeqCst);
        }
        ("text/html", format!("<title>Page</title><p>It is about {path}. <a href=/3>Another</a>"))
    });
    let count = || asked.each_ref().map(|count| count.load(Ordering::SeqCst));
    // Every page is due all the time.
    let crawl = Crawl::default()
        .with("politeness.crawl_delay", "0s")
        .with("policy.min_interval", "1s")
        .with("policy.least_worth", "0s")
        .with("policy.scan_interval", "20ms")
        .with("crawl.discover", "same-host");
    let [first, second, third] = ["/1", "/2", "/3"].map(|path| format!("http://{site}{path}"));
    crawl.ask("run", &[&first, &second, "--until-idle"]).exits_with(0);
    assert!(count().iter().all(|count| *count > 0), "{:?}", count());
    crawl
        .ask("run", &["--seeds-only", "--until-idle"])
        .exits_with(2)
        .says(&["--seeds-only: the list of seeds is empty"]);

    let run = crawl.ask("run", &[&first, "--until-idle"]).exits_with(0);
    let run = run.says(&["1 known seed is not in the list, and is fetched all the same; --seeds-only leaves it out"]);
    assert_eq!(run.json()["unlisted_seeds"], 1);

    let before = count();
    let running = crawl.start("run", &[&first, "--seeds-only"]);
    wait_for("the page of the list is fetched", SOON, || count()[0] > before[0] + 2);
    let line = "1 known seed is not in the list, and is not fetched (--seeds-only)";
    wait_for("the start says it", SOON, || running.stderr().contains(line));
    let status = crawl.ask("status", &["--format", "text"]).exits_with(0).stdout;
    assert!(status.contains("unlisted seeds                1"), "{status}");
    // The running crawl is explained from its directory, and so is one that has ended.
    let explained = |url: &str| crawl.ask("explain", &[url]).exits_with(0).json();
    let check = || {
        for url in [&second, &third] {
            let explained = explained(url);
            assert_eq!(explained["state"], "excluded", "{explained}");
            let answer = explained["answer"].as_str().unwrap();
            assert!(answer.starts_with("Not fetched: it is not in the list of seeds"), "{answer}");
        }
        assert_ne!(explained(&first)["state"], "excluded");
    };
    check();
    running.signal(libc::SIGINT);
    let ended = running.finish().exits_with(0).json();
    check();
    assert_eq!((&ended["pages"], &ended["unlisted_seeds"]), (&Value::from(3), &Value::from(1)));
    assert_eq!(count()[1..], before[1..], "what the list leaves out is not asked for");

    // A start without it fetches all of them again.
    let running = crawl.start("run", &[]);
    wait_for("the other pages are fetched", SOON, || count()[1] > before[1] && count()[2] > before[2]);
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
    assert_ne!(explained(&second)["state"], "excluded");
}

#[test]
fn the_address_of_a_sitemap_as_a_seed_is_answered_with_how_to_take_in_what_it_lists() {
    let site = serve_answers(|request| {
        let url = |path: &str| format!("http://{}{path}", request.header("host").unwrap_or_default());
        let entries = ["/1", "/2", "/3"].map(|path| format!("<url><loc>{}</loc></url>", url(path))).concat();
        match request.path() {
            "/robots.txt" => answer("404 Not Found", ""),
            "/map.xml" => answer("200 OK\r\ncontent-type: application/xml", format!("<urlset>{entries}</urlset>")),
            path => answer("200 OK\r\ncontent-type: text/html", format!("<title>Page</title><p>It is about {path}.")),
        }
    });
    let [map, first, second, third] = ["/map.xml", "/1", "/2", "/3"].map(|path| format!("http://{site}{path}"));
    let ran = |discover: &str, urls: &[&str]| {
        let crawl = Crawl::default().with("politeness.crawl_delay", "0s").with("crawl.discover", discover);
        let ran = crawl.ask("run", &[urls, &["--until-idle"]].concat()).exits_with(0);
        let pages = ran.json()["pages"].as_u64().unwrap();
        (pages, ran.stderr)
    };
    let advice = "recrawl sitemap URL --urls | recrawl seed --file -";
    let (pages, stderr) = ran("none", &[&map]);
    assert_eq!(pages, 1);
    let warning = stderr.lines().find(|line| line.contains(advice)).unwrap_or_else(|| panic!("{stderr}"));
    assert!(warning.contains(&map) && warning.contains("pages=3"), "{warning}");
    assert!(warning.contains("crawl.discover = \"same-host\""), "{warning}");
    let (_, stderr) = ran("none", &[&map, &first]);
    assert!(stderr.contains("pages=2"), "one of them is a seed: {stderr}");
    // Where all that it lists is in the crawl, there is nothing to say.
    for (discover, urls) in [("none", &[&*map, &first, &second, &third][..]), ("same-host", &[&map])] {
        let (pages, stderr) = ran(discover, urls);
        assert_eq!(pages, 4);
        assert!(!stderr.contains(advice), "{stderr}");
    }
}

#[test]
fn a_list_that_is_larger_than_an_order_may_be_reaches_a_crawl_that_runs() {
    let site = serve(|path| ("text/html", format!("<title>Page</title><p>It is about {path}.")));
    let crawl =
        Crawl::default().with("fetch.resolve", &format!("*.test={site}")).with("budget.fetches_per_second", "0.000001");
    let running = crawl.start("run", &["http://first.test/"]);
    wait_for("the crawl runs", SOON, || crawl.ask("status", &[]).status.success());
    // 36 MB; a running crawl takes orders of 32 MiB.
    const SEEDS: usize = 24_000;
    let long = "x".repeat(1_480);
    let list: String = (0..SEEDS).map(|number| format!("http://h{}.test/{long}{number}\n", number % 100)).collect();
    let file = crawl.directory.path().join("long.txt");
    std::fs::write(&file, list).unwrap();
    let sent = crawl.ask("seed", &["--file", &file.display().to_string()]).exits_with(0).json();
    assert_eq!(sent["seeds"], SEEDS);
    wait_for("all are known", SOON, || crawl.ask("status", &[]).exits_with(0).json()["pages"] == SEEDS + 1);
    running.signal(libc::SIGINT);
    running.finish().exits_with(0);
}
