//! What is answered.

use messages::ChangeHint;

/// What became of the pages a request speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Refused, with a reason in the answer.
    pub refused: u64,
    /// Messages that were not what they claimed to be; their sender is not told.
    pub ignored: u64,
}

/// The answer to a request, and the hints that are to be in the log before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Media type.
    pub content_type: &'static str,
    /// Body.
    pub body: String,
    /// What was said, and let through.
    pub hints: Vec<ChangeHint>,
    /// What was not.
    pub counts: Counts,
}

impl Reply {
    pub(crate) fn text(status: u16, text: &str) -> Self {
        let body = if text.is_empty() { String::new() } else { format!("{text}\n") };
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    pub(crate) fn json(status: u16, value: &serde_json::Value) -> Self {
        Self::new(status, "application/json", value.to_string())
    }

    fn new(status: u16, content_type: &'static str, body: String) -> Self {
        Self { status, content_type, body, hints: Vec::new(), counts: Counts::default() }
    }
}
