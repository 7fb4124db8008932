//! The section `[detector]`.

use crate::form::{Choice, Count, Flag, Optional, Size};

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
        /// Most bytes of all copies together. `None` means that only their number and length are limited.
        max_contents: Option<u64> = Optional(Size(1 << 20, 1 << 50)),
        /// Most units listed per change.
        listed_changes: usize = Count::new(0, 10_000),
        /// Whether a page that is not found is reported before it is certain that it is gone.
        missing: bool = Flag,
        /// Whether pages with the same text are fetched through one of them.
        mirrors: bool = Flag,
    }
}

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
