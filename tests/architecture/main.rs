//! The walls of the house, checked by machine: which crate may reach what, and what a pure crate may not say.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

mod comments;
mod cycles;
mod dependencies;
mod documents;
mod features;
mod mixing;
mod monitoring;
mod words;

/// Crates that decide and compute, and the path of each below `crates/`. They take time and chance as arguments, so that
/// a replay of a year takes minutes and a simulation gives the same bytes for the same seed.
const PURE: [&str; 28] = [
    "chance",
    "page",
    "revisit",
    "policies",
    "politeness",
    "preferences",
    "sitemaps",
    "wide-bytes",
    "document",
    "pdf-html",
    "reading",
    "change",
    "scope",
    "watch",
    "mirrors",
    "change-rate",
    "sweeps",
    "frontier",
    "importance",
    "spam",
    "wire",
    "messages",
    "stream",
    "settings",
    "signatures",
    "focus",
    "topology",
    "warc",
];
