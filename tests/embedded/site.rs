//! Sites whose answers a test decides.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

/// The parts of a request that answers depend on.
pub(crate) struct SiteRequest {
    /// Everything up to the empty line.
    pub(crate) head: String,
}

impl SiteRequest {
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// An answer with this status, and further header lines behind it.
pub(crate) fn answer(status: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    [format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n").as_bytes(), body].concat()
}

/// Serves what `answer` gives for a path: Content-Type and body. Everything is `200 OK`.
pub(crate) fn serve(answer: impl Fn(&str) -> (&'static str, String) + Send + 'static) -> SocketAddr {
    serve_hosts(move |_, path| answer(path))
}

/// Serves what `answer` gives for a host with its port, and a path.
pub(crate) fn serve_hosts(answer: impl Fn(&str, &str) -> (&'static str, String) + Send + 'static) -> SocketAddr {
    serve_answers(move |request| {
        let (media_type, body) = answer(request.header("host").unwrap_or_default(), request.path());
        self::answer(&format!("200 OK\r\ncontent-type: {media_type}"), body)
    })
}

/// Serves answers byte for byte, one request a connection. An empty answer ends the connection.
pub(crate) fn serve_answers(answer: impl Fn(&SiteRequest) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut head, mut piece) = (Vec::new(), [0; 4_096]);
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(read) if read > 0 => head.extend_from_slice(&piece[..read]),
                    _ => break,
                }
            }
            if !head.is_empty() {
                let request = SiteRequest { head: String::from_utf8_lossy(&head).into_owned() };
                // The crawler may be gone.
                let _ = stream.write_all(&answer(&request));
            }
        }
    });
    address
}
