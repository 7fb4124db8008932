//! Texts and encodings of real pages.

mod corpora;
mod encodings;
mod text_equality;
