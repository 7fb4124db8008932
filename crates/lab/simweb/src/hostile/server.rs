//! Plays scripts on a socket: a thread per connection, bytes as they are.

use crate::hostile::Misbehaviour;
use crate::hostile::script::{Asked, ScriptStep};
use socket2::SockRef;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Idle timeout for clients.
const CLIENT_PATIENCE: Duration = Duration::from_secs(60);
const HEAD_BYTES: usize = 64 << 10;
/// The first byte of a TLS handshake, which is not supported here.
const TLS_HANDSHAKE: u8 = 0x16;

/// The requests for a case, and the bytes sent.
#[derive(Default)]
struct CaseCounts {
    requests: AtomicU64,
    sent_bytes: AtomicU64,
}

/// A running web of misbehaviours. Dropping it stops it; open connections end with their clients.
pub struct HostileWeb {
    address: SocketAddr,
    counts: Arc<HashMap<String, CaseCounts>>,
    is_stopped: Arc<AtomicBool>,
}

impl HostileWeb {
    /// Listens on a free port of 127.0.0.1.
    pub fn start(cases: Vec<Misbehaviour>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let counts = cases.iter().map(|case| (case.name.clone(), CaseCounts::default()));
        let counts: Arc<HashMap<_, _>> = Arc::new(counts.collect());
        let cases: Arc<HashMap<_, _>> = Arc::new(cases.into_iter().map(|case| (case.name.clone(), case)).collect());
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (counted, stopped) = (Arc::clone(&counts), Arc::clone(&is_stopped));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (cases, counts) = (Arc::clone(&cases), Arc::clone(&counted));
                if let Ok(stream) = stream {
                    thread::spawn(move || serve(&stream, address.port(), &cases, &counts));
                }
            }
        });
        Ok(Self { address, counts, is_stopped })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Bytes sent for a case, robots.txt included: the amount that the client accepted.
    pub fn sent_bytes(&self, name: &str) -> u64 {
        self.counts.get(name).map_or(0, |counts| counts.sent_bytes.load(Ordering::Relaxed))
    }

    /// Number of requests for pages of a case.
    pub fn requests(&self, name: &str) -> u64 {
        self.counts.get(name).map_or(0, |counts| counts.requests.load(Ordering::Relaxed))
    }
}

impl Drop for HostileWeb {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // A connection of our own wakes the listening thread.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, port: u16, cases: &HashMap<String, Misbehaviour>, counts: &HashMap<String, CaseCounts>) {
    let _ = (stream.set_nodelay(true), stream.set_read_timeout(Some(CLIENT_PATIENCE)));
    let mut stream = stream;
    while let Some(asked) = read_request(&mut stream, port) {
        let host = asked.head.split("\r\nhost:").nth(1).unwrap_or_default().trim_start();
        let Some((name, case)) = cases.get_key_value(host.split(['.', '\r', ':']).next().unwrap_or_default()) else {
            return;
        };
        let is_robots = asked.path == "/robots.txt";
        counts[name].requests.fetch_add(u64::from(!is_robots), Ordering::Relaxed);
        let reply = if is_robots { &case.robots } else { &case.page };
        let mut counted = Counted { stream, sent: &counts[name].sent_bytes };
        match play(&reply.steps(&asked), &mut counted) {
            Ok(Ending::Stay) => {}
            Ok(Ending::Reset) => return reset(stream),
            // The client has left, as it should.
            Ok(Ending::Close) | Err(_) => return,
        }
    }
}

struct Counted<'a> {
    stream: &'a TcpStream,
    sent: &'a AtomicU64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.stream.write(bytes)?;
        self.sent.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Close the connection.
    Close,
    /// Abort the connection.
    Reset,
    /// Read the next request.
    Stay,
}

/// Plays a script.
///
/// # Errors
/// When the client leaves.
pub fn play(steps: &[ScriptStep], stream: &mut (impl Read + Write)) -> io::Result<Ending> {
    for step in steps {
        match step {
            ScriptStep::Send(bytes) => stream.write_all(bytes)?,
            ScriptStep::Repeat(bytes, times) => (0..*times).try_for_each(|_| stream.write_all(bytes))?,
            ScriptStep::Forever(bytes) => loop {
                stream.write_all(bytes)?;
            },
            ScriptStep::Drip(bytes, pause) => {
                for byte in bytes.iter().cycle() {
                    stream.write_all(&[*byte])?;
                    stream.flush()?;
                    thread::sleep(*pause);
                }
            }
            ScriptStep::Hold => {
                stream.flush()?;
                while stream.read(&mut [0; 1_024])? > 0 {}
            }
            ScriptStep::Reset => {
                stream.flush()?;
                return Ok(Ending::Reset);
            }
            ScriptStep::Stay => {
                stream.flush()?;
                return Ok(Ending::Stay);
            }
        }
    }
    stream.flush()?;
    Ok(Ending::Close)
}

fn read_request(stream: &mut impl Read, port: u16) -> Option<Asked> {
    let mut head = Vec::new();
    let mut buffer = [0; 4_096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(length) if length > 0 && head.len() < HEAD_BYTES => head.extend_from_slice(&buffer[..length]),
            _ => return None,
        }
        if head[0] == TLS_HANDSHAKE {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
    Some(Asked { path, head: head.to_ascii_lowercase(), port, stream: 0 })
}

/// Without a linger time, closing sends RST instead of FIN.
fn reset(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
