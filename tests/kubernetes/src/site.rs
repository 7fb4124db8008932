//! Hosts whose pages are crawled, and their books.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, ETAG, HOST, IF_NONE_MATCH};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Host and path.
    pub page: String,
    /// When it came.
    pub at: Instant,
    /// Which version was sent; `None` for 304.
    pub sent: Option<u32>,
}

/// A server of many hosts.
pub struct Site {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    version: AtomicU32,
    latency_ms: AtomicU64,
    books: Mutex<Vec<Entry>>,
    /// Requests under way by host, and the most there ever were.
    under_way: Mutex<BTreeMap<String, (usize, usize)>>,
}

impl Site {
    /// Starts it on loopback.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // Long enough that two requests at once are seen.
        let shared = Arc::new(Shared { latency_ms: AtomicU64::new(20), ..Shared::default() });
        let served = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&served);
                tokio::spawn(async move {
                    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
                    // A client that goes away is no failure of the server.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { address, shared }
    }

    /// Changes all pages.
    pub fn change(&self) {
        self.shared.version.fetch_add(1, Ordering::SeqCst);
    }

    /// Answers take this long from now on.
    pub fn set_latency(&self, latency: Duration) {
        self.shared.latency_ms.store(latency.as_millis().try_into().unwrap(), Ordering::SeqCst);
    }

    /// All requests so far, in order.
    pub fn books(&self) -> Vec<Entry> {
        self.shared.books.lock().unwrap().clone()
    }

    /// The most requests under way at once at any host.
    pub fn most_at_once(&self) -> usize {
        let under_way = self.shared.under_way.lock().unwrap();
        under_way.values().map(|(_, most)| *most).max().unwrap_or(0)
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let host = header(HOST).unwrap_or_default();
    let path = request.uri().path().to_owned();
    if path == "/robots.txt" {
        return Ok(Response::builder()
            .header(CONTENT_TYPE, "text/plain")
            .body("User-agent: *\nAllow: /\n".into())
            .unwrap());
    }
    let _visit = Visit::begin(Arc::clone(&shared), host.clone());
    let version = shared.version.load(Ordering::SeqCst);
    let tag = format!("\"{version}\"");
    let is_known = header(IF_NONE_MATCH).as_deref() == Some(&tag);
    let sent = (!is_known).then_some(version);
    shared.books.lock().unwrap().push(Entry { page: format!("{host}{path}"), at: Instant::now(), sent });
    tokio::time::sleep(Duration::from_millis(shared.latency_ms.load(Ordering::SeqCst))).await;
    let answer = Response::builder().header(ETAG, tag).header(CONTENT_TYPE, "text/html");
    let text = format!(
        "<title>{path}</title><main><h1>Page {path} of {host}</h1><p>The number of today is {version}.</p></main>"
    );
    Ok(match is_known {
        true => answer.status(StatusCode::NOT_MODIFIED).body(Full::default()).unwrap(),
        false => answer.body(text.into()).unwrap(),
    })
}

/// A request under way, until it is answered or its client goes.
struct Visit {
    shared: Arc<Shared>,
    host: String,
}

impl Visit {
    fn begin(shared: Arc<Shared>, host: String) -> Self {
        {
            let mut under_way = shared.under_way.lock().unwrap();
            let (now, most) = under_way.entry(host.clone()).or_default();
            *now += 1;
            *most = (*most).max(*now);
        }
        Self { shared, host }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some((now, _)) = self.shared.under_way.lock().unwrap().get_mut(&self.host) {
            *now -= 1;
        }
    }
}
