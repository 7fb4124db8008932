//! A process for the tests of this crate: it is confined as `recrawl` is, and does what its document says.

use document::NotRead;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    confined::run(&arguments, obey)
}

fn obey(document: Vec<u8>) -> Result<String, NotRead> {
    let document = String::from_utf8(document).map_err(|_| NotRead::Damaged)?;
    let (order, rest) = document.split_once(' ').unwrap_or((&document, ""));
    let said = |result: std::io::Result<()>| match result {
        Ok(()) => "allowed".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    };
    Ok(match order {
        "repeat" => rest.to_owned(),
        "open" => said(std::fs::File::open(rest).map(drop)),
        "write" => said(std::fs::write(rest, "words")),
        "connect" => said(std::net::TcpStream::connect(rest).map(drop)),
        "datagram" => said(std::net::UdpSocket::bind("127.0.0.1:0").map(drop)),
        "socket" => said(std::os::unix::net::UnixStream::pair().map(drop)),
        "execute" => said(Command::new(rest).spawn().map(drop)),
        "thread" => said(std::thread::Builder::new().spawn(|| ()).map(drop)),
        "descriptor" => said(read_descriptor(rest)),
        "environment" => format!("{:?}", std::env::vars_os().collect::<Vec<_>>()),
        "allocate" => {
            let bytes: usize = rest.parse().map_err(|_| NotRead::Damaged)?;
            vec![1u8; bytes].iter().map(|byte| usize::from(*byte)).sum::<usize>().to_string()
        }
        "nest" => nested(0).to_string(),
        "endless" => loop {
            std::hint::spin_loop();
        },
        "long" => "x".repeat(9 << 20),
        "panic" => panic!("as ordered"),
        "encrypted" => return Err(NotRead::Encrypted),
        _ => return Err(NotRead::Damaged),
    })
}

/// Reads from an open descriptor of this number.
fn read_descriptor(number: &str) -> std::io::Result<()> {
    std::fs::read(format!("/proc/self/fd/{number}")).map(drop)
}

#[expect(unconditional_recursion, reason = "a fault that is asked for")]
fn nested(depth: u64) -> u64 {
    std::hint::black_box(&[depth; 64]);
    nested(depth + 1) + 1
}
