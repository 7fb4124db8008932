//! The actions of a server on a connection, as data.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// One action of the server. After the last step it closes the connection.
#[derive(Clone, Debug)]
pub enum ScriptStep {
    Send(Vec<u8>),
    /// Sends these bytes in pieces of this size.
    Pieces(Vec<u8>, usize),
    /// Sends these bytes this many times.
    Repeat(Vec<u8>, usize),
    /// Sends these bytes until the client leaves.
    Forever(Vec<u8>),
    /// Sends these bytes one at a time, over and over, with this pause (real time) after each.
    Drip(Vec<u8>, Duration),
    /// Sends nothing more until the client leaves.
    Hold,
    /// Aborts the connection (RST).
    Reset,
    /// Reads the next request on the same connection.
    Stay,
}

/// The parts of a request that a reply may depend on.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// The whole head in lower case.
    pub head: String,
    /// The port that the server listens on.
    pub port: u16,
    /// The stream of an HTTP/2 request; 0 for others.
    pub stream: u32,
}

impl Asked {
    /// Whether the request has this header.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.head.contains(&format!("\r\n{name}:"))
    }
}

#[derive(Clone)]
pub struct ReplyScript(Arc<ScriptFn>);

type ScriptFn = dyn Fn(&Asked) -> Vec<ScriptStep> + Send + Sync;

impl ReplyScript {
    pub fn steps(&self, asked: &Asked) -> Vec<ScriptStep> {
        (self.0)(asked)
    }
}

impl fmt::Debug for ReplyScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// A reply that depends on the request.
pub(super) fn by_request(reply: impl Fn(&Asked) -> Vec<ScriptStep> + Send + Sync + 'static) -> ReplyScript {
    ReplyScript(Arc::new(reply))
}

/// The same steps for every request.
pub(super) fn steps(steps: Vec<ScriptStep>) -> ReplyScript {
    by_request(move |_| steps.clone())
}

/// These bytes, and the end of the connection.
pub(super) fn raw(bytes: impl Into<Vec<u8>>) -> ReplyScript {
    steps(vec![ScriptStep::Send(bytes.into())])
}

/// The head of a page whose body ends with the connection.
pub(super) fn head(headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}

/// A page with a declared length and further headers, each with its line end.
pub(super) fn page(headers: &str, body: impl AsRef<[u8]>) -> ReplyScript {
    raw(page_bytes(headers, body))
}

pub(super) fn page_bytes(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    [&head(&format!("content-length: {}\r\n{headers}", body.len())), body].concat()
}

/// An answer without a body.
pub(super) fn answer(status: &str, headers: &str) -> ReplyScript {
    raw(answer_bytes(status, headers))
}

pub(super) fn answer_bytes(status: &str, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}

/// A chunked page. The bytes after the head are sent as they are.
pub(super) fn chunked(body: impl AsRef<[u8]>) -> ReplyScript {
    raw([&head("transfer-encoding: chunked\r\n"), body.as_ref()].concat())
}
