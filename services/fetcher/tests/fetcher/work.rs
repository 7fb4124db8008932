//! The work that a server can make for the fetcher, measured as the CPU time of the thread that serves all hosts. It is
//! compared with the work for plain pages of as many bytes, in the same run.

use crate::bench::settings;
use crate::hostile::limits;
use crate::http2::TlsWeb;
use daemon::WebClock;
use fetcher::{FetchedPage, FetcherRules, PageFetcher};
use messages::FetchRequest;
use page::{CanonicalUrl, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use simweb::hostile::{HostileWeb, KEPT_BYTES, Misbehaviour, ServerView, http2_misbehaviours, misbehaviours};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stream::Clock;

/// Most work for a case, in the work for plain pages with as many requests and bytes.
const PLAIN_PAGES: f64 = 50.0;
/// How often a case that seems costly is tried again.
const ATTEMPTS: usize = 3;
/// No host waits for its turn, nor for a place.
const AT_ONCE: [(&str, &str); 3] =
    [("politeness.crawl_delay", "0s"), ("politeness.max_crawl_delay", "0s"), ("fetch.connections", "1000")];

/// Name of the fetcher's thread.
const FETCHING: &str = "fetch-pool";

/// A clock that knows how much CPU time the fetcher's thread had taken when it last asked for the time.
struct WorkClock {
    clock: WebClock,
    work_ns: AtomicU64,
}

impl WorkClock {
    fn note(&self) {
        if std::thread::current().name() == Some(FETCHING) {
            let time = clock_gettime(ClockId::ThreadCPUTime);
            self.work_ns.store(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64, Ordering::Relaxed);
        }
    }
}

impl Clock for WorkClock {
    fn now(&self) -> Timestamp {
        self.note();
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.note();
        self.clock.monotonic()
    }

    fn pause(&self, duration: Duration) {
        self.clock.pause(duration);
    }

    fn to_real(&self, duration: Duration) -> Duration {
        self.clock.to_real(duration)
    }
}

/// A fetcher that is asked for one page at a time.
struct Worker {
    fetcher: PageFetcher,
    clock: Arc<WorkClock>,
}

impl Worker {
    fn at(address: SocketAddr, overrides: &[(&str, &str)]) -> Self {
        let resolve = format!("*.test={address}");
        let settings = settings(&[&[("fetch.resolve", resolve.as_str())], overrides].concat());
        let clock = Arc::new(WorkClock { clock: WebClock::new(&settings.clock), work_ns: AtomicU64::new(0) });
        let fetcher = PageFetcher::start(FetcherRules::new(&settings).unwrap(), clock.clone()).unwrap();
        Self { fetcher, clock }
    }

    /// Fetches a page. Returns the CPU time that it took.
    fn fetch(&mut self, url: &str) -> Duration {
        let before = self.work_so_far();
        self.answer(&FetchRequest::first(CanonicalUrl::parse(url).unwrap(), self.clock.clock.now()));
        self.work_so_far() - before
    }

    /// The fetcher asks for the time before it hands back a request that came too late.
    fn work_so_far(&mut self) -> Duration {
        let request = FetchRequest::first(CanonicalUrl::parse("http://late.test/").unwrap(), self.clock.clock.now());
        let late = FetchRequest { lease_until: Timestamp::from_secs(0), ..request };
        assert!(self.answer(&late).result.look.was_not_sent());
        Duration::from_nanos(self.clock.work_ns.load(Ordering::Relaxed))
    }

    fn answer(&mut self, request: &FetchRequest) -> FetchedPage {
        self.fetcher.submit(request.clone());
        self.fetcher.next_answer().unwrap()
    }
}

/// A fetcher and the server that it asks.
struct Rig {
    worker: Worker,
    port: u16,
    view: Box<dyn Fn(&str) -> ServerView>,
}

impl Rig {
    fn over_http1(cases: Vec<Misbehaviour>, further: &[(&str, &str)]) -> Self {
        let web = HostileWeb::start(cases).unwrap();
        let limits = limits();
        let limits: Vec<_> = limits.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let worker = Worker::at(web.address(), &[&limits[..], further].concat());
        Self { worker, port: web.address().port(), view: Box::new(move |case| web.books().view(case)) }
    }

    fn over_http2() -> Self {
        let web = TlsWeb::start(&[b"h2"]);
        let limits = web.limits();
        let limits: Vec<_> = limits.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let worker = Worker::at(web.address, &[&limits[..], &AT_ONCE].concat());
        Self { worker, port: web.address.port(), view: Box::new(move |case| web.books().view(case)) }
    }

    /// Fetches the page of a case, which was not fetched before.
    fn cost_of(&mut self, case: &Misbehaviour) -> Cost {
        let work = self.worker.fetch(&case.url.replace("{port}", &self.port.to_string()));
        let view = (self.view)(&case.name);
        let work_ns = work.as_nanos() as f64;
        Cost { work_ns, requests: view.requests.len() as f64, sent_bytes: view.sent_bytes as f64 }
    }
}

/// The fetcher's cost of a case, and its server's share in it: requests and bytes.
struct Cost {
    work_ns: f64,
    requests: f64,
    sent_bytes: f64,
}

/// The cases that cost much more than plain pages do: a short one for each request, and a long one for each byte that was
/// sent or may have been unpacked.
fn costly(start: impl Fn() -> Rig, cases: &[Misbehaviour], short: &str, long: &str) -> Vec<String> {
    let mut rig = start();
    let costs: Vec<_> = cases.iter().map(|case| (case, rig.cost_of(case))).collect();
    let plain = |name: &str| &costs.iter().find(|(case, _)| case.name == name).unwrap().1;
    let per_request = plain(short).work_ns / plain(short).requests;
    let per_byte = plain(long).work_ns / plain(long).sent_bytes;
    let allowed_ns =
        |cost: &Cost| PLAIN_PAGES * (cost.requests * per_request + (cost.sent_bytes + KEPT_BYTES as f64) * per_byte);
    let is_costly = |cost: &Cost| cost.work_ns > allowed_ns(cost);
    let costly = costs.iter().filter(|(_, cost)| is_costly(cost));
    // Some work is done once in a process, and a busy machine makes all work slower now and then.
    let costly = costly.filter(|(case, _)| (0..ATTEMPTS).all(|_| is_costly(&start().cost_of(case))));
    let reported = |(case, cost): &(&Misbehaviour, Cost)| {
        let [took, allowed] = [cost.work_ns, allowed_ns(cost)].map(|ns| ns / 1e6);
        format!("{}: {took:.1} ms of CPU for {} bytes, {allowed:.1} ms allowed", case.name, cost.sent_bytes)
    };
    costly.map(reported).collect()
}

fn ending(cases: Vec<Misbehaviour>) -> Vec<Misbehaviour> {
    cases.into_iter().filter(|case| !case.stalls).collect()
}

#[test]
fn no_misbehaviour_costs_much_more_work_than_plain_pages() {
    let over_http1 = || Rig::over_http1(misbehaviours(), &AT_ONCE);
    let mut costly = costly(over_http1, &ending(misbehaviours()), "content-type-absent", "body-as-long-as-kept");
    let http2 = ending(http2_misbehaviours());
    costly.extend(self::costly(Rig::over_http2, &http2, "http2-well-made", "http2-longer-than-kept"));
    assert!(costly.is_empty(), "{}", costly.join("\n"));
}
