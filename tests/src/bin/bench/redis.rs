//! Redis's sorted set as a queue of pages: taking the least and putting it back, by CPU of the server.

use crate::measure::Measured;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const MEMBERS: u32 = 1_000_000;
const OPERATIONS: u32 = 1_000_000;

/// Microseconds of the server for one ZPOPMIN and one ZADD; or why there is no figure.
pub(crate) fn pop_and_add_us(directory: &Path) -> Result<f64, String> {
    for program in ["redis-server", "redis-benchmark"] {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        found.map_err(|_| format!("{program} is not installed"))?;
    }
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let port = address.port().to_string();
    drop(listener);
    let mut command = Command::new("redis-server");
    command.args(["--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--port", &port, "--dir"]).arg(directory);
    let server = Measured::start(command, directory);
    let begun = Instant::now();
    while !answers(&address) {
        if begun.elapsed() > Duration::from_secs(10) {
            return Err("redis-server does not answer".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let add = ["zadd", "queue", "__rand_int__", "__rand_int__"];
    let took = |operation: &[&str], times: u32| {
        let before = server.cpu_time();
        if ask(&port, times, operation) {
            Ok(server.cpu_time() - before)
        } else {
            Err("redis-benchmark failed".to_owned())
        }
    };
    took(&add, MEMBERS)?;
    let added = took(&add, OPERATIONS)?;
    let popped = took(&["zpopmin", "queue"], OPERATIONS)?;
    Ok((added + popped).as_secs_f64() * 1e6 / f64::from(OPERATIONS))
}

/// Whether the server is up. Not asked by redis-benchmark, which can spin for ever where nobody answers yet.
fn answers(address: &SocketAddr) -> bool {
    let ping = || {
        let mut connection = TcpStream::connect(address)?;
        connection.set_read_timeout(Some(Duration::from_secs(1)))?;
        connection.write_all(b"PING\r\n")?;
        let mut answer = [0; 5];
        connection.read_exact(&mut answer)?;
        std::io::Result::Ok(&answer == b"+PONG")
    };
    ping().unwrap_or(false)
}

fn ask(port: &str, times: u32, operation: &[&str]) -> bool {
    Command::new("redis-benchmark")
        .args(["-p", port, "-n", &times.to_string(), "-P", "64", "-c", "4", "-r", "100000000", "-q"])
        .args(operation)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
