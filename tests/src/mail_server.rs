//! A mail server that takes mail, and fails where a test says.

use crate::web::certified;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::NamedTempFile;

/// A step of a conversation (RFC 5321).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailStep {
    /// The connection is there, and nothing was said.
    Connected,
    Hello,
    /// `STARTTLS`. A connection changes to TLS after any answer.
    StartTls,
    Sender,
    Recipient,
    /// `DATA`, before the mail.
    Data,
    /// The mail is there, and its server has not answered yet.
    Content,
}

/// A fault of the server, in place of what it should do.
#[derive(Clone, Debug)]
pub enum MailFault {
    /// Answers with this line.
    Say(&'static str),
    /// Closes the connection.
    Close,
    /// Takes the mail, and closes the connection in place of an answer. Only after the mail.
    TakeAndClose,
    /// Takes the mail, and says nothing until the other side has gone. Only after the mail.
    TakeAndHold,
}

/// A mail that was taken.
#[derive(Clone, Debug)]
pub struct ReceivedMail {
    pub from: String,
    pub to: String,
    /// Headers by their names in lower case, unfolded.
    pub headers: BTreeMap<String, String>,
    /// The fault that follows them.
    pub body: String,
    /// Whether its sender was answered that it is taken.
    pub was_confirmed: bool,
}

/// A step as it was reached.
#[derive(Clone, Debug)]
pub struct Reached {
    pub step: MailStep,
    /// How often it was reached before, by anybody.
    pub before: usize,
    /// The line of the sender.
    pub line: String,
}

type Behaviour = dyn Fn(&Reached) -> Option<MailFault> + Send + Sync;

/// The server. Its threads live as long as the test's process.
pub struct MailServer {
    address: SocketAddr,
    state: Arc<State>,
    authority: Option<NamedTempFile>,
}

/// When a connection changes to TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    AtOnce,
    WhenAsked,
}

/// A connection, before and after that.
enum Wire {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
    Closed,
}

struct State {
    behaviour: Box<Behaviour>,
    tls: Option<(Change, Arc<ServerConfig>)>,
    taken: Mutex<Vec<ReceivedMail>>,
    steps: Mutex<BTreeMap<MailStep, usize>>,
}

impl MailServer {
    /// A server on loopback that fails as `behaviour` says.
    pub fn start(behaviour: impl Fn(&Reached) -> Option<MailFault> + Send + Sync + 'static) -> Self {
        Self::listen(behaviour, None)
    }

    /// A server as `localhost` whose connections begin with TLS, with a certificate that no sender trusts by itself.
    pub fn start_with_tls(behaviour: impl Fn(&Reached) -> Option<MailFault> + Send + Sync + 'static) -> Self {
        let (tls, authority) = certified(vec!["localhost".to_owned()]);
        Self { authority: Some(authority), ..Self::listen(behaviour, Some((Change::AtOnce, tls))) }
    }

    /// The same, whose connections change to TLS by `STARTTLS`.
    pub fn start_with_starttls(behaviour: impl Fn(&Reached) -> Option<MailFault> + Send + Sync + 'static) -> Self {
        let (tls, authority) = certified(vec!["localhost".to_owned()]);
        Self { authority: Some(authority), ..Self::listen(behaviour, Some((Change::WhenAsked, tls))) }
    }

    fn listen(
        behaviour: impl Fn(&Reached) -> Option<MailFault> + Send + Sync + 'static,
        tls: Option<(Change, Arc<ServerConfig>)>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("it is bound");
        let state =
            Arc::new(State { behaviour: Box::new(behaviour), tls, taken: Mutex::default(), steps: Mutex::default() });
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || {
                    // A sender that was killed breaks its conversation off.
                    let _ = state.converse(stream);
                });
            }
        });
        Self { address, state, authority: None }
    }

    /// Its address, as settings have it.
    pub fn url(&self) -> String {
        match &self.state.tls {
            None => format!("smtp://{}", self.address),
            Some((Change::AtOnce, _)) => format!("smtps://localhost:{}", self.address.port()),
            Some((Change::WhenAsked, _)) => format!("smtp://localhost:{}", self.address.port()),
        }
    }

    /// File with its certificate authority.
    pub fn authority(&self) -> Option<PathBuf> {
        self.authority.as_ref().map(|file| file.path().to_owned())
    }

    /// The mails that were taken, confirmed or not.
    pub fn taken(&self) -> Vec<ReceivedMail> {
        self.state.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often a step was reached.
    pub fn reached(&self, step: MailStep) -> usize {
        self.state.steps.lock().unwrap_or_else(PoisonError::into_inner).get(&step).copied().unwrap_or(0)
    }
}

impl State {
    fn reach(&self, step: MailStep, line: &str) -> Option<MailFault> {
        let before = {
            let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            let count = steps.entry(step).or_default();
            *count += 1;
            *count - 1
        };
        (self.behaviour)(&Reached { step, before, line: line.to_owned() })
    }

    fn converse(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut wire = Wire::Plain(stream);
        if let Some((Change::AtOnce, tls)) = &self.tls {
            wire.change(tls)?;
        }
        let mut lines = BufReader::new(wire);
        match self.reach(MailStep::Connected, "") {
            None => say(&mut lines, "220 test ESMTP")?,
            Some(MailFault::Say(line)) => say(&mut lines, line)?,
            Some(_) => return Ok(()),
        }
        let (mut from, mut to) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            let offers_tls = matches!((&self.tls, lines.get_ref()), (Some((Change::WhenAsked, _)), Wire::Plain(_)));
            let (step, usual) = match verb.as_str() {
                "STARTTLS" => {
                    let said = match self.reach(MailStep::StartTls, &line) {
                        Some(MailFault::Say(said)) => said,
                        _ => "220 go on",
                    };
                    say(&mut lines, said)?;
                    let mut wire = lines.into_inner();
                    if let Some((_, tls)) = &self.tls {
                        wire.change(tls)?;
                    }
                    lines = BufReader::new(wire);
                    continue;
                }
                "EHLO" | "HELO" if offers_tls => (MailStep::Hello, "250-test\r\n250 STARTTLS"),
                "EHLO" | "HELO" => (MailStep::Hello, "250-test\r\n250 8BITMIME"),
                "MAIL" => (MailStep::Sender, "250 2.1.0 ok"),
                "RCPT" => (MailStep::Recipient, "250 2.1.5 ok"),
                "DATA" => (MailStep::Data, "354 go on"),
                "QUIT" => return say(&mut lines, "221 bye"),
                _ => {
                    say(&mut lines, "250 ok")?;
                    continue;
                }
            };
            match self.reach(step, &line) {
                Some(MailFault::Say(fault)) => {
                    say(&mut lines, fault)?;
                    continue;
                }
                Some(_) => return Ok(()),
                None => say(&mut lines, usual)?,
            }
            let address = || line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            match step {
                MailStep::Sender => from = address(),
                MailStep::Recipient => to = address(),
                MailStep::Data => {
                    let mail = received(&from, &to, &content(&mut lines)?);
                    match self.reach(MailStep::Content, "") {
                        Some(MailFault::Say(fault)) => say(&mut lines, fault)?,
                        Some(MailFault::Close) => return Ok(()),
                        Some(MailFault::TakeAndClose) => {
                            self.take(mail, false);
                            return Ok(());
                        }
                        Some(MailFault::TakeAndHold) => {
                            self.take(mail, false);
                            lines.read_line(&mut String::new())?;
                            return Ok(());
                        }
                        None => {
                            self.take(mail, true);
                            say(&mut lines, "250 2.0.0 taken")?;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn take(&self, mail: ReceivedMail, was_confirmed: bool) {
        let mail = ReceivedMail { was_confirmed, ..mail };
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
    }
}

impl Wire {
    fn change(&mut self, tls: &Arc<ServerConfig>) -> std::io::Result<()> {
        if let Wire::Plain(stream) = std::mem::replace(self, Wire::Closed) {
            let connection = ServerConnection::new(tls.clone()).map_err(std::io::Error::other)?;
            *self = Wire::Tls(Box::new(StreamOwned::new(connection, stream)));
        }
        Ok(())
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Wire::Plain(stream) => stream.read(into),
            Wire::Tls(stream) => stream.read(into),
            Wire::Closed => Ok(0),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Wire::Plain(stream) => stream.write(bytes),
            Wire::Tls(stream) => stream.write(bytes),
            Wire::Closed => Ok(0),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Wire::Plain(stream) => stream.flush(),
            Wire::Tls(stream) => stream.flush(),
            Wire::Closed => Ok(()),
        }
    }
}

fn say(lines: &mut BufReader<Wire>, line: &str) -> std::io::Result<()> {
    lines.get_mut().write_all(format!("{line}\r\n").as_bytes())?;
    lines.get_mut().flush()
}

/// The lines of a mail up to the dot.
fn content(lines: &mut impl BufRead) -> std::io::Result<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(text);
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}

fn received(from: &str, to: &str, text: &str) -> ReceivedMail {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let head = head.replace("\r\n ", " ");
    let header = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        Some((name.to_ascii_lowercase(), value.to_owned()))
    };
    ReceivedMail {
        from: from.to_owned(),
        to: to.to_owned(),
        headers: head.split("\r\n").filter_map(header).collect(),
        body: body.to_owned(),
        was_confirmed: false,
    }
}
