//! The debugging protocol of Chromium over pipes: JSON with a zero byte behind each message.
//! <https://chromedevtools.github.io/devtools-protocol/>

use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Longest message that is read. A page cannot send a longer one: requests and documents are bounded.
const MAX_MESSAGE: usize = 64 << 20;
/// Most bytes of what the browser prints that are kept.
const MAX_PRINTED: usize = 2 << 10;

/// Most events of a session that wait, for as long as a part of its page is on its way.
pub(crate) const MAX_WAITING: usize = 5_000;
/// Longest text of an event that is kept. A request with a longer address is not sent.
const MAX_TEXT: usize = 8 << 10;

/// An event of a session, with what is needed of it.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) session: String,
    pub(crate) kind: EventKind,
}

#[derive(Debug)]
pub(crate) enum EventKind {
    Loaded,
    Crashed,
    Dialog,
    /// A frame or a worker is there, and waits.
    Attached {
        session: String,
        kind: String,
    },
    Begun {
        id: String,
    },
    Ended {
        id: String,
    },
    Requested(Request),
}

/// A request that waits for its answer.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: String,
    /// Its id in the events of its beginning and its end.
    pub(crate) network_id: String,
    pub(crate) frame: String,
    pub(crate) url: String,
    pub(crate) method: String,
    /// Its `resourceType`.
    pub(crate) kind: String,
    pub(crate) accept: Option<String>,
    pub(crate) origin: Option<String>,
    /// Whether it is made ahead of its use (`sec-purpose: prefetch`).
    pub(crate) is_prefetch: bool,
}

impl EventKind {
    /// `None` for an event that says nothing to us.
    fn of(method: &str, params: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().filter(|text| text.len() <= MAX_TEXT).unwrap_or_default().to_owned();
        Some(match method {
            "Page.loadEventFired" => Self::Loaded,
            "Inspector.targetCrashed" => Self::Crashed,
            "Page.javascriptDialogOpening" => Self::Dialog,
            "Target.attachedToTarget" => {
                Self::Attached { session: text(&params["sessionId"]), kind: text(&params["targetInfo"]["type"]) }
            }
            "Network.requestWillBeSent" => Self::Begun { id: text(&params["requestId"]) },
            "Network.loadingFinished" | "Network.loadingFailed" => Self::Ended { id: text(&params["requestId"]) },
            "Fetch.requestPaused" => {
                let request = &params["request"];
                let header = |name: &str| {
                    let headers = request["headers"].as_object().into_iter().flatten();
                    let mut found = headers.filter(|(known, _)| known.eq_ignore_ascii_case(name));
                    found.next().map(|(_, value)| text(value)).filter(|value| value.len() <= MAX_HEADER)
                };
                Self::Requested(Request {
                    id: text(&params["requestId"]),
                    network_id: text(&params["networkId"]),
                    frame: text(&params["frameId"]),
                    url: text(&request["url"]),
                    method: text(&request["method"]),
                    kind: text(&params["resourceType"]),
                    accept: header("accept"),
                    origin: header("origin"),
                    is_prefetch: header("sec-purpose").is_some(),
                })
            }
            _ => return None,
        })
    }
}

/// Longest value of a header that a page may choose.
const MAX_HEADER: usize = 256;

pub(crate) type Events = mpsc::Receiver<Event>;
/// The result of a command: its `result`, or the message of its error. Never comes if the browser ends.
pub(crate) type Reply = oneshot::Receiver<Result<Value, String>>;

#[derive(Default)]
struct State {
    next_id: Cell<u64>,
    replies: RefCell<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
    sessions: RefCell<HashMap<String, mpsc::Sender<Event>>>,
    /// Sessions with more events than may wait.
    flooded: RefCell<HashSet<String>>,
    printed: RefCell<String>,
    is_closed: Cell<bool>,
}

/// The connection to a browser.
pub(crate) struct Pipe {
    state: Rc<State>,
    send: mpsc::UnboundedSender<Vec<u8>>,
    tasks: [JoinHandle<()>; 3],
}

impl Pipe {
    /// Speaks over the pipes of a process. Runs in a `LocalSet`.
    pub(crate) fn open(to: ChildStdin, from: ChildStdout, printed: ChildStderr) -> io::Result<Self> {
        let state = Rc::new(State::default());
        let to = pipe::Sender::from_owned_fd(OwnedFd::from(to))?;
        let from = pipe::Receiver::from_owned_fd(OwnedFd::from(from))?;
        let printed = pipe::Receiver::from_owned_fd(OwnedFd::from(printed))?;
        let (send, messages) = mpsc::unbounded_channel();
        let tasks = [
            tokio::task::spawn_local(write(to, messages)),
            tokio::task::spawn_local(read(from, state.clone())),
            tokio::task::spawn_local(keep_printed(printed, state.clone())),
        ];
        Ok(Self { state, send, tasks })
    }

    /// Sends a command to a session, or to the browser.
    pub(crate) fn send(&self, session: Option<&str>, method: &str, params: Value) -> Reply {
        let id = self.state.next_id.get() + 1;
        self.state.next_id.set(id);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let (reply, replied) = oneshot::channel();
        if !self.state.is_closed.get() {
            self.state.replies.borrow_mut().insert(id, reply);
            let mut bytes = message.to_string().into_bytes();
            bytes.push(0);
            let _ = self.send.send(bytes);
        }
        replied
    }

    /// Lets the events of a session go to a receiver.
    pub(crate) fn subscribe(&self, session: &str, events: mpsc::Sender<Event>) {
        self.state.sessions.borrow_mut().insert(session.to_owned(), events);
    }

    pub(crate) fn unsubscribe(&self, session: &str) {
        self.state.sessions.borrow_mut().remove(session);
        self.state.flooded.borrow_mut().remove(session);
    }

    /// Whether more events of a session came than may wait. Some of them are lost.
    pub(crate) fn is_flooded(&self, session: &str) -> bool {
        self.state.flooded.borrow().contains(session)
    }

    /// Whether the browser has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.is_closed.get()
    }

    /// The last lines that the browser printed.
    pub(crate) fn printed(&self) -> String {
        self.state.printed.borrow().trim().to_owned()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn write(mut to: pipe::Sender, mut messages: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(message) = messages.recv().await {
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

async fn read(mut from: pipe::Receiver, state: Rc<State>) {
    let mut buffer = Vec::with_capacity(64 << 10);
    loop {
        let searched = buffer.len();
        match from.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let mut start = 0;
        let mut search = searched;
        while let Some(length) = buffer[search..].iter().position(|byte| *byte == 0) {
            let end = search + length;
            take(&buffer[start..end], &state);
            (start, search) = (end + 1, end + 1);
        }
        buffer.drain(..start);
        if buffer.len() > MAX_MESSAGE {
            tracing::warn!("the browser sent a message of more than {} MiB; it is ended", MAX_MESSAGE >> 20);
            break;
        }
    }
    state.is_closed.set(true);
    // Who waits for a reply or an event learns that none comes.
    state.replies.borrow_mut().clear();
    state.sessions.borrow_mut().clear();
}

fn take(message: &[u8], state: &State) {
    let Ok(mut message) = serde_json::from_slice::<Value>(message) else { return };
    if let Some(id) = message["id"].as_u64() {
        if let Some(reply) = state.replies.borrow_mut().remove(&id) {
            let error = message["error"]["message"].as_str().map(str::to_owned);
            let _ = reply.send(error.map_or_else(|| Ok(message["result"].take()), Err));
        }
        return;
    }
    let (Some(session), Some(method)) = (message["sessionId"].as_str(), message["method"].as_str()) else { return };
    let Some(kind) = EventKind::of(method, &message["params"]) else { return };
    if let Some(events) = state.sessions.borrow().get(session)
        && let Err(mpsc::error::TrySendError::Full(event)) =
            events.try_send(Event { session: session.to_owned(), kind })
    {
        state.flooded.borrow_mut().insert(event.session);
    }
}

async fn keep_printed(mut from: pipe::Receiver, state: Rc<State>) {
    let mut bytes = [0; 1 << 10];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let mut printed = state.printed.borrow_mut();
        printed.push_str(&String::from_utf8_lossy(&bytes[..length]));
        let mut from = printed.len().saturating_sub(MAX_PRINTED);
        while !printed.is_char_boundary(from) {
            from += 1;
        }
        printed.drain(..from);
    }
}
