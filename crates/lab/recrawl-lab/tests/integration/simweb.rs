//! The program: starts, says where, writes its seeds, serves, and leaves its ledger behind.
use simweb::{RequestKind, read_ledger};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// Killed when a test fails, so that nothing is left running.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_terminated_server_leaves_its_ledger_behind() {
    let directory = tempfile::tempdir().unwrap();
    let (ledger, seeds) = (directory.path().join("ledger.csv"), directory.path().join("seeds"));
    let mut server = Command::new(env!("CARGO_BIN_EXE_recrawl-lab"))
        .args([
            "simweb",
            "seeded",
            "--hosts",
            "2",
            "--pages-per-host",
            "3",
            "--loopback",
            "--speed",
            "1000",
            "--ledger",
        ])
        .arg(&ledger)
        .arg("--write-seeds")
        .arg(&seeds)
        .stdout(Stdio::piped())
        .spawn()
        .map(Server)
        .unwrap();
    let mut addr = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut addr).unwrap();

    let seeds = std::fs::read_to_string(seeds).unwrap();
    assert_eq!(seeds.lines().count(), 6);
    for url in seeds.lines() {
        let (authority, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut stream = TcpStream::connect(authority).unwrap();
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{url}: {reply}");
    }

    let stopped = Command::new("kill").args(["-TERM", &server.0.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    assert!(server.0.wait().unwrap().success());
    let entries = read_ledger(File::open(ledger).unwrap()).unwrap();
    assert_eq!(entries.len(), 6);
    assert!(entries.iter().all(|entry| entry.kind == RequestKind::Page && entry.version == Some(0)));
    assert!(entries.iter().all(|entry| entry.ended_at >= entry.started_at));
}
