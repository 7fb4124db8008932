//! Plays scripts on a socket: a thread per connection, bytes as they are.

use crate::hostile::Misbehaviour;
use crate::hostile::script::{Asked, ScriptStep};
use crate::hostile::view::{ROBOTS_PATH, SeenConnection, ServerBooks};
use socket2::SockRef;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Idle timeout for clients.
const CLIENT_PATIENCE: Duration = Duration::from_secs(60);
const HEAD_BYTES: usize = 64 << 10;
/// The first byte of a TLS handshake, which is not supported here.
const TLS_HANDSHAKE: u8 = 0x16;

/// A running web of misbehaviours. Dropping it stops it; open connections end with their clients.
pub struct HostileWeb {
    address: SocketAddr,
    books: Arc<ServerBooks>,
    is_stopped: Arc<AtomicBool>,
}

impl HostileWeb {
    /// Listens on a free port of 127.0.0.1.
    pub fn start(cases: Vec<Misbehaviour>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let books = Arc::<ServerBooks>::default();
        let cases: Arc<HashMap<_, _>> = Arc::new(cases.into_iter().map(|case| (case.name.clone(), case)).collect());
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (booked, stopped) = (Arc::clone(&books), Arc::clone(&is_stopped));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (cases, books) = (Arc::clone(&cases), Arc::clone(&booked));
                if let Ok(stream) = stream {
                    thread::spawn(move || serve(&stream, address.port(), &cases, &books));
                }
            }
        });
        Ok(Self { address, books, is_stopped })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests, connections and bytes of its clients so far.
    pub fn books(&self) -> &ServerBooks {
        &self.books
    }
}

impl Drop for HostileWeb {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // A connection of our own wakes the listening thread.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, port: u16, cases: &HashMap<String, Misbehaviour>, books: &ServerBooks) {
    let _ = (stream.set_nodelay(true), stream.set_read_timeout(Some(CLIENT_PATIENCE)));
    let mut seen = SeenConnection::new(stream, books);
    while let Some(asked) = read_request(&mut seen, port) {
        let authority = asked.head.split("\r\nhost:").nth(1).unwrap_or_default();
        let authority = authority.split('\r').next().unwrap_or_default().trim();
        let Some((name, case)) = cases.get_key_value(authority.split(['.', ':']).next().unwrap_or_default()) else {
            return;
        };
        seen.asked(name, authority, &asked.path);
        let reply = if asked.path == ROBOTS_PATH { &case.robots } else { &case.page };
        match seen.play(&reply.steps(&asked)) {
            Ok(Ending::Stay) => {}
            Ok(Ending::Reset) => return reset(stream),
            // The client has left, as it should.
            Ok(Ending::Close) | Err(_) => return,
        }
    }
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Close,
    /// Abort the connection.
    Reset,
    /// Read the next request.
    Stay,
}

/// Plays a script. Fails when the client leaves.
pub(super) fn play(steps: &[ScriptStep], stream: &mut (impl Read + Write)) -> io::Result<Ending> {
    for step in steps {
        match step {
            ScriptStep::Send(bytes) => stream.write_all(bytes)?,
            ScriptStep::Pieces(bytes, size) => bytes.chunks(*size).try_for_each(|piece| {
                stream.write_all(piece)?;
                stream.flush()
            })?,
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
    let target = head.split(' ').nth(1).unwrap_or("/");
    // A request to a proxy has the whole address.
    let path =
        target.strip_prefix("http://").and_then(|rest| Some(&rest[rest.find('/')?..])).unwrap_or(target).to_owned();
    Some(Asked { path, head: head.to_ascii_lowercase(), port, stream: 0 })
}

/// Without a linger time, closing sends RST instead of FIN.
fn reset(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
