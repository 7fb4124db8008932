//! HTTP requests to a port, and their answers.

use crate::SOON;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};

/// An answer of a port of HTTP.
pub struct HttpAnswer {
    /// Its status.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The body.
    pub body: String,
}

impl HttpAnswer {
    /// Asks a port for a path; `None` while it does not answer. HTTP/1.0, so that the connection ends with the answer.
    pub fn to(address: impl ToSocketAddrs, path: &str) -> Option<Self> {
        Self::of_host(address, "localhost", path)
    }

    /// The same with a token.
    pub fn with_token(address: impl ToSocketAddrs, path: &str, token: &str) -> Option<Self> {
        Self::with_headers(address, path, &format!("host: localhost\r\nauthorization: Bearer {token}\r\n"))
    }

    /// The same under another name.
    pub fn of_host(address: impl ToSocketAddrs, host: &str, path: &str) -> Option<Self> {
        Self::with_headers(address, path, &format!("host: {host}\r\n"))
    }

    /// The answer to a form that a browser sends from a screen of the port, as this reader.
    pub fn to_form(address: impl ToSocketAddrs, path: &str, token: &str, fields: &[(&str, &str)]) -> Option<Self> {
        let pairs = fields.iter().map(|(name, value)| {
            let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            format!("{name}={value}")
        });
        let body = pairs.collect::<Vec<_>>().join("&");
        let headers = "host: localhost\r\nsec-fetch-site: same-origin\r\naccept: text/html\r\n";
        let length = body.len();
        Self::ask(
            address,
            &format!(
                "POST {path} HTTP/1.0\r\n{headers}authorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
        )
    }

    fn with_headers(address: impl ToSocketAddrs, path: &str, headers: &str) -> Option<Self> {
        Self::ask(address, &format!("GET {path} HTTP/1.0\r\n{headers}\r\n"))
    }

    fn ask(address: impl ToSocketAddrs, request: &str) -> Option<Self> {
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(SOON)).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, head: head.to_owned(), body: body.to_owned() })
    }

    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|header| header.0 == name)
            .map(|header| header.1)
    }
}
