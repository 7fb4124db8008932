//! A site whose answers a test decides.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

/// Serves what `answer` gives for a path: Content-Type and body. Everything is `200 OK`.
pub(crate) fn serve(answer: impl Fn(&str) -> (&'static str, String) + Send + 'static) -> SocketAddr {
    serve_hosts(move |_, path| answer(path))
}

/// Serves what `answer` gives for a host and a path.
pub(crate) fn serve_hosts(answer: impl Fn(&str, &str) -> (&'static str, String) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4_096];
            let length = stream.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let host = lines.filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, host)| host).next();
            let (media_type, body) = answer(host.unwrap_or_default(), head.split(' ').nth(1).unwrap_or_default());
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            // The crawler may be gone.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}
