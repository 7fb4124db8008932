//! The section `[detector]`.

use super::common::DAY;
use crate::form::{Choice, Count, Flag, Number, Optional, OrWord, Size, Span};
use std::time::Duration;

section! {
    /// Detection of changes and their significance.
    detector: Detector {
        /// Which copy of every page is kept.
        contents: Contents = Choice(&[
            ("none", Contents::None),
            ("text", Contents::Text),
            ("body", Contents::Body),
        ]),
        /// Longest copy, in bytes. Only the beginning of a longer page is kept.
        max_content: u64 = Size(1 << 10, 7 << 20),
        /// Most versions of a page that are kept beside the last one.
        history: u32 = HISTORY,
        /// For how long a version is kept after the page has shown it.
        history_age: Duration = HISTORY_AGE,
        /// Most bytes of the versions of a page beside the last one, as they are kept.
        history_bytes: u64 = HISTORY_BYTES,
        /// Most bytes of all copies together. `None` means that only their number and length are limited.
        max_contents: Option<u64> = Optional(Size(1 << 20, 1 << 50)),
        /// Most units listed per change.
        listed_changes: usize = Count::new(0, 10_000),
        /// Whether a page that is not found is reported before it is certain that it is gone.
        missing: bool = Flag,
        /// Whether pages that are copies of each other are fetched through one of them.
        mirrors: bool = Flag,
        /// Share of their links from which on pages are copies by links. `None` means that texts alone decide.
        mirror_links: Option<f64> = OrWord("off", Number(0.7, 1.0)),
    }
}

pub(crate) const HISTORY: Count<u32> = Count::new(0, 1_000);
pub(crate) const HISTORY_AGE: Span = Span(DAY, Duration::from_secs(36_500 * 86_400));
pub(crate) const HISTORY_BYTES: Size = Size(0, 16 << 20);

/// Which copy of a page's last accepted version is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Nothing.
    None,
    /// The visible text.
    Text,
    /// The body as received.
    Body,
}
