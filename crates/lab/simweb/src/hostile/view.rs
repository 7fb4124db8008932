//! The record of a server's clients, case by case: requests, connections, bytes.

use crate::hostile::script::ScriptStep;
use crate::hostile::server::{Ending, play};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a client's farewell may take on its way to us. A connection that is open for longer beside another one is one
/// too many. The request over the other one waits meanwhile.
const FAREWELL: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 5_000 });

pub(super) const ROBOTS_PATH: &str = "/robots.txt";

/// The requests, connections and bytes of a case, as the server counted them.
#[derive(Clone, Debug, Default)]
pub struct ServerView {
    /// All requests, in order of arrival.
    pub requests: Vec<SeenRequest>,
    /// Least time between the end of an answer and the next request to the same host, whatever the port.
    pub least_gap: Option<Duration>,
    /// Most requests to one host at once, whatever the port.
    pub most_requests_at_once: usize,
    /// Most connections to one origin at once.
    pub most_connections_at_once: usize,
    /// Bytes that clients took, or that wait for them in buffers.
    pub sent_bytes: u64,
    /// Bytes that clients sent.
    pub received_bytes: u64,
}

impl ServerView {
    /// Number of requests for a robots.txt.
    pub fn robots_requests(&self) -> usize {
        self.requests.iter().filter(|request| request.is_robots()).count()
    }

    /// Number of other requests.
    pub fn page_requests(&self) -> usize {
        self.requests.len() - self.robots_requests()
    }
}

/// A request, as its server saw it.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    pub host: String,
    /// Path and query; of a CONNECT request, host and port.
    pub path: String,
    arrived: Instant,
    /// The last moment at which the client cannot have had the whole answer yet.
    ended: Instant,
}

impl SeenRequest {
    /// Whether it asks for a robots.txt at its usual place.
    pub fn is_robots(&self) -> bool {
        self.path == ROBOTS_PATH
    }
}

/// The traffic that a server has seen.
#[derive(Debug, Default)]
pub struct ServerBooks {
    cases: Mutex<HashMap<String, CaseBooks>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct CaseBooks {
    requests: Vec<SeenRequest>,
    /// Open connections by the host and port that they were last used for.
    connections: HashMap<String, usize>,
    most_connections: usize,
    /// Answers that are being sent.
    answering: usize,
    sent_bytes: u64,
    received_bytes: u64,
}

impl ServerBooks {
    /// The requests, connections and bytes of a case so far.
    pub fn view(&self, case: &str) -> ServerView {
        let mut cases = self.cases();
        let books = cases.entry(case.to_owned()).or_default();
        let mut view = ServerView {
            requests: books.requests.clone(),
            most_connections_at_once: books.most_connections,
            sent_bytes: books.sent_bytes,
            received_bytes: books.received_bytes,
            ..ServerView::default()
        };
        for (number, request) in view.requests.iter().enumerate() {
            let before: Vec<_> = view.requests[..number].iter().filter(|other| other.host == request.host).collect();
            let at_once = 1 + before.iter().filter(|other| other.ended > request.arrived).count();
            view.most_requests_at_once = view.most_requests_at_once.max(at_once);
            if let Some(ended) = before.iter().map(|other| other.ended).max() {
                let gap = request.arrived.saturating_duration_since(ended);
                view.least_gap = Some(view.least_gap.map_or(gap, |least| least.min(gap)));
            }
        }
        view
    }

    /// Waits until no answer of a case is being sent any more. Returns false after `patience`.
    pub fn is_quiet_within(&self, case: &str, patience: Duration) -> bool {
        let is_answering = |cases: &mut HashMap<String, CaseBooks>| cases.get(case).is_some_and(|it| it.answering > 0);
        let waited = self.changed.wait_timeout_while(self.cases(), patience, is_answering);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn cases(&self) -> MutexGuard<'_, HashMap<String, CaseBooks>> {
        self.cases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note<T>(&self, case: &str, change: impl FnOnce(&mut CaseBooks) -> T) -> T {
        change(self.cases().entry(case.to_owned()).or_default())
    }

    /// The same, for a change that others may wait for.
    fn report(&self, case: &str, change: impl FnOnce(&mut CaseBooks)) {
        self.note(case, change);
        self.changed.notify_all();
    }
}

/// A connection whose traffic is recorded in the books.
pub struct SeenConnection<'a, S> {
    stream: S,
    books: &'a ServerBooks,
    place: Option<Place>,
    /// Bytes received before the first request named the case that they belong to.
    unbooked_bytes: u64,
    /// When the last two writes that succeeded began.
    writes: [Option<Instant>; 2],
}

/// The last request of a connection, with its case and authority.
struct Place {
    case: String,
    authority: String,
    /// Number of the request among those of the case.
    request: usize,
}

impl<'a, S: Read + Write> SeenConnection<'a, S> {
    /// A new connection.
    pub fn new(stream: S, books: &'a ServerBooks) -> Self {
        Self { stream, books, place: None, unbooked_bytes: 0, writes: [None; 2] }
    }

    /// The stream, past the books.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Books a request: the case that it belongs to, the host and port that it names, and its target.
    pub fn asked(&mut self, case: &str, authority: &str, path: &str) {
        let arrived = Instant::now();
        if self.place.as_ref().is_none_or(|place| place.authority != authority) {
            self.leave();
            self.enter(case, authority);
        }
        let host = authority.split(':').next().unwrap_or_default().to_owned();
        let unbooked_bytes = std::mem::take(&mut self.unbooked_bytes);
        let request = self.books.note(case, |books| {
            books.received_bytes += unbooked_bytes;
            books.requests.push(SeenRequest { host, path: path.to_owned(), arrived, ended: arrived });
            books.requests.len() - 1
        });
        self.place = Some(Place { case: case.to_owned(), authority: authority.to_owned(), request });
    }

    /// Plays the answer to the last request.
    ///
    /// # Errors
    /// When the client leaves.
    pub fn play(&mut self, steps: &[ScriptStep]) -> io::Result<Ending> {
        self.writes = [None; 2];
        if let Some(place) = &self.place {
            self.books.note(&place.case, |books| books.answering += 1);
        }
        let ending = play(steps, self);
        // After a client has left, one more write may succeed.
        let ended = if ending.is_ok() { self.writes[1] } else { self.writes[0] };
        if let Some(place) = &self.place {
            self.books.report(&place.case, |books| {
                books.answering -= 1;
                let request = &mut books.requests[place.request];
                request.ended = ended.unwrap_or(request.ended);
            });
        }
        ending
    }

    fn enter(&self, case: &str, authority: &str) {
        let is_shared = |cases: &mut HashMap<String, CaseBooks>| {
            cases.get(case).and_then(|books| books.connections.get(authority)).is_some_and(|open| *open > 0)
        };
        let waited = self.books.changed.wait_timeout_while(self.books.cases(), FAREWELL, is_shared);
        let mut cases = waited.unwrap_or_else(PoisonError::into_inner).0;
        let books = cases.entry(case.to_owned()).or_default();
        let open = books.connections.entry(authority.to_owned()).or_default();
        *open += 1;
        books.most_connections = books.most_connections.max(*open);
    }
}

impl<S> SeenConnection<'_, S> {
    fn leave(&mut self) {
        if let Some(place) = self.place.take() {
            self.books.report(&place.case, |books| {
                if let Some(open) = books.connections.get_mut(&place.authority) {
                    *open -= 1;
                }
            });
        }
    }
}

impl<S: Read> Read for SeenConnection<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.read(buffer)?;
        match &self.place {
            Some(place) => self.books.note(&place.case, |books| books.received_bytes += length as u64),
            None => self.unbooked_bytes += length as u64,
        }
        Ok(length)
    }
}

impl<S: Write> Write for SeenConnection<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let begun = Instant::now();
        let length = self.stream.write(bytes)?;
        self.writes = [self.writes[1], Some(begun)];
        if let Some(place) = &self.place {
            self.books.note(&place.case, |books| books.sent_bytes += length as u64);
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl<S> Drop for SeenConnection<'_, S> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn connection(books: &ServerBooks) -> SeenConnection<'_, Cursor<Vec<u8>>> {
        SeenConnection::new(Cursor::default(), books)
    }

    fn page() -> [ScriptStep; 1] {
        [ScriptStep::Send(b"hello".to_vec())]
    }

    #[test]
    fn what_a_client_does_at_once_is_seen() {
        let books = ServerBooks::default();
        let [mut one, mut other, mut third] = [(); 3].map(|()| connection(&books));
        one.asked("case", "a.test", "/");
        other.asked("case", "a.test:8080", "/robots.txt");
        one.play(&page()).unwrap();
        other.play(&page()).unwrap();
        let view = books.view("case");
        assert_eq!((view.robots_requests(), view.page_requests(), view.sent_bytes), (1, 1, 10));
        assert_eq!((view.most_requests_at_once, view.least_gap), (2, Some(Duration::ZERO)));
        assert_eq!(view.most_connections_at_once, 1, "these are two origins");
        third.asked("case", "a.test", "/");
        assert_eq!(books.view("case").most_connections_at_once, 2);
    }

    #[test]
    fn what_a_client_does_in_turn_is_not_taken_for_at_once() {
        let books = ServerBooks::default();
        for (number, host) in ["a.test", "b.test", "a.test"].into_iter().enumerate() {
            let mut one = connection(&books);
            one.asked("case", host, "/");
            one.play(&page()).unwrap();
            let view = books.view("case");
            assert_eq!((view.most_requests_at_once, view.most_connections_at_once), (1, 1));
            assert_eq!(view.least_gap.is_some(), number == 2);
        }
        assert!(books.is_quiet_within("case", Duration::ZERO));
    }

    /// Takes two writes, the second after its client has left, and then fails.
    struct Left(usize);

    impl Read for Left {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }
    }

    impl Write for Left {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 <= 2 { Ok(bytes.len()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_answer_ends_before_the_last_write_if_its_client_has_left() {
        let books = ServerBooks::default();
        let mut one = SeenConnection::new(Left(0), &books);
        one.asked("case", "a.test", "/");
        one.play(&[ScriptStep::Forever(b"x".to_vec())]).unwrap_err();
        let [first, second] = one.writes.map(Option::unwrap);
        let ended = books.view("case").requests[0].ended;
        assert!(ended == first && ended < second);
    }
}
