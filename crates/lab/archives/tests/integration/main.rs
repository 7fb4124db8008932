//! Labels of the corpora.

mod corpora;
mod labels;
