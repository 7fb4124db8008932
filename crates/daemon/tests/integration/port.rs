//! The port as its visitors find it: who may address it, and what a visitor can hold.

use daemon::http::{Call, Door, HttpSite, STEP_TIMEOUT, Task, Tasks, TextResponse, TlsFiles, serve};
use daemon::pings::{MAX_BODY_BYTES, MAX_PAGES};
use daemon::{Background, Board, HintIntake, StopSignal, WebClock};
use messages::topics;
use settings::{Layers, Secret, Settings};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stream::{Cleanup, InProcessLog, Log, TopicConfig};
use stream_testing::MemoryBackend;
use topology::LogNames;

/// Connections served at once.
const CONNECTIONS: usize = 64;
pub(crate) const PATIENCE: Duration = Duration::from_secs(1_800);
/// Time for each step of a request where a test waits for its end.
const SOON: Duration = Duration::from_millis(300);

/// Opens the port.
pub(crate) const TOKEN: &str = "a-token-of-some-length";

/// A port that takes commands and pings. Dropping the first part closes it.
fn port() -> (Background, SocketAddr) {
    port_with(STEP_TIMEOUT, echo)
}

pub(crate) fn echo(call: &Call<'_>) -> TextResponse {
    TextResponse::text(200, format!("{} {} {}", call.caller.name, call.path, call.body.len()))
}

pub(crate) fn port_with(
    step_timeout: Duration,
    commands: impl Fn(&Call<'_>) -> TextResponse + Send + Sync + 'static,
) -> (Background, SocketAddr) {
    let tokens = vec![("owner", Secret::new(TOKEN))];
    let door = Door { log: Some("our-log".to_owned()), tokens, ..Door::default() };
    locked_port(step_timeout, commands, door, None)
}

/// A port with this lock.
pub(crate) fn locked_port(
    step_timeout: Duration,
    commands: impl Fn(&Call<'_>) -> TextResponse + Send + Sync + 'static,
    door: Door,
    tls: Option<Arc<TlsFiles>>,
) -> (Background, SocketAddr) {
    let overrides = [
        ("hints.token", "a-token-of-some-length"),
        ("hints.indexnow", "{ \"www.site.test\" = \"0123456789abcdef\" }"),
        ("http.names", "[\"recrawl.example.org\"]"),
    ];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let settings = Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap();
    let stop = StopSignal::default();
    let mut background = Background::new(&stop);
    let clock = Arc::new(WebClock::new(&settings.clock));
    let names = LogNames::new(&settings);
    let hints = HintIntake::new(&settings, &names, clock).unwrap();
    hints.open(log(&names), 4);
    let tasks = move |call: &Call<'_>| match call.task {
        Task::Order(_) | Task::BackUp => commands(call),
        Task::Screen(_) => TextResponse::text(200, format!("form_token={}", call.form_token)),
        Task::AtomFeed | Task::RssFeed | Task::Changes | Task::Form(_) | Task::Stylesheet | Task::Script => {
            TextResponse::text(200, format!("texts of pages for {}", call.caller.name))
        }
    };
    let site = HttpSite {
        board: Board::new(Vec::new(), 1.0),
        tasks: Some(Arc::new(tasks) as Arc<Tasks>),
        refusals: None,
        door,
        hints: Some(hints),
        names: settings.http.names,
        hung_after: PATIENCE,
        step_timeout,
    };
    let address = serve("127.0.0.1:0".parse().unwrap(), site, tls, &stop, &mut background).unwrap();
    (background, address)
}

/// The token that a screen shows to a caller, as a field of a form.
pub(crate) fn form_token(address: SocketAddr, authorization: &str) -> String {
    let mut stream = connection(address);
    write!(stream, "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{authorization}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// A log that takes hints.
fn log(names: &LogNames) -> Arc<dyn Log> {
    let log = InProcessLog::new(MemoryBackend::default());
    let topics = [names.topic(topics::SCHEDULER_EVENTS), names.topic(topics::SCHEMAS)].map(|name| TopicConfig {
        name: name.into(),
        partitions: 4,
        cleanup: Cleanup::Compact,
        max_message_bytes: 1 << 20,
    });
    log.create_topics(&topics).unwrap();
    Arc::new(log)
}

fn connection(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The status of the answer to what was sent.
fn status(mut stream: &TcpStream) -> u16 {
    let mut start = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut start).unwrap();
    std::str::from_utf8(&start[9..]).unwrap().parse().unwrap()
}

fn answer(address: SocketAddr, request: &str) -> u16 {
    let mut stream = connection(address);
    stream.write_all(request.as_bytes()).unwrap();
    status(&stream)
}

#[test]
fn only_addresses_localhost_and_configured_names_may_be_addressed() {
    let (_open, address) = port();
    let ask = |host: &str| answer(address, &format!("GET /status HTTP/1.1\r\nhost: {host}\r\n\r\n"));
    for host in ["127.0.0.1", "10.1.2.3:9464", "[::1]:9464", "localhost", "LocalHost:9464", "recrawl.example.org:80"] {
        assert_eq!(ask(host), 200, "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "example.org",
        "",
        "localhost:80@evil.example",
        "localhost:evil.example",
        "[::1].evil.example",
        "[::1]@evil.example:80",
        "[::1",
        "localhost, evil.example",
    ] {
        assert_eq!(ask(host), 421, "{host:?}");
    }
    for (target, hosts, expected) in [
        ("/status", "host: localhost\r\nhost: evil.example", 421),
        ("/status", "host: evil.example\r\nhost: localhost", 421),
        ("http://evil.example/status", "host: localhost", 421),
        ("http://localhost:9464/status", "host: localhost", 200),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\n{hosts}\r\n\r\n");
        assert_eq!(answer(address, &request), expected, "{request:?}");
    }
    let command =
        |host: &str| post("/api/v1/pages/refetch", 0, "").replace("host: localhost", &format!("host: {host}"));
    assert_eq!(answer(address, &command("evil.example")), 421);
    assert_eq!(answer(address, &command("localhost")), 200);
    assert_eq!(answer(address, "GET /status HTTP/1.0\r\n\r\n"), 200);
}

#[test]
fn commands_and_texts_of_pages_need_a_token_and_probes_need_none() {
    let (_open, address) = port();
    let ask = |request: &str, headers: &str| {
        answer(address, &format!("{request} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n{headers}\r\n"))
    };
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    // "anyone:a-token-of-some-length"
    let basic = "authorization: Basic YW55b25lOmEtdG9rZW4tb2Ytc29tZS1sZW5ndGg=\r\n";
    let command = "x-recrawl-command: 1\r\n";
    for path in ["/healthz", "/metrics", "/status"] {
        assert_eq!(ask(&format!("GET {path}"), ""), 200, "{path}");
    }
    for wrong in
        ["", "authorization: Bearer a-token-of-some-lengtH\r\n", "authorization: Bearer \r\n", "authorization: x\r\n"]
    {
        assert_eq!(ask("POST /api/v1/pages/forget", &format!("{command}{wrong}")), 401, "{wrong:?}");
        assert_eq!(ask("GET /changes.atom", wrong), 401, "{wrong:?}");
        assert_eq!(ask("GET /api/v1/changes", wrong), 401, "{wrong:?}");
    }
    assert_eq!(
        ask("POST /api/v1/pages/forget", &bearer),
        403,
        "a browser sends the token only if it may send the header"
    );
    assert_eq!(ask("POST /api/v1/pages/forget", &format!("{command}{bearer}")), 200);
    assert_eq!(
        ask("POST /api/v1/pages/forget", &format!("{command}{basic}")),
        401,
        "a browser adds it for any web site"
    );
    assert_eq!((ask("GET /changes.atom", &bearer), ask("GET /changes.atom", basic)), (200, 200));
    assert_eq!(ask("GET /anything", &bearer), 404);
}

#[test]
fn a_request_for_another_crawl_is_refused_with_the_right_token_too() {
    let (_open, address) = port();
    let ask = |request: &str, log: &str| {
        let request = request.replace("\r\nhost", &format!("\r\nx-recrawl-log: {log}\r\nhost"));
        answer(address, &request)
    };
    for request in [post("/api/v1/pages/forget", 0, ""), get("/status"), get("/healthz")] {
        assert_eq!((ask(&request, "our-log"), ask(&request, "their-log")), (200, 409), "{request}");
    }
}

#[test]
fn a_ping_without_the_token_is_refused_before_its_body_has_come() {
    let (_open, address) = port();
    let head = "POST /hints HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n";
    assert_eq!(answer(address, head), 401);
}

/// Sends a request on a connection that stays open.
pub(crate) fn sent(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = connection(address);
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")
}

pub(crate) fn post(path: &str, length: usize, body: &str) -> String {
    let token = format!("authorization: Bearer {TOKEN}\r\nx-recrawl-command: 1");
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{token}\r\ncontent-length: {length}\r\n\r\n{body}")
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "{what}");
    }
}

/// Whether the other side has ended or reset the connection.
fn is_closed(mut stream: &TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn ten_thousand_long_addresses_are_taken_in_one_request() {
    let (_open, address) = port();
    let url = |number: usize| format!("https://www.site.test/{number:0>380}");
    let urls: Vec<_> = (0..MAX_PAGES).map(url).collect();
    let body = serde_json::json!({ "host": "www.site.test", "key": "0123456789abcdef", "urlList": urls }).to_string();
    assert_eq!(answer(address, &post("/indexnow", body.len(), &body)), 200);
    let mut metrics = String::new();
    sent(address, &get("/metrics")).read_to_string(&mut metrics).unwrap();
    assert!(metrics.contains("recrawl_pings_taken_total 10000"), "{metrics}");
}

#[test]
fn silent_connections_do_not_keep_a_probe_from_its_answer() {
    let silent = [String::new(), "GET /status HTTP/1.1\r\n".to_owned(), post("/indexnow", 100, "{"), get("/status")];
    for request in silent {
        // Longer than the probe is waited for: it need not wait until others are given up.
        let (_open, address) = port_with(Duration::from_secs(3_600), echo);
        let held: Vec<_> = (0..CONNECTIONS).map(|_| sent(address, &request)).collect();
        assert_eq!(answer(address, &get("/healthz")), 200, "{request}");
        drop(held);
    }
}

#[test]
fn the_oldest_connection_makes_room_and_the_others_stay() {
    let (_open, address) = port();
    let held: Vec<_> = (0..CONNECTIONS).map(|_| sent(address, "GET /readyz")).collect();
    assert_eq!(answer(address, &get("/healthz")), 200);
    assert!(is_closed(&held[0]));
    for mut stream in &held[1..] {
        stream.write_all(b" HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert_eq!(status(stream), 200);
    }
}

/// Commands that report their begin, and wait until they may end.
struct Held {
    begun: Receiver<()>,
    end: Sender<()>,
}

fn held_commands(step_timeout: Duration) -> (Background, SocketAddr, Held) {
    let ((report, begun), (end, may_end)) = (channel(), channel());
    let may_end = Mutex::new(may_end);
    let (open, address) = port_with(step_timeout, move |_| {
        report.send(()).unwrap();
        may_end.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        TextResponse::text(200, "")
    });
    (open, address, Held { begun, end })
}

#[test]
fn a_command_that_is_carried_out_keeps_its_place_and_holds_up_no_probe() {
    let (_open, address, held) = held_commands(STEP_TIMEOUT);
    let command = sent(address, &post("/api/v1/pages/refetch", 0, ""));
    held.begun.recv_timeout(PATIENCE).unwrap();
    let crowd: Vec<_> = (0..2 * CONNECTIONS).map(|_| connection(address)).collect();
    assert_eq!(answer(address, &get("/healthz")), 200);
    held.end.send(()).unwrap();
    assert_eq!(status(&command), 200);
    drop(crowd);
}

#[test]
fn two_commands_are_carried_out_at_once_and_a_third_has_its_turn_after_them() {
    let (_open, address, held) = held_commands(STEP_TIMEOUT);
    let commands: Vec<_> = (0..3).map(|_| sent(address, &post("/api/v1/pages/refetch", 0, ""))).collect();
    for _ in 0..2 {
        held.begun.recv_timeout(PATIENCE).unwrap();
    }
    assert!(held.begun.recv_timeout(Duration::from_millis(200)).is_err(), "the third waits");
    held.end.send(()).unwrap();
    held.begun.recv_timeout(PATIENCE).unwrap();
    for _ in 0..2 {
        held.end.send(()).unwrap();
    }
    assert!(commands.iter().all(|stream| status(stream) == 200));
}

#[test]
fn a_command_whose_turn_does_not_come_is_refused() {
    let (_open, address, held) = held_commands(SOON);
    let commands: Vec<_> = (0..2).map(|_| sent(address, &post("/api/v1/pages/refetch", 0, ""))).collect();
    for _ in 0..2 {
        held.begun.recv_timeout(PATIENCE).unwrap();
    }
    assert_eq!(answer(address, &post("/api/v1/pages/refetch", 0, "")), 503);
    for _ in 0..2 {
        held.end.send(()).unwrap();
    }
    assert!(commands.iter().all(|stream| status(stream) == 200), "the time to answer is the command's own");
}

#[test]
fn a_body_that_does_not_come_in_time_is_refused() {
    let (_open, address) = port_with(SOON, echo);
    for path in ["/hints", "/indexnow", "/api/v1/seeds"] {
        assert_eq!(answer(address, &post(path, 100, "{")), 408, "{path}");
    }
}

#[test]
fn a_head_that_does_not_come_in_time_ends_its_connection() {
    let (_open, address) = port_with(SOON, echo);
    for start in ["", "GET /healthz HTTP/1.1\r\nhost: localhost\r\n"] {
        assert!(is_closed(&sent(address, start)), "{start:?}");
    }
}

#[test]
fn an_answer_that_is_not_taken_in_time_is_given_up() {
    const LONG: usize = 64 << 20;
    let (_open, address) = port_with(SOON, |_| TextResponse::text(200, "x".repeat(LONG)));
    let mut stream = sent(address, &post("/api/v1/pages/refetch", 0, ""));
    assert_eq!(status(&stream), 200);
    // Its time begins after that of the answer.
    assert!(is_closed(&connection(address)));
    let mut rest = Vec::new();
    let ended = stream.read_to_end(&mut rest);
    assert!(ended.is_err() || rest.len() < LONG, "{}", rest.len());
}

#[test]
fn a_client_that_sends_all_of_a_refused_request_first_has_its_answer() {
    let (_open, address) = port();
    // More than fits into the buffers on the way.
    let body = " ".repeat(8 * MAX_BODY_BYTES);
    assert_eq!(answer(address, &post("/hints", body.len(), &body)), 413);
    let without_token = post("/hints", body.len(), &body).replace("Bearer", "Basic");
    assert_eq!(answer(address, &without_token), 401);
    let mut stream = sent(address, &post("/api/v1/pages/refetch", 3, "abc"));
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(status(&stream), 200, "a client may end its side");
    stream.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn the_bodies_of_all_pings_together_have_a_limit() {
    let (_open, address) = port();
    let almost = " ".repeat(MAX_BODY_BYTES - 1_024);
    let held: Vec<_> = (0..9).map(|_| sent(address, &post("/indexnow", MAX_BODY_BYTES, &almost))).collect();
    held.iter().for_each(|stream| stream.set_nonblocking(true).unwrap());
    wait_for("one of nine has no room", || held.iter().any(|stream| stream.peek(&mut [0; 12]).is_ok_and(|n| n == 12)));
    let answered: Vec<_> = held.iter().filter(|stream| stream.peek(&mut [0]).is_ok()).map(status).collect();
    assert!(answered.iter().all(|status| *status == 503) && answered.len() < 9, "{answered:?}");
    assert_eq!(answer(address, &get("/healthz")), 200);
    drop(held);
    let whole = post("/indexnow", MAX_BODY_BYTES, &" ".repeat(MAX_BODY_BYTES));
    wait_for("room again, where the body is no JSON", || answer(address, &whole) == 400);
}
