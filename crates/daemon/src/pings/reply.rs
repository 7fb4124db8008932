//! Reply to a ping.

use messages::ChangeHint;

/// Pages of a request that were not admitted, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RejectionCounts {
    /// Refused pages; the answer names the reason.
    pub refused: u64,
    /// Messages that fail authentication; the answer to their sender does not say so.
    pub ignored: u64,
}

/// The answer to a request, and the hints that must be in the log before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct PingReply {
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
    /// Admitted hints.
    pub hints: Vec<ChangeHint>,
    pub counts: RejectionCounts,
}

impl PingReply {
    pub(crate) fn text(status: u16, text: &str) -> Self {
        let body = if text.is_empty() { String::new() } else { format!("{text}\n") };
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    pub(crate) fn json(status: u16, value: &serde_json::Value) -> Self {
        Self::new(status, "application/json", value.to_string())
    }

    fn new(status: u16, content_type: &'static str, body: String) -> Self {
        Self { status, content_type, body, hints: Vec::new(), counts: RejectionCounts::default() }
    }
}
