//! Holds the figures of the benchmark as limits.

mod edits;
