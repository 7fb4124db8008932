//! A web server that takes webhooks, and does to them what a test says.

use crate::web::certified;
use rustls::{ServerConnection, StreamOwned};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Longest time that a connection is held. No test waits for its end.
const LONGEST: Duration = Duration::from_secs(3_600);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Method and path.
    pub target: String,
    /// Headers by their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
    /// How often this change came before.
    pub came_before: usize,
    /// Whether it was confirmed.
    pub was_taken: bool,
}

impl Webhook {
    /// The id of its change.
    pub fn id(&self) -> &str {
        self.headers.get("webhook-id").map_or("", String::as_str)
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// The server's reaction to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers with this status, and these lines of the head.
    Status(u16, Vec<String>),
    /// Answers with this status and body.
    Body(u16, String),
    /// Reads the request and says nothing until the other side has gone.
    Silence,
    /// Reads the request and closes the connection.
    Close,
    /// Closes the connection in the middle of its answer's head.
    BreakOff,
}

impl Reply {
    /// A plain answer.
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new())
    }
}

type Behaviour = dyn Fn(&Webhook) -> Reply + Send + Sync;

/// The server. Its thread lives as long as the test's process.
pub struct WebhookReceiver {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Webhook>>>,
    authority: Option<NamedTempFile>,
}

impl WebhookReceiver {
    /// A server on loopback.
    pub fn start(behaviour: impl Fn(&Webhook) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(behaviour, None)
    }

    /// The same with TLS, as `localhost`, with a certificate of an authority that no client trusts by itself.
    pub fn start_with_tls(behaviour: impl Fn(&Webhook) -> Reply + Send + Sync + 'static) -> Self {
        let (config, authority) = certified(vec!["localhost".to_owned()]);
        Self { authority: Some(authority), ..Self::listen(behaviour, Some(config)) }
    }

    fn listen(
        behaviour: impl Fn(&Webhook) -> Reply + Send + Sync + 'static,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let seen: Arc<Mutex<Vec<Webhook>>> = Arc::default();
        let (behaviour, all): (Arc<Behaviour>, _) = (Arc::new(behaviour), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behaviour, all, tls) = (behaviour.clone(), all.clone(), tls.clone());
                std::thread::spawn(move || {
                    let _ = stream.set_read_timeout(Some(LONGEST));
                    let _ = match tls.map(ServerConnection::new) {
                        None => converse(stream, &*behaviour, &all),
                        Some(Ok(tls)) => converse(StreamOwned::new(tls, stream), &*behaviour, &all),
                        Some(Err(_)) => Ok(()),
                    };
                });
            }
        });
        Self { address, seen, authority: None }
    }

    /// Its address.
    pub fn url(&self) -> String {
        match self.authority {
            None => format!("http://{}/hook", self.address),
            Some(_) => format!("https://localhost:{}/hook", self.address.port()),
        }
    }

    /// File with its certificate authority.
    pub fn authority(&self) -> Option<PathBuf> {
        self.authority.as_ref().map(|file| file.path().to_owned())
    }

    /// Everything that came, in order.
    pub fn seen(&self) -> Vec<Webhook> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The requests that were answered with 2xx, in order.
    pub fn taken(&self) -> Vec<Webhook> {
        self.seen().into_iter().filter(|webhook| webhook.was_taken).collect()
    }
}

fn converse(stream: impl Read + Write, behaviour: &Behaviour, all: &Mutex<Vec<Webhook>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(mut webhook) = read(&mut reader)? {
        let reply = {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            webhook.came_before = all.iter().filter(|before| before.id() == webhook.id()).count();
            let reply = behaviour(&webhook);
            webhook.was_taken = matches!(reply, Reply::Status(200..=299, _) | Reply::Body(200..=299, _));
            all.push(webhook);
            reply
        };
        let stream = reader.get_mut();
        match reply {
            Reply::Status(status, lines) => {
                let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
                let body = format!("status {status}\n");
                write!(stream, "HTTP/1.1 {status} -\r\ncontent-length: {}\r\n{lines}\r\n{body}", body.len())?;
                stream.flush()?;
            }
            Reply::Body(status, body) => {
                write!(stream, "HTTP/1.1 {status} -\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
                stream.flush()?;
            }
            Reply::Silence => return reader.read(&mut [0]).map(|_| ()),
            Reply::Close => return Ok(()),
            Reply::BreakOff => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le")?;
                return stream.flush();
            }
        }
    }
    Ok(())
}

fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Webhook>> {
    let mut line = || -> std::io::Result<String> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let first = line()?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut headers = BTreeMap::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    assert!(!headers.contains_key("transfer-encoding"), "a request says how long it is: {first}");
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let target = first.trim_end_matches(" HTTP/1.1").to_owned();
    Ok(Some(Webhook { target, headers, body, came_before: 0, was_taken: false }))
}

/// A loopback address where no process listens.
pub fn deserted() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    debug_assert!(TcpStream::connect(address).is_err());
    address
}
