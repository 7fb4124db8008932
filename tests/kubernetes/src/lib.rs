//! A Kubernetes cluster of processes, to see the manifests in `k8s/` work without containers: a real control plane, and
//! nodes whose kubelet runs each container's command in a sandbox on this machine.
//!
//! Differences from a real cluster: pods share this machine's network, so each gets an address of its own in 127.0.0.0/8
//! and listens there (`RECRAWL_HTTP_BIND`); network policies are therefore not enforced, names of Services are
//! not resolved, and the resources of a container are counted but not limited.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

pub mod cluster;
pub mod control_plane;
pub mod kafka;
pub mod keda;
pub mod kubelet;
pub mod site;
pub mod storage;
pub mod strimzi;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Child;

/// Waits until a condition holds. Panics with what it last was when the deadline passes.
pub async fn wait_for<T>(what: &str, deadline: Duration, mut condition: impl AsyncFnMut() -> Result<T, String>) -> T {
    let began = Instant::now();
    loop {
        match condition().await {
            Ok(value) => return value,
            Err(state) if began.elapsed() > deadline => panic!("{what}: not within {deadline:?}: {state}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

/// A program that ends when this process does, however that ends.
pub(crate) fn attended(program: impl AsRef<std::ffi::OsStr>) -> tokio::process::Command {
    let mut command = tokio::process::Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program).kill_on_drop(true);
    command
}

/// Starts a program whose output goes to `NAME.log` in a directory.
pub(crate) fn logged(mut command: tokio::process::Command, directory: &Path, name: &str) -> Child {
    let log = std::fs::File::create(directory.join(format!("{name}.log"))).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command.spawn().unwrap_or_else(|error| panic!("{name} cannot be started: {error}"))
}

/// A port of 127.0.0.1 on which no process listens.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
