//! Pages of which no text is read, and what that means for people who watch them.

use crate::Detector;
use crate::state::PageSketch;
use document::{ContentKind, NotRead, PageText};
use messages::{FetchResult, Verdict};
use serde::{Deserialize, Serialize};

/// The most pages of a partition without text that are logged by a process. All are counted.
const MOST_LOGGED: u64 = 20;

/// Why no text of a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unread {
    /// It shows none without its scripts and pictures.
    NoText,
    /// It is a picture or another file whose text is not read.
    NotText,
    /// It is a document that asks for a password.
    Encrypted,
    /// It is a document that breaks the rules of its format.
    Damaged,
    /// It is a document of pictures, or of characters whose meaning it does not say.
    NoTextLayer,
    /// It is a document that has more text, or takes more time or memory, than documents may.
    OverLimits,
    /// It is a document, and no process to read it in could be started.
    NoReader,
}

impl Unread {
    /// The reason why no text of a page is read, given how its reading went if it is a document. `None` if some is.
    pub(crate) fn of(page: &PageText, reading: Option<Result<(), NotRead>>) -> Option<Self> {
        match page.kind {
            _ if let Some(Err(reason)) = reading => Some(Self::from(reason)),
            ContentKind::Opaque => Some(Self::NotText),
            _ if page.text.trim().is_empty() => Some(Self::NoText),
            _ => None,
        }
    }

    /// The consequence for people who watch the page.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NoText => {
                "it has no text without its scripts and pictures; only its title, links, names of pictures and structured data are compared; a rule with render = \"auto\" lets a browser show it"
            }
            Self::NotText => "it is a file whose text is not read; only its digest is compared",
            Self::Encrypted => "it is a document that asks for a password; only its digest is compared",
            Self::Damaged => "it is a damaged document; only its digest is compared",
            Self::NoTextLayer => {
                "it is a document without text, such as pictures of pages; only its digest is compared"
            }
            Self::OverLimits => {
                "it is a document that cannot be read within the limits of time, memory and length; only its digest is compared"
            }
            Self::NoReader => {
                "it is a document, and no process to read it in could be started, see the log; only its digest is compared"
            }
        }
    }
}

impl From<NotRead> for Unread {
    fn from(reason: NotRead) -> Self {
        match reason {
            NotRead::Encrypted => Self::Encrypted,
            NotRead::Damaged => Self::Damaged,
            NotRead::NoText => Self::NoTextLayer,
            NotRead::TooMuch | NotRead::OverLimits => Self::OverLimits,
            NotRead::NoReader => Self::NoReader,
        }
    }
}

impl Detector {
    /// Counts and logs the first look at a page of which no text is read.
    pub(crate) fn note_unread(&mut self, verdict: Verdict, result: &FetchResult, sketch: &PageSketch) {
        let Some(unread) = sketch.unread.filter(|_| verdict == Verdict::First) else { return };
        self.counts.unread += 1;
        if self.counts.unread <= MOST_LOGGED {
            let (url, why) = (&result.look.url, unread.in_words());
            tracing::info!(%url, why, "no text of a page is read");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_unread_if_nothing_but_scripts_and_pictures_shows_text() {
        let unread = |content_type: &str, body: &[u8]| {
            let body = document::Body::new(body, Some(content_type), None);
            let page = body.text();
            Unread::of(&page, body.confined_reading())
        };
        for (body, expected) in [
            ("<title>Menu</title><a href=/menu><img src=menu.png alt=Menu></a>", Some(Unread::NoText)),
            ("<noscript>Turn on scripts.</noscript><div id=root></div><script>start()</script>", Some(Unread::NoText)),
            ("<body style='background: url(poster.png)'> \u{a0} <p></p>", Some(Unread::NoText)),
            ("", Some(Unread::NoText)),
            ("<img src=menu.png><p>Open until nine", None),
        ] {
            assert_eq!(unread("text/html", body.as_bytes()), expected, "{body}");
        }
        assert_eq!(unread("application/pdf", b"%PDF-1.7 \x01"), Some(Unread::NoReader));
        assert_eq!(unread("image/png", b"\x89PNG\r\n\x1a\n"), Some(Unread::NotText));
        assert_eq!(unread("application/json", b"{\"price\": 5}"), None);
        assert_eq!(unread("text/plain", b"It rains."), None);
    }
}
