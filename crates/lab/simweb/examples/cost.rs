//! Measures the cost of serving: processor time of the serving thread per request, for a generated and, where a corpus
//! directory is named, a replayed web, and the baselines on the built-in trace.
//!
//! `cargo run --release -p simweb --example cost [CORPUS]`

use anyhow::{Context, Result, ensure};
use page::Timestamp;
use simweb::{
    ChangeTrace, ReplayConfig, SeededConfig, SimWeb, SimWebConfig, WebSource, manual_clock, oracle, round_robin,
};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

const REQUESTS: usize = 20_000;

fn main() -> Result<()> {
    let seeded = SeededConfig::default();
    measure("generated pages of 14 kB", SimWebConfig::new(WebSource::Seeded(seeded.clone())), false)?;
    measure("the same, answered 304", SimWebConfig::new(WebSource::Seeded(seeded)), true)?;
    if let Some(corpus) = std::env::args().nth(1) {
        measure("replayed pages", SimWebConfig::new(WebSource::Replay(ReplayConfig::new(corpus))), false)?;
    }
    let trace = ChangeTrace::built_in(Timestamp::from_secs(1_700_000_000));
    for days in [60.0, 30.0, 15.0, 3.0] {
        let budget_per_day = trace.pages.len() as f64 / days;
        let started = Instant::now();
        println!("built-in trace, one fetch per page in {days} days:");
        let window = trace.window;
        let plain = round_robin(&trace, window, budget_per_day).freshness(&trace, window);
        println!("  round robin {plain:?}");
        let best = oracle(&trace, &[], window, budget_per_day).freshness(&trace, window);
        println!("  oracle      {best:?} (both {:?})", started.elapsed());
    }
    Ok(())
}

fn measure(what: &str, config: SimWebConfig, conditional: bool) -> Result<()> {
    let started = Instant::now();
    let (_, clock) = manual_clock(Timestamp::from_secs(1_700_000_000).plus_days(75.0));
    let web = SimWeb::start(config, clock)?;
    let opened = started.elapsed();
    let mut stream = TcpStream::connect(web.addr())?;
    stream.set_nodelay(true)?;
    let served = web.web();
    let pages = &served.trace().pages;
    let condition = if conditional { "If-None-Match: *\r\n" } else { "" };
    let before = web.cpu_time().context("this system does not tell a thread's processor time")?;
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 16];
    for request in 0..REQUESTS {
        let page = &pages[request * 7_919 % pages.len()];
        stream.write_all(format!("GET {} HTTP/1.1\r\nHost: {}\r\n{condition}\r\n", page.path, page.host).as_bytes())?;
        bytes += read_reply(&mut stream, &mut buffer)?;
    }
    let generated = Instant::now();
    for request in 0..REQUESTS {
        let number = request * 7_919 % pages.len();
        let version = pages[number].states.len() as u32 - 1;
        std::hint::black_box(served.body(number, version)?);
    }
    let body_us = generated.elapsed().as_secs_f64() * 1e6 / REQUESTS as f64;
    let cpu = web.cpu_time().context("the serving thread is gone")? - before;
    println!(
        "{what}: {:.1} µs of processor time per request of {} bytes, {body_us:.1} of them for a body; opened {} pages in {opened:.1?}",
        cpu.as_secs_f64() * 1e6 / REQUESTS as f64,
        bytes / REQUESTS,
        pages.len(),
    );
    Ok(())
}

fn read_reply(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<usize> {
    let mut head = Vec::new();
    loop {
        let count = stream.read(buffer)?;
        ensure!(count > 0, "the server hung up");
        head.extend_from_slice(&buffer[..count]);
        let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&head[..end])?;
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let length: usize = if text.starts_with("HTTP/1.1 304") { 0 } else { length.parse()? };
        let mut have = head.len() - end - 4;
        while have < length {
            have += stream.read(buffer)?;
        }
        return Ok(length);
    }
}
