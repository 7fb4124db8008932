//! Hosts by their own books: one request at a time, within the delay, whatever the port and whoever sends it there.

use crate::bench::{Bench, request};
use messages::{FetchOutcome, Hop, Keyed, RedirectedRequest, topics};
use page::CanonicalUrl;
use politeness::{MAX_ROBOTS_BYTES, MAX_ROBOTS_REDIRECTS};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

pub(crate) const DELAY: Duration = Duration::from_millis(100);
/// How long a request is held, unless another comes meanwhile.
const HELD: Duration = Duration::from_millis(100);
pub(crate) const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

struct ServedRequest {
    host: String,
    path: String,
    arrived: Instant,
    /// Just before its answer.
    ended: Instant,
}

#[derive(Default)]
struct Books {
    /// By host name.
    under_way: HashMap<String, usize>,
    most_at_once: HashMap<String, usize>,
    requests: Vec<ServedRequest>,
}

/// A server of all hosts that holds each request for a moment, to see whether the same host gets another.
pub(crate) struct HeldServer {
    books: Mutex<Books>,
    arrival: Condvar,
    answer: fn(&str, &str) -> String,
}

impl HeldServer {
    pub(crate) fn start(answer: fn(&str, &str) -> String) -> (SocketAddr, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::new(Self { books: Mutex::default(), arrival: Condvar::new(), answer });
        let served = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, server) = (stream.unwrap(), served.clone());
                std::thread::spawn(move || server.serve(&mut stream));
            }
        });
        (address, server)
    }

    fn serve(&self, stream: &mut TcpStream) {
        let mut head = [0; 4_096];
        while let Ok(length @ 1..) = stream.read(&mut head) {
            let arrived = Instant::now();
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let path = head.split(' ').nth(1).unwrap().to_owned();
            let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
            let host = host.split(':').next().unwrap().to_owned();
            let mut books = self.books.lock().unwrap();
            let under_way = books.under_way.entry(host.clone()).or_default();
            *under_way += 1;
            let at_once = *under_way;
            let most = books.most_at_once.entry(host.clone()).or_default();
            *most = at_once.max(*most);
            self.arrival.notify_all();
            let alone = |books: &mut Books| books.under_way[&host] < 2;
            let (mut books, _) = self.arrival.wait_timeout_while(books, HELD, alone).unwrap();
            *books.under_way.get_mut(&host).unwrap() -= 1;
            let answer = (self.answer)(&host, &path);
            books.requests.push(ServedRequest { host, path, arrived, ended: Instant::now() });
            drop(books);
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// The paths that a host was asked for. Checks that it was asked for one at a time, within its delay.
    pub(crate) fn asked_politely(&self, host: &str, delay: Duration) -> Vec<String> {
        let books = self.books.lock().unwrap();
        assert_eq!(books.most_at_once.get(host), Some(&1), "{host}: at once");
        let requests: Vec<_> = books.requests.iter().filter(|request| request.host == host).collect();
        for pair in requests.windows(2) {
            let gap = pair[1].arrived.duration_since(pair[0].ended);
            assert!(gap >= delay, "{host}: {gap:?} between {} and {}", pair[0].path, pair[1].path);
        }
        requests.iter().map(|request| request.path.clone()).collect()
    }
}

pub(crate) fn moved(to: &str) -> String {
    format!("HTTP/1.1 301 Moved\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
}

pub(crate) fn file(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A fetcher with the delay as the least one.
pub(crate) fn bench(address: SocketAddr, overrides: &[(&str, &str)]) -> Bench {
    let delay = format!("{}ms", DELAY.as_millis());
    Bench::at(address, &[&[("politeness.crawl_delay", delay.as_str())], overrides].concat())
}

#[test]
fn the_ports_of_a_host_share_its_gate() {
    let (address, server) = HeldServer::start(|_, _| PAGE.to_owned());
    let mut bench = bench(address, &[("fetch.ports", "[\"80\", \"8080\"]")]);
    let urls = ["http://a.test/1", "http://a.test:8080/2", "http://a.test/3", "http://a.test:8080/4"];
    urls.iter().for_each(|url| bench.ask(url));
    for result in bench.results(urls.len()) {
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    }
    assert_eq!(server.asked_politely("a.test", DELAY).len(), urls.len() + 2, "two of them for robots.txt");
}

/// Twelve hosts whose robots.txt redirects to a search of a thirteenth, which forbids it and asks for a longer delay.
#[test]
fn a_host_that_the_robots_txt_of_others_redirects_to_is_asked_in_its_turn_and_for_nothing_it_forbids() {
    const LONG: Duration = Duration::from_millis(300);
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("victim.test", "/robots.txt") => file("User-agent: *\nDisallow: /search\nCrawl-delay: 0.3\n"),
        ("victim.test", _) => PAGE.to_owned(),
        (_, "/robots.txt") => moved(&format!("http://victim.test/search?q={host}")),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    (0..12).for_each(|number| bench.ask(&format!("http://host-{number}.test/")));
    bench.ask("http://victim.test/page");
    for result in bench.results(13) {
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    }
    assert_eq!(server.asked_politely("victim.test", LONG), ["/robots.txt", "/page"]);
    for number in 0..12 {
        assert_eq!(server.asked_politely(&format!("host-{number}.test"), DELAY), ["/robots.txt", "/"]);
    }
}

#[test]
fn the_robots_txt_that_others_redirect_to_holds_for_them_and_each_hop_waits_for_its_turn() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("www.test", "/robots.txt") => file("User-agent: *\nDisallow: /private\n"),
        (_, "/robots.txt") => moved("/rules/robots.txt"),
        (_, "/rules/robots.txt") => moved("http://www.test/robots.txt"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[("fetch.connections", "1")]);
    let hosts: Vec<_> = (0..4).map(|number| format!("host-{number}.test")).collect();
    for host in &hosts {
        bench.ask(&format!("http://{host}/private"));
        bench.ask(&format!("http://{host}/public"));
    }
    for result in bench.results(8) {
        let is_private = result.look.url.as_str().ends_with("/private");
        let expected = if is_private { FetchOutcome::RobotsDisallowed } else { FetchOutcome::Fetched };
        assert_eq!(result.look.outcome, expected, "{:?}", result.detail);
    }
    for host in &hosts {
        assert_eq!(server.asked_politely(host, DELAY), ["/robots.txt", "/rules/robots.txt", "/public"]);
    }
    assert_eq!(server.asked_politely("www.test", DELAY), ["/robots.txt"; 4]);
}

/// A site is asked by its own fetcher only, wherever a redirect to it was met.
#[test]
fn a_redirect_to_another_site_is_sent_on_as_a_request_to_the_owner_of_that_site() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("www.one.test", "/") => moved("http://one.test/home"),
        ("one.test", "/home") => moved("http://two.test/home?from=one"),
        ("two.test", "/home?from=one") => moved("http://www.one.test/end"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    let result = bench.fetch("http://www.one.test/");
    assert_eq!((result.look.outcome, result.look.attempt), (FetchOutcome::Fetched, 7));
    assert_eq!(result.look.final_url.unwrap().as_str(), "http://www.one.test/end");
    let hops: Vec<_> = result.hops.iter().map(|hop| hop.url.as_str()).collect();
    assert_eq!(hops, ["http://www.one.test/", "http://one.test/home", "http://two.test/home?from=one"]);
    assert_eq!(result.exchanges.len(), 4);
    let requests = bench.read(topics::FETCH_REQUESTS);
    let keys: Vec<_> = requests.iter().map(|request| String::from_utf8(request.key()).unwrap()).collect();
    assert_eq!(keys, ["one.test", "two.test", "one.test"], "within a site it stays where it is");
    assert_eq!(bench.read(topics::FETCH_RESULTS).len(), 1);
    let received: usize = server.books.lock().unwrap().requests.len();
    assert_eq!(received, 4 + 3, "three of them for robots.txt");
}

#[test]
fn a_redirected_request_is_answered_also_after_its_lease() {
    let (address, server) = HeldServer::start(|_, _| PAGE.to_owned());
    let mut bench = bench(address, &[]);
    let mut late = request("http://one.test/");
    late.lease_until = late.issued_at;
    late.redirected = Some(Box::new(RedirectedRequest {
        target_url: CanonicalUrl::parse("http://two.test/").unwrap(),
        hops: vec![Hop { url: late.url.to_string(), status: 301 }],
        exchanges: Vec::new(),
        wire_bytes: 100,
        requests: 1,
        robots: None,
    }));
    assert_eq!(bench.fetch_request(&late).look.outcome, FetchOutcome::Fetched);
    assert_eq!(server.asked_politely("two.test", DELAY), ["/robots.txt", "/"]);
}

/// A rule in a host's file does not keep the crawler from reading that file where the host itself says that it is. Another
/// host of the site obeys the rule, and the contents of a file that may not be read are unknown.
#[test]
fn a_robots_txt_that_redirects_within_its_site_is_read_where_its_hosts_allow_it() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("one.test", "/robots.txt") => moved("http://www.one.test/static/robots.txt"),
        ("www.one.test", "/robots.txt") => moved("/static/robots.txt"),
        (_, "/static/robots.txt") => file("User-agent: *\nDisallow: /\n"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    for (host, outcome) in
        [("one.test", FetchOutcome::RobotsUnavailable), ("www.one.test", FetchOutcome::RobotsDisallowed)]
    {
        let result = bench.fetch(&format!("http://{host}/page"));
        assert_eq!(result.look.outcome, outcome, "{:?}", result.detail);
    }
    assert_eq!(server.asked_politely("one.test", DELAY), ["/robots.txt"]);
    assert_eq!(server.asked_politely("www.one.test", DELAY), ["/robots.txt", "/static/robots.txt"]);
}

#[test]
fn a_robots_txt_that_redirects_within_its_site_obeys_the_host_it_leads_to() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("one.test" | "two.test", "/robots.txt") => moved(&format!("http://www.{host}/of-all/rules")),
        ("www.one.test", "/robots.txt") => file("User-agent: *\nDisallow: /other\n"),
        ("www.two.test", "/robots.txt") => file("User-agent: *\nDisallow: /of-all\n"),
        (_, "/of-all/rules") => file("User-agent: *\nDisallow: /private\n"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    let mut outcome = |url: &str| bench.fetch(url).look.outcome;
    assert_eq!(outcome("http://one.test/page"), FetchOutcome::Fetched);
    assert_eq!(outcome("http://one.test/private"), FetchOutcome::RobotsDisallowed);
    assert_eq!(outcome("http://two.test/page"), FetchOutcome::RobotsUnavailable);
    assert_eq!(server.asked_politely("www.one.test", DELAY), ["/robots.txt", "/of-all/rules"]);
    assert_eq!(server.asked_politely("www.two.test", DELAY), ["/robots.txt"]);
}

/// Each host redirects its file to the next of its site. The one in the middle is asked for its own file, and that file is
/// followed to its end, before anything else is asked of it.
#[test]
fn a_host_in_the_midst_of_redirects_is_asked_for_its_own_file_first_and_obeyed() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("one.test" | "two.test" | "three.test", "/robots.txt") => moved(&format!("http://www.{host}/rules")),
        ("www.one.test" | "www.two.test" | "www.three.test", "/robots.txt") => {
            moved(&format!("http://static.{}/of-www", host.trim_start_matches("www.")))
        }
        (_, "/rules") => file("User-agent: *\nDisallow: /private\n"),
        ("static.two.test", "/robots.txt") => file("User-agent: *\nDisallow: /of-www\n"),
        ("static.three.test", "/of-www") => file("User-agent: *\nDisallow: /rules\n"),
        (_, "/of-www") => file("User-agent: *\nDisallow: /secret\n"),
        (_, "/robots.txt") => file("User-agent: *\nDisallow: /other\n"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    let mut outcome = |url: &str| bench.fetch(url).look.outcome;
    assert_eq!(outcome("http://one.test/page"), FetchOutcome::Fetched);
    assert_eq!(outcome("http://one.test/private"), FetchOutcome::RobotsDisallowed);
    assert_eq!(outcome("http://www.one.test/secret"), FetchOutcome::RobotsDisallowed);
    assert_eq!(server.asked_politely("one.test", DELAY), ["/robots.txt", "/page"]);
    assert_eq!(server.asked_politely("www.one.test", DELAY), ["/robots.txt", "/rules"]);
    assert_eq!(server.asked_politely("static.one.test", DELAY), ["/robots.txt", "/of-www"]);
    // The third host forbids to read the rules of the second, so it is unknown what the second allows.
    assert_eq!(outcome("http://two.test/page"), FetchOutcome::RobotsUnavailable);
    assert_eq!(server.asked_politely("www.two.test", DELAY), ["/robots.txt"]);
    assert_eq!(server.asked_politely("static.two.test", DELAY), ["/robots.txt"]);
    // The second forbids to read those of the first.
    assert_eq!(outcome("http://three.test/page"), FetchOutcome::RobotsUnavailable);
    assert_eq!(server.asked_politely("www.three.test", DELAY), ["/robots.txt"]);
    assert_eq!(server.asked_politely("static.three.test", DELAY), ["/robots.txt", "/of-www"]);
}

/// A site with a name for every purpose could otherwise have a crawler go from one to the next for ever.
#[test]
fn redirects_from_each_host_of_a_site_to_the_next_end() {
    let (address, server) = HeldServer::start(|host, path| match path {
        "/page" => PAGE.to_owned(),
        _ => moved(&format!("http://n{host}/next")),
    });
    let mut bench = bench(address, &[("fetch.connections", "1")]);
    assert_eq!(bench.fetch("http://n.one.test/page").look.outcome, FetchOutcome::RobotsUnavailable);
    assert_eq!(server.asked_politely("n.one.test", DELAY), ["/robots.txt"]);
    let asked = server.books.lock().unwrap().requests.len();
    assert!((2..=MAX_ROBOTS_REDIRECTS + 1).contains(&asked), "{asked} requests");
}

/// A cut of the last line may leave a rule for the whole site.
#[test]
fn a_robots_txt_that_is_too_long_loses_the_line_in_which_it_is_cut() {
    fn cut_at(rules: &str, last: &str, rest: &str) -> String {
        let fill = MAX_ROBOTS_BYTES - rules.len() - last.len() - 1;
        file(&format!("{rules}{}\n{last}{rest}\n", "#".repeat(fill)))
    }
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("forbids.test", "/robots.txt") => cut_at("User-agent: *\n", "Disallow: /", "private"),
        ("allows.test", "/robots.txt") => cut_at("User-agent: *\nDisallow: /secret\n", "Allow: /secret", "/but-this"),
        ("whole.test", "/robots.txt") => cut_at("User-agent: *\n", "Disallow: /page\n", "Disallow: /"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    let mut outcome = |url: &str| bench.fetch(url).look.outcome;
    assert_eq!(outcome("http://forbids.test/page"), FetchOutcome::Fetched);
    assert_eq!(outcome("http://allows.test/secret"), FetchOutcome::RobotsDisallowed);
    assert_eq!(outcome("http://allows.test/page"), FetchOutcome::Fetched);
    assert_eq!(outcome("http://whole.test/page"), FetchOutcome::RobotsDisallowed);
    assert_eq!(outcome("http://whole.test/other"), FetchOutcome::Fetched);
    assert_eq!(server.asked_politely("forbids.test", DELAY), ["/robots.txt", "/page"]);
}

/// A host whose own file is a redirect that others are not taken along is not thereby free of rules.
#[test]
fn a_redirect_to_a_host_switches_off_none_of_its_rules() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("rules.test", _) => file("User-agent: *\nDisallow: /private\n"),
        ("target.test", "/robots.txt") => moved("http://rules.test/of-target"),
        ("other.test", "/robots.txt") => moved("http://target.test/x"),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    assert_eq!(bench.fetch("http://other.test/").look.outcome, FetchOutcome::Fetched);
    assert_eq!(bench.fetch("http://target.test/private").look.outcome, FetchOutcome::RobotsDisallowed);
    assert!(!server.asked_politely("target.test", DELAY).contains(&"/private".to_owned()));
}

#[test]
fn robots_txt_that_redirect_to_each_other_end() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        ("a.test", "/page") | ("b.test", "/page") => PAGE.to_owned(),
        ("a.test", _) => moved("http://b.test/x"),
        _ => moved("http://a.test/y"),
    });
    let mut bench = bench(address, &[("fetch.connections", "1")]);
    ["http://a.test/page", "http://b.test/page"].iter().for_each(|url| bench.ask(url));
    for result in bench.results(2) {
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    }
    for host in ["a.test", "b.test"] {
        let asked = server.asked_politely(host, DELAY);
        assert!(asked.len() < 20, "{asked:?}");
    }
}

#[test]
fn robots_txt_of_one_site_that_redirect_to_each_other_end_and_allow_nothing() {
    let (address, server) = HeldServer::start(|host, path| match (host, path) {
        (_, "/page") => PAGE.to_owned(),
        ("a.one.test", _) => moved("http://b.one.test/x"),
        _ => moved("http://a.one.test/y"),
    });
    let mut bench = bench(address, &[("fetch.connections", "1")]);
    ["http://a.one.test/page", "http://b.one.test/page"].iter().for_each(|url| bench.ask(url));
    for result in bench.results(2) {
        assert_eq!(result.look.outcome, FetchOutcome::RobotsUnavailable, "{:?}", result.detail);
    }
    for host in ["a.one.test", "b.one.test"] {
        let asked = server.asked_politely(host, DELAY);
        assert!(asked.len() <= 2 && asked.iter().all(|path| path == "/robots.txt"), "{asked:?}");
    }
}

#[test]
fn a_robots_txt_that_cannot_be_had_hands_requests_back_until_the_server_said() {
    let (address, server) = HeldServer::start(|_, path| match path {
        "/robots.txt" => "HTTP/1.1 503 Unavailable\r\nretry-after: 7200\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => PAGE.to_owned(),
    });
    let mut bench = bench(address, &[]);
    (0..5).for_each(|number| bench.ask(&format!("http://a.test/{number}")));
    for result in bench.results(5) {
        assert!(result.look.was_not_sent(), "{result:?}");
        let wait = result.look.retry_after_s.unwrap();
        assert!((7_000..=7_200).contains(&wait), "{wait} s");
    }
    assert_eq!(server.asked_politely("a.test", DELAY), ["/robots.txt"]);
}
