//! A minimal HTTP client for the status and commands of a running recrawl. HTTP/1.0 over loopback is sufficient.

use crate::CommandFailure;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(30);

/// The body of the answer to a request; any status but 200 is a failure.
pub(crate) fn ask(address: &str, method: &str, path: &str, body: &[u8]) -> Result<String, CommandFailure> {
    match request(address, method, path, body)? {
        (200, body) => Ok(body),
        (status, body) => Err(CommandFailure::World(format!("{address} answered {status}: {}", body.trim()))),
    }
}

/// Sends a request and returns the status and body.
pub(crate) fn request(address: &str, method: &str, path: &str, body: &[u8]) -> Result<(u16, String), CommandFailure> {
    let unreachable =
        |error: std::io::Error| CommandFailure::World(format!("no answer from recrawl at {address}: {error}"));
    let bare = address.trim_start_matches("http://").trim_end_matches('/');
    let resolved = bare.to_socket_addrs().map_err(unreachable)?.next();
    let resolved =
        resolved.ok_or_else(|| CommandFailure::Input(format!("{address} is not an address; write host:port")))?;
    let mut stream = TcpStream::connect_timeout(&resolved, Duration::from_secs(3)).map_err(unreachable)?;
    stream.set_read_timeout(Some(WAIT)).map_err(unreachable)?;
    let command = daemon::http::COMMAND_HEADER;
    // The address: a name would have to be among http.names.
    let head = format!(
        "{method} {path} HTTP/1.0\r\nhost: {resolved}\r\n{command}: 1\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).map_err(unreachable)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(unreachable)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| CommandFailure::World(format!("the server at {address} does not speak HTTP")))?;
    Ok((status, body.to_owned()))
}
