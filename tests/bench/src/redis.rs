//! Redis's sorted set as a queue of pages: taking the least and putting it back, by CPU of the server.

use crate::crawls::free_port;
use crate::measure::Measured;
use std::net::TcpStream;
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
    let port = free_port();
    let mut command = Command::new("redis-server");
    command.args(["--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--dir"]).arg(directory);
    command.args(["--port", &port.to_string()]);
    let server = Measured::start(command, directory);
    let begun = Instant::now();
    // redis-benchmark is not used for this: it can spin for ever while no server listens.
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if begun.elapsed() > Duration::from_secs(10) {
            return Err("redis-server does not answer".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let add = ["zadd", "queue", "__rand_int__", "__rand_int__"];
    let took = |operation: &[&str], times: u32| {
        let before = server.cpu_time();
        if ask(port, times, operation) {
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

fn ask(port: u16, times: u32, operation: &[&str]) -> bool {
    Command::new("redis-benchmark")
        .args(["-p", &port.to_string(), "-n", &times.to_string(), "-P", "64", "-c", "4", "-r", "100000000", "-q"])
        .args(operation)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
