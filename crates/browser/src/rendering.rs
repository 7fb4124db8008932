//! A rendering's values: the document, its parts, and the door that they come through.

use bytes::Bytes;
use page::Timestamp;
use std::time::Duration;

/// A document as the server sent it.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its address, without a fragment.
    pub url: &'a str,
    /// The value of its header `content-type`.
    pub content_type: &'a str,
    pub body: &'a [u8],
    /// The time that its scripts see.
    pub now: Timestamp,
}

/// Kind of a part of a page, by the request for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    Script,
    /// A request of a script, for data as a rule.
    Data,
}

/// A request of a page for one of its parts.
#[derive(Clone, Debug)]
pub struct PartRequest {
    /// Its address. It may be any text that the page has made.
    pub url: String,
    pub kind: PartKind,
    /// The media types that the page asks for (`accept`).
    pub accept: Option<String>,
}

/// The answer to a [`PartRequest`].
#[derive(Clone, Debug, Default)]
pub struct PartAnswer {
    pub status: u16,
    pub content_type: Option<String>,
    /// Target of a redirect.
    pub location: Option<String>,
    pub body: Bytes,
    /// Whether a script of another origin may read it: anybody would get the same.
    pub is_for_anybody: bool,
}

/// Why a part does not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartRefusal {
    /// The page goes on without it.
    Blocked,
    /// The rendering is given up.
    GiveUp(String),
}

/// The way of a page's requests into the world.
pub trait Door {
    /// Asks for a part of the page.
    fn ask(&mut self, request: PartRequest) -> impl Future<Output = Result<PartAnswer, PartRefusal>>;
}

/// Limits of a rendering.
#[derive(Clone, Debug)]
pub struct RenderLimits {
    /// Longest time (real) that the browser may be at work on a page, without the time that its parts take.
    pub at_work: Duration,
    /// Most parts of a page that are asked for.
    pub parts: usize,
    /// Most characters of the rendered document.
    pub characters: usize,
    /// How far (virtual) the timers of the page run.
    pub timers: Duration,
    /// How long (real) nothing must have changed.
    pub quiet: Duration,
}

impl Default for RenderLimits {
    fn default() -> Self {
        Self {
            at_work: Duration::from_secs(30),
            parts: 100,
            characters: 8 << 20,
            timers: Duration::from_secs(5),
            quiet: Duration::from_millis(200),
        }
    }
}

/// A rendered page.
#[derive(Clone, Debug)]
pub struct RenderedPage {
    /// The document, in UTF-8. Shadow roots are in it as templates (`shadowrootmode`).
    pub html: String,
    /// Whether it was longer than allowed.
    pub is_cut: bool,
    /// Parts that the page asked for and that did not come.
    pub blocked: usize,
}

/// Why there is no rendered page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderFailure {
    /// The page kept the browser at work for too long.
    #[error("rendering: the page was not done within {0} s of work of the browser")]
    TookTooLong(u64),
    /// The page ended the process that rendered it.
    #[error("rendering: the page ended its browser process, perhaps by the memory that it took")]
    Crashed,
    /// The browser ended.
    #[error("rendering: the browser ended")]
    BrowserEnded,
    /// The browser refused a command.
    #[error("rendering: the browser refused {command}: {reason}")]
    Refused {
        /// Name of the command.
        command: &'static str,
        reason: String,
    },
    /// The page floods us with events.
    #[error("rendering: the page made more requests than can be looked at")]
    Floods,
    /// The page asks for too many parts.
    #[error("rendering: the page asked for more than {0} parts")]
    TooManyParts(usize),
    /// The door gave the rendering up.
    #[error("rendering: {0}")]
    GivenUp(String),
}
