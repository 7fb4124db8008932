//! Edits and labels of the corpora.

mod corpora;
mod edits;
mod labels;
