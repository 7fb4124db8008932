//! Labels of the corpora.

mod labels;
