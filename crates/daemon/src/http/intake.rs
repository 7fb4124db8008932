//! Takes requests with a body within limits: of each body, of all bodies together, and of requests answered at once.

use super::TextResponse;
use super::connections::Place;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Requests of one kind.
pub(super) struct Intake {
    most_bytes: usize,
    /// Bytes that all bodies together may still grow by.
    room: Arc<Semaphore>,
    /// Requests that may be answered besides those that are.
    turns: Arc<Semaphore>,
    /// Longest wait for a body, and then for a turn.
    step_timeout: Duration,
}

/// A whole body, with its share of the room.
struct Body {
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl Intake {
    pub(super) fn new(
        most_bytes: usize,
        most_bytes_in_total: usize,
        most_at_once: usize,
        step_timeout: Duration,
    ) -> Self {
        let (room, turns) = (Semaphore::new(most_bytes_in_total), Semaphore::new(most_at_once));
        Self { most_bytes, room: Arc::new(room), turns: Arc::new(turns), step_timeout }
    }

    /// Receives the body, waits for a turn, and answers on a thread of its own: an answer may have to wait for the log,
    /// and other requests must not wait with it.
    pub(super) async fn answer(
        &self,
        place: &Place,
        body: Incoming,
        answer: impl FnOnce(&[u8]) -> TextResponse + Send + 'static,
    ) -> TextResponse {
        let seconds = self.step_timeout.as_secs_f64();
        let body = match timeout(self.step_timeout, self.receive(body)).await {
            Ok(Ok(body)) => body,
            Ok(Err(refusal)) => return refusal,
            Err(_) => return TextResponse::problem(408, format!("the body was not complete within {seconds} s")),
        };
        let Ok(turn) = timeout(self.step_timeout, self.turns.clone().acquire_owned()).await else {
            return TextResponse::problem(503, format!("others are not answered within {seconds} s; try again"));
        };
        let _answering = place.answering();
        let answered = tokio::task::spawn_blocking(move || {
            // Held here, because this goes on if the client leaves.
            let (_turn, body) = (turn, body);
            answer(&body.bytes)
        });
        // The panic is in the log. Its words may quote what the caller may not see.
        let failed = "a fault of recrawl kept the request from its answer; the log says which";
        answered.await.unwrap_or_else(|_| TextResponse::problem(500, failed))
    }

    /// Receives a body, or says why not. Room is taken for the bytes received, not for the length announced.
    async fn receive(&self, mut body: Incoming) -> Result<Body, TextResponse> {
        let full = || TextResponse::problem(503, "too many long requests at once; try again");
        let room = |bytes: usize| {
            let bytes = u32::try_from(bytes).map_err(|_| full())?;
            self.room.clone().try_acquire_many_owned(bytes).map_err(|_| full())
        };
        let (mut bytes, mut held) = (Vec::new(), room(0)?);
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|error| TextResponse::problem(400, format!("cannot read the request: {error}")))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > self.most_bytes {
                return Err(TextResponse::problem(413, format!("the body is larger than {} bytes", self.most_bytes)));
            }
            held.merge(room(data.len())?);
            bytes.extend_from_slice(&data);
        }
        Ok(Body { bytes, _room: held })
    }
}
