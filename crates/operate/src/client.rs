//! Asks a running recrawl at its port.

use daemon::CommandFailure;
use daemon::http::COMMAND_HEADER;
use daemon::web_client::{agent, authorities};
use std::net::ToSocketAddrs;
use std::time::Duration;
use ureq::http::Request;

const TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest answer that is read.
const MAX_ANSWER: u64 = 64 << 20;

/// The body of the answer to a request.
///
/// # Errors
/// Nothing answers at the address, or the status is not 200.
pub(crate) fn ask(address: &str, method: &str, path: &str, body: &str) -> Result<String, CommandFailure> {
    match request(address, method, path, body)? {
        (200, body) => Ok(body),
        (status, body) => Err(CommandFailure::World(format!("{address} answered {status}: {}", body.trim()))),
    }
}

/// The status and the body of the answer to a request.
pub(crate) fn request(address: &str, method: &str, path: &str, body: &str) -> Result<(u16, String), CommandFailure> {
    let failed = |problem: String| CommandFailure::World(format!("no answer from recrawl at {address}: {problem}"));
    let bare = address.trim_start_matches("http://").trim_end_matches('/');
    let resolved = bare.to_socket_addrs().map_err(|error| failed(error.to_string()))?.next();
    let resolved =
        resolved.ok_or_else(|| CommandFailure::Input(format!("{address} is not an address; write host:port")))?;
    // The address: a name would have to be among http.names.
    let request = Request::builder().method(method).uri(format!("http://{resolved}{path}")).header(COMMAND_HEADER, "1");
    let request =
        request.body(body.to_owned()).map_err(|error| CommandFailure::Input(format!("{address}: {error}")))?;
    let agent = agent(authorities(None).map_err(failed)?, TIMEOUT, CONNECT_TIMEOUT);
    // A proxy of the environment is for the web. It does not reach a loopback port of this machine.
    let request = agent.configure_request(request).proxy(None).build();
    let mut response = agent.run(request).map_err(|error| failed(error.to_string()))?;
    let read = response.body_mut().with_config().limit(MAX_ANSWER).lossy_utf8(true).read_to_string();
    Ok((response.status().as_u16(), read.map_err(|error| failed(error.to_string()))?))
}
