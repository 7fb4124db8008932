//! Asks a running recrawl at its port.

use crate::Access;
use crate::audit::user_and_machine;
use daemon::CommandFailure;
use daemon::http::{CALLER_HEADER, COMMAND_HEADER, LOG_HEADER};
use daemon::web_client::{agent, authorities};
use std::net::ToSocketAddrs;
use std::time::Duration;
use ureq::http::{Request, header};

const TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest answer that is read.
const MAX_ANSWER: u64 = 64 << 20;

/// An answer of a port.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// Id of the log of the crawl that answers, if it is one.
    pub(crate) log: Option<String>,
}

/// The body of the answer to a request.
///
/// # Errors
/// Nothing answers at the address, or the status is not 200.
pub(crate) fn ask(access: &Access, method: &str, path: &str, body: &str) -> Result<String, CommandFailure> {
    match request(access, method, path, body)? {
        Answer { status: 200, body, .. } => Ok(body),
        Answer { status: 400, body, .. } => Err(CommandFailure::Input(reason(&body))),
        Answer { status, body, .. } => {
            Err(CommandFailure::World(format!("{} answered {status}: {}", access.address, reason(&body))))
        }
    }
}

/// Why a request was refused: the detail of a problem document, or else the whole body.
fn reason(body: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Problem {
        detail: String,
    }
    serde_json::from_str(body).map_or_else(|_| body.trim().to_owned(), |problem: Problem| problem.detail)
}

/// The answer to a request.
pub(crate) fn request(access: &Access, method: &str, path: &str, body: &str) -> Result<Answer, CommandFailure> {
    let address = &access.address;
    let failed = |problem: String| CommandFailure::World(format!("no answer from recrawl at {address}: {problem}"));
    let bare = address.trim_start_matches("http://").trim_end_matches('/');
    // A certificate is for a name. Otherwise the address: a name would have to be among http.names.
    let uri = if bare.starts_with("https://") {
        format!("{bare}{path}")
    } else {
        let resolved = bare.to_socket_addrs().map_err(|error| failed(error.to_string()))?.next();
        let resolved =
            resolved.ok_or_else(|| CommandFailure::Input(format!("{address} is not an address; write host:port")))?;
        format!("http://{resolved}{path}")
    };
    let mut request = Request::builder().method(method).uri(uri).header(COMMAND_HEADER, "1");
    request = request.header(CALLER_HEADER, user_and_machine());
    if let Some(log) = &access.log {
        request = request.header(LOG_HEADER, log);
    }
    if let Some(token) = &access.token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.reveal()));
    }
    let request =
        request.body(body.to_owned()).map_err(|error| CommandFailure::Input(format!("{address}: {error}")))?;
    let authorities = authorities(access.ca_file.as_deref());
    let authorities = authorities.map_err(|problem| CommandFailure::Input(format!("http.ca_file: {problem}")))?;
    let agent = agent(authorities, TIMEOUT, CONNECT_TIMEOUT);
    // A proxy of the environment is for the web. It does not reach a loopback port of this machine.
    let request = agent.configure_request(request).proxy(None).build();
    let mut response = agent.run(request).map_err(|error| failed(error.to_string()))?;
    let log = response.headers().get(LOG_HEADER).and_then(|log| log.to_str().ok()).map(str::to_owned);
    let read = response.body_mut().with_config().limit(MAX_ANSWER).lossy_utf8(true).read_to_string();
    let body = read.map_err(|error| failed(error.to_string()))?;
    Ok(Answer { status: response.status().as_u16(), body, log })
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemon::http::TextResponse;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_refusal_is_shown_as_its_detail_and_words_of_others_as_they_are() {
        assert_eq!(reason(&TextResponse::problem(401, "a token is needed").body), "a token is needed");
        for other in ["stage detector hangs", "{\"error\":\"no\"}", "[]", ""] {
            assert_eq!(reason(&format!("{other}\n")), other);
        }
    }

    #[test]
    fn an_endless_answer_is_read_up_to_a_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4_096]);
            let mut sent = stream.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").unwrap() as u64;
            let piece = vec![b'x'; 1 << 20];
            // Ends when the client closes the connection.
            while let Ok(length @ 1..) = stream.write(&piece) {
                sent += length as u64;
                assert!(sent < 4 * MAX_ANSWER, "all of it is read");
            }
        });
        let access = Access { address: address.clone(), log: None, token: None, ca_file: None };
        let problem = ask(&access, "GET", "/status", "").unwrap_err().to_string();
        assert!(problem.starts_with(&format!("no answer from recrawl at {address}: ")), "{problem}");
        server.join().unwrap();
    }
}
