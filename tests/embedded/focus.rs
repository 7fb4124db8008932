//! A crawl that keeps to focuses: what it fetches first, what it says of pages, and focuses that come and go while it runs.

use crate::site::serve;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tests::{Crawl, Process, SOON, programs, wait_for};

const FOCUS: &str = "format = 1\nname = \"sailing\"\nthreshold = 0.2\nexamples = [\"http://www.mixed.test/sail/1\"]\n\n\
                     [terms.en]\nsailing = 0.6\nmainsail = 0.5\nregatta = 0.4\nskipper = 0.4\n";

/// Pages about sailing and about cooking. Each links to two of its own kind and two of the other.
fn page(path: &str) -> (&'static str, String) {
    if path == "/robots.txt" {
        return ("text/plain", "User-agent: *\nAllow: /\n".to_owned());
    }
    let number: u64 = path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let link = |kind: &str, number: u64| {
        let words = if kind == "sail" { "sailing regatta" } else { "cooking recipe" };
        format!("<p><a href=\"/{kind}/{number}\">{words} {number}</a></p>")
    };
    let links = |kind: &str| link(kind, 2 * number + 1) + &link(kind, 2 * number + 2);
    let text = match path.contains("sail") {
        true => "The skipper of the sailing boat sets the mainsail before the regatta and goes on sailing.",
        false => "The cook peels onions, chops parsley and fries them slowly in butter with some pepper.",
    };
    let body =
        format!("<title>Page {path}</title><main><p>{text}</p><p>{text}</p>{}{}</main>", links("sail"), links("cook"));
    ("text/html", body)
}

/// The site's crawl, and the paths in the order in which they were asked for.
fn crawl() -> (Crawl, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let address = serve(move |path| {
        if path != "/robots.txt" {
            noted.lock().unwrap().push(path.to_owned());
        }
        page(path)
    });
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={address}"))
        // So slow that a loop of a second, as on a busy machine, still knows of enough pages in the focus to choose from.
        .with("budget.fetches_per_second", "20")
        .with("budget.burst", "1s")
        .with("budget.host_ahead", "1s")
        .with("policy.scan_interval", "20ms")
        .with("politeness.crawl_delay", "1ms")
        .with("crawl.discover", "same-site")
        .with("crawl.max_depth", "20")
        .with("ranker.interval", "100ms");
    std::fs::write(crawl.seeds_file(), "http://www.mixed.test/sail/0\n").unwrap();
    std::fs::write(crawl.directory.path().join("sailing.toml"), FOCUS).unwrap();
    (crawl, asked)
}

fn file(crawl: &Crawl) -> String {
    crawl.directory.path().join("sailing.toml").display().to_string()
}

fn order(crawl: &Crawl, arguments: &[&str]) {
    let mut command = programs().command("recrawl");
    command.arg("focus").args(arguments).arg("--data").arg(crawl.data());
    Process::start(command, crawl.directory.path()).finish().exits_with(0);
}

/// Share of pages about sailing among the pages asked for between the 30th and the 150th.
fn harvest_rate(asked: &Mutex<Vec<String>>) -> f64 {
    wait_for("150 pages are fetched", SOON, || asked.lock().unwrap().len() >= 150);
    let asked = asked.lock().unwrap();
    let in_focus = asked[30..150].iter().filter(|path| path.contains("sail")).count();
    in_focus as f64 / 120.0
}

fn stop(process: Process) -> Value {
    process.signal(libc::SIGINT);
    process.finish().exits_with(0).json()
}

#[test]
fn a_focused_crawl_fetches_pages_on_its_focus_first_and_says_why() {
    is_focused(&[]);
}

#[test]
fn skyreach_is_a_focused_crawl() {
    is_focused(&["--preset", "skyreach"]);
}

/// Checks that a crawl with a focus and these flags fetches more pages on it than one without.
fn is_focused(flags: &[&str]) {
    let (plain, asked) = crawl();
    let process = plain.run(&[]);
    let without = harvest_rate(&asked);
    assert_eq!(stop(process)["focus"], Value::Null);

    let (crawl, asked) = crawl();
    let crawl = {
        let focuses = format!("[{:?}]", file(&crawl));
        crawl.with("focus.files", &focuses)
    };
    let process = crawl.run(flags);
    let with = harvest_rate(&asked);
    assert!(with > 0.85 && with > without + 0.25, "{with} {without}");
    let status = stop(process);
    assert!(status["focus"]["harvest_rate"].as_f64() > Some(0.7), "{status:#}");
    assert_eq!(status["focus"]["target_recall"].as_f64(), Some(1.0), "{status:#}");

    let of = |command: &str, url: &str| crawl.ask(command, &[url]).exits_with(0).json()["focus"].clone();
    let sail = of("page", "http://www.mixed.test/sail/1");
    assert_eq!(sail["is_in_focus"].as_bool(), Some(true), "{sail:#}");
    assert_eq!(sail["relevances"][0]["focus"].as_str(), Some("sailing"));
    let cook = of("explain", "http://www.mixed.test/cook/1");
    assert_eq!(cook["is_in_focus"].as_bool(), Some(false), "{cook:#}");
}

#[test]
fn focuses_come_and_go_while_the_crawl_runs() {
    let (crawl, asked) = crawl();
    let process = crawl.run(&[]);
    wait_for("the crawl is under way", SOON, || asked.lock().unwrap().len() >= 5);
    order(&crawl, &["add", &file(&crawl)]);
    let focus = |url: &str| {
        let page = crawl.ask("page", &[url]);
        if page.status.success() { page.json()["focus"].clone() } else { Value::Null }
    };
    let judged = || crawl.ask("status", &[]).json()["focus"]["judged_pages"].as_u64().unwrap_or(0);
    wait_for("pages are judged", SOON, || judged() > 20);
    crawl.ask("refetch", &["http://www.mixed.test/sail/0"]).exits_with(0);
    wait_for("an earlier page is judged", SOON, || focus("http://www.mixed.test/sail/0")["is_in_focus"] == true);
    order(&crawl, &["remove", "sailing"]);
    // The detector may still look at it by the focus.
    wait_for("it is judged no more", SOON, || {
        crawl.ask("refetch", &["http://www.mixed.test/sail/0"]).exits_with(0);
        focus("http://www.mixed.test/sail/0").is_null()
    });
    stop(process);
}

#[test]
fn a_focus_that_is_none_stops_the_start_and_is_named_by_line() {
    let (crawl, _) = crawl();
    std::fs::write(crawl.directory.path().join("sailing.toml"), FOCUS.replace("0.2", "\"much\"")).unwrap();
    let focuses = format!("[{:?}]", file(&crawl));
    crawl.with("focus.files", &focuses).run(&[]).finish().exits_with(2).says(&["sailing.toml", "3"]);
}
