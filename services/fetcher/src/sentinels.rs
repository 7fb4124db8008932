//! From which parts a page was rendered, so that a browser is spared where all of them are as they were.

use browser::{PartAnswer, PartRequest};
use messages::Digest;
use page::{PageId, Timestamp};
use std::collections::HashMap;
use std::time::Duration;

/// Most bytes that are remembered, of all pages. Beyond that all are forgotten: their pages are rendered once more.
const MOST_BYTES: usize = 64 << 20;
/// After this time a page is rendered whatever its parts say: scripts know what day it is.
const AT_MOST: Duration = Duration::from_secs(86_400);

/// A rendered document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RenderedCopy {
    pub(crate) digest: Digest,
    /// Its length in bytes.
    pub(crate) length: usize,
}

/// A part that came when a page was rendered.
#[derive(Clone, Debug)]
pub(crate) struct SeenPart {
    pub(crate) request: PartRequest,
    pub(crate) digest: Digest,
}

impl SeenPart {
    pub(crate) fn new(request: PartRequest, answer: &PartAnswer) -> Self {
        Self { request, digest: digest_of(answer) }
    }

    pub(crate) fn is_as_it_was(&self, answer: &PartAnswer) -> bool {
        self.digest == digest_of(answer)
    }
}

/// The documents and parts that pages were rendered from.
#[derive(Default)]
pub(crate) struct Sentinels {
    pages: HashMap<PageId, Sentinel>,
    bytes: usize,
}

struct Sentinel {
    sent: Digest,
    parts: Vec<SeenPart>,
    copy: RenderedCopy,
    rendered_at: Timestamp,
}

impl Sentinels {
    /// The parts to look at before a page is rendered: its server has sent the same document as for the copy that the requester
    /// has.
    pub(crate) fn of(
        &self,
        page: PageId,
        sent: Digest,
        known: Option<Digest>,
        now: Timestamp,
    ) -> Option<(Vec<SeenPart>, RenderedCopy)> {
        let sentinel = self.pages.get(&page)?;
        let is_current = now.saturating_since(sentinel.rendered_at) < AT_MOST;
        let holds = is_current && sentinel.sent == sent && known == Some(sentinel.copy.digest);
        holds.then(|| (sentinel.parts.clone(), sentinel.copy))
    }

    /// Whether the copy that somebody has of a page is a rendered one.
    pub(crate) fn is_rendered(&self, page: PageId, known: Option<Digest>) -> bool {
        self.pages.get(&page).is_some_and(|sentinel| known == Some(sentinel.copy.digest))
    }

    /// Forgets from what a page was rendered, but not that it was: all of its parts are to be looked at by a browser.
    pub(crate) fn note_without_parts(&mut self, page: PageId, copy: RenderedCopy) {
        self.note(page, copy.digest, Vec::new(), copy, Timestamp::MIN);
    }

    /// Remembers from what a page was rendered.
    pub(crate) fn note(
        &mut self,
        page: PageId,
        sent: Digest,
        parts: Vec<SeenPart>,
        copy: RenderedCopy,
        rendered_at: Timestamp,
    ) {
        let sentinel = Sentinel { sent, parts, copy, rendered_at };
        if self.bytes + sentinel.bytes() > MOST_BYTES {
            *self = Self::default();
        }
        self.bytes += sentinel.bytes();
        if let Some(earlier) = self.pages.insert(page, sentinel) {
            self.bytes -= earlier.bytes();
        }
    }
}

impl Sentinel {
    fn bytes(&self) -> usize {
        let of_part =
            |part: &SeenPart| part.request.url.len() + part.request.accept.as_ref().map_or(0, String::len) + 128;
        self.parts.iter().map(of_part).sum::<usize>() + 256
    }
}

fn digest_of(answer: &PartAnswer) -> Digest {
    let head = format!("{} {:?} {:?}\n", answer.status, answer.content_type, answer.location);
    Digest::of(&[head.as_bytes(), &answer.body].concat())
}
