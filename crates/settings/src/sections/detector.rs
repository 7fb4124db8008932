//! The section `[detector]`.

use crate::form::{Choice, Count, Flag, Size};

section! {
    /// Whether a page changed, and whether the change means anything.
    detector: Detector {
        /// The copy kept of every page.
        contents: Contents = Choice(&[
            ("none", Contents::None),
            ("text", Contents::Text),
            ("body", Contents::Body),
        ]),
        /// Longest copy, in bytes; of a longer page the beginning is kept.
        max_content: u64 = Size(1 << 10, 7 << 20),
        /// Most added and most removed passages reported per change.
        passages: usize = Count::new(0, 10_000),
        /// Whether pages with the same text share one stream of fetches.
        mirrors: bool = Flag,
    }
}

/// What is kept of a page's last accepted version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Nothing.
    None,
    /// What a reader sees.
    Text,
    /// The bytes as received.
    Body,
}
