//! Sites of kinds that public reports say crawlers get wrong, crawled by the program: what a crawl asks them for, and
//! what it reads. The reports' own inputs lie beside the project ([`corpora::fetch_cases`]); inputs of ours of the same
//! kinds ([`inputs`]) are always played.

mod inputs;
mod table;

use crate::site::{SiteRequest, answer, serve_answers};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use table::{NOT_SITES, SITES, Site};
use tests::{Crawl, Process, programs};

/// Addresses of a long sitemap; the protocol allows 50,000.
const LISTED: usize = 12_000;

/// The input of a site: that of the reports if their directory is given, or else ours.
fn input(site: &Site, reports: Option<&Path>) -> Vec<u8> {
    let input = match reports {
        Some(directory) => std::fs::read(directory.join(site.input)).unwrap(),
        None => (site.ours)(),
    };
    // Each is on a host of its own.
    ["feed.test", "map.test"].iter().fold(input, |input, name| with_host(&input, name, &site.host()))
}

fn with_host(input: &[u8], name: &str, host: &str) -> Vec<u8> {
    let is_text = std::str::from_utf8(input).is_ok_and(|text| text.contains(name));
    if is_text { String::from_utf8_lossy(input).replace(name, host).into_bytes() } else { input.to_vec() }
}

fn found(media_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    answer(&format!("200 OK\r\ncontent-type: {media_type}"), body)
}

/// The page or list at a path, as servers send it.
fn sent(path: &str, body: &[u8]) -> Vec<u8> {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    let media_type = match extension {
        Some("xml") => "application/xml",
        Some("txt") => "text/plain",
        _ => "text/html",
    };
    found(media_type, body)
}

fn answered(site: &Site, input: &[u8], path: &str) -> Vec<u8> {
    if path == site.path {
        return if site.input.ends_with(".http") { input.to_vec() } else { sent(path, input) };
    }
    match site.others.iter().find(|(other, _)| *other == path) {
        Some((_, "")) => answer("404 Not Found", ""),
        Some((_, body)) => sent(path, body.as_bytes()),
        None if path == "/robots.txt" => answer("404 Not Found", ""),
        None => {
            sent(path, format!("<title>{path}</title><p>These are the words of {path} at {}.", site.host()).as_bytes())
        }
    }
}

/// Hosts and paths that were asked for.
type SeenRequests = Arc<Mutex<BTreeSet<(String, String)>>>;

/// All sites on one address, and the requests that they have seen, as host and path.
fn serve_sites(reports: Option<&Path>) -> (SocketAddr, SeenRequests) {
    let sites: Vec<_> = SITES.iter().map(|site| (site.host(), site, input(site, reports))).collect();
    let seen = SeenRequests::default();
    let all = seen.clone();
    let address = serve_answers(move |request| {
        let host = request.header("host").and_then(|host| host.split(':').next()).unwrap_or_default();
        let path = request.path();
        all.lock().unwrap().insert((host.to_owned(), path.to_owned()));
        let site = sites.iter().find(|(name, ..)| name == host);
        site.map_or_else(Vec::new, |(_, site, input)| answered(site, input, path))
    });
    (address, seen)
}

fn crawl(address: SocketAddr, seeds: &[String]) -> Crawl {
    let crawl = Crawl::default()
        .with("fetch.resolve", &format!("*.test={address}"))
        .with("budget.fetches_per_second", "2000")
        .with("politeness.crawl_delay", "0s")
        .with("policy.scan_interval", "20ms")
        // Each page is fetched once.
        .with("policy.min_interval", "1h")
        .with("policy.audit_share", "0")
        .with("ranker.interval", "100ms");
    std::fs::write(crawl.seeds_file(), seeds.join("\n")).unwrap();
    crawl
}

/// Crawls all sites and compares the paths that were asked for with the right ones, and the texts that were read.
fn play(reports: Option<&Path>, discover: &str, right: fn(&Site) -> Option<&[&str]>) {
    let (address, seen) = serve_sites(reports);
    let wanted: Vec<_> = SITES.iter().filter_map(|site| Some((site, right(site)?))).collect();
    let seeds: Vec<_> = wanted.iter().flat_map(|(site, _)| site.seeds()).collect();
    let crawl = crawl(address, &seeds).with("crawl.discover", discover);
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let seen = seen.lock().unwrap().clone();
    let mut faults = Vec::new();
    for (site, right) in wanted {
        let asked: Vec<_> = seen.iter().filter(|(host, path)| *host == site.host() && path != "/robots.txt").collect();
        let asked: Vec<_> = asked.into_iter().map(|(_, path)| path.as_str()).collect();
        if asked != right {
            faults.push(format!("{}: {asked:?} instead of {right:?}", site.input));
        }
        for words in site.says {
            let url = format!("http://{}{}", site.host(), site.path);
            let text = crawl.ask("page", &[&url, "--text"]).exits_with(0).stdout;
            if !text.contains(words) {
                faults.push(format!("{}: no {words:?} in {text:?}", site.input));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn play_all(reports: Option<&Path>) {
    play(reports, "same-host", |site| Some(site.asked));
    // Lists are followed without that.
    play(reports, "none", |site| (!site.asked_for_lists.is_empty()).then_some(site.asked_for_lists));
    for site in SITES.iter().filter(|site| !site.dated.is_empty()) {
        let crawl = Crawl::default();
        let file = crawl.directory.path().join("list.xml");
        std::fs::write(&file, input(site, reports)).unwrap();
        let mut command = programs().command("recrawl");
        command.args(["--format", "json", "sitemap"]).arg(&file);
        let list = Process::start(command, crawl.directory.path()).finish().exits_with(0).json();
        let dates: Vec<_> = list["entries"].as_array().unwrap().iter().map(|entry| &entry["last_modified"]).collect();
        let dates: Vec<_> = dates.into_iter().map(|date| date.as_str().unwrap_or("none")).collect();
        assert_eq!(dates, site.dated, "{}", site.input);
    }
}

#[test]
fn sites_of_kinds_that_crawlers_get_wrong_are_crawled_right() {
    play_all(None);
}

#[test]
fn the_sites_of_the_reports_are_crawled_right() {
    let Some(directory) = corpora::fetch_cases() else { return };
    play_all(Some(&directory));
}

#[test]
fn each_input_of_the_reports_is_played_here_or_elsewhere() {
    let Some(directory) = corpora::fetch_cases() else { return };
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<_> = entries.collect();
    let played = SITES.iter().map(|site| site.input);
    let named: BTreeSet<_> = played.chain(NOT_SITES.iter().map(|(name, _)| *name)).map(str::to_owned).collect();
    assert_eq!(there, named);
}

#[test]
fn all_pages_of_a_long_sitemap_are_known_though_the_file_never_changes() {
    let entries: String =
        (0..LISTED).map(|number| format!("<url><loc>http://many.test/p/{number}</loc></url>")).collect();
    let list = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>");
    let address = serve_answers(move |request| match request.path() {
        // They are known, and cost no requests.
        "/robots.txt" => found("text/plain", "User-agent: *\nDisallow: /p/\n"),
        _ => found("application/xml", &list),
    });
    let crawl = crawl(address, &["http://many.test/map.xml".to_owned()]).with("crawl.discover", "same-host");
    crawl.run(&["--until-idle"]).finish().exits_with(0);
    let status = crawl.ask("status", &[]).exits_with(0).json();
    assert_eq!(status["pages"].as_u64(), Some(LISTED as u64 + 1), "{status:#}");
}

/// A site that answers requests with conditions with this status, and shows its next version only without them.
fn conditional(status: &'static str, looks: Arc<AtomicUsize>) -> impl Fn(&SiteRequest) -> Vec<u8> + Send + 'static {
    move |request| {
        if request.path() != "/" {
            return answer("404 Not Found", "");
        }
        if request.header("if-none-match").or_else(|| request.header("if-modified-since")).is_some() {
            return answer(status, "");
        }
        let look = looks.fetch_add(1, Ordering::SeqCst);
        let hour = if look == 0 { "eight" } else { "nine" };
        let page = format!("<title>Hours</title><h1>Hours</h1><p>The library opens at {hour} in the morning.");
        answer("200 OK\r\ncontent-type: text/html\r\netag: \"z\"\r\nlast-modified: Mon, 01 Jan 2024 00:00:00 GMT", page)
    }
}

#[test]
fn a_page_whose_server_fails_at_conditions_is_read_again_without_them() {
    for status in ["412 Precondition Failed", "500 Internal Server Error"] {
        let looks = Arc::new(AtomicUsize::new(0));
        let crawl = crawl(serve_answers(conditional(status, looks.clone())), &["http://hours.test/".to_owned()]);
        crawl.run(&["--until-idle"]).finish().exits_with(0);
        // A look with conditions, and one without.
        for _ in 0..2 {
            crawl.ask("refetch", &["http://hours.test/"]).exits_with(0);
            crawl.ask("run", &["--until-idle"]);
        }
        assert!(looks.load(Ordering::SeqCst) >= 2, "{status}");
        let text = crawl.ask("page", &["http://hours.test/", "--text"]).exits_with(0).stdout;
        assert!(text.contains("opens at nine"), "{status}: {text}");
    }
}
