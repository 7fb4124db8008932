//! A host with several ports, by its own books: one request at a time, within its delay, whatever the port.

use crate::bench::Bench;
use messages::FetchOutcome;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const DELAY: Duration = Duration::from_millis(100);
/// How long a request is held, unless another comes meanwhile.
const HELD: Duration = Duration::from_millis(100);
const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

#[derive(Default)]
struct Books {
    under_way: usize,
    most_at_once: usize,
    /// From the arrival of a request to just before its answer.
    requests: Vec<(Instant, Instant)>,
}

#[derive(Default)]
struct HeldServer {
    books: Mutex<Books>,
    arrival: Condvar,
}

impl HeldServer {
    fn start() -> (SocketAddr, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::new(Self::default());
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
        while stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0) {
            let arrived = Instant::now();
            let mut books = self.books.lock().unwrap();
            books.under_way += 1;
            books.most_at_once = books.most_at_once.max(books.under_way);
            self.arrival.notify_all();
            let (mut books, _) = self.arrival.wait_timeout_while(books, HELD, |books| books.under_way < 2).unwrap();
            books.under_way -= 1;
            books.requests.push((arrived, Instant::now()));
            drop(books);
            if stream.write_all(PAGE).is_err() {
                return;
            }
        }
    }
}

#[test]
fn the_ports_of_a_host_share_its_gate() {
    let (address, server) = HeldServer::start();
    let delay = format!("{}ms", DELAY.as_millis());
    let mut bench = Bench::at(address, &[("politeness.crawl_delay", &delay), ("fetch.ports", "[\"80\", \"8080\"]")]);
    let urls = ["http://a.test/1", "http://a.test:8080/2", "http://a.test/3", "http://a.test:8080/4"];
    urls.iter().for_each(|url| bench.ask(url));
    for result in bench.results(urls.len()) {
        assert_eq!(result.look.outcome, FetchOutcome::Fetched, "{:?}", result.detail);
    }
    let books = server.books.lock().unwrap();
    assert_eq!((books.requests.len(), books.most_at_once), (urls.len() + 2, 1), "two of them for robots.txt");
    for pair in books.requests.windows(2) {
        let gap = pair[1].0.duration_since(pair[0].1);
        assert!(gap >= DELAY, "{gap:?} between two requests");
    }
}
