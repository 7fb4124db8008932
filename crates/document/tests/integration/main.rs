//! Texts and encodings of real pages.

mod encodings;
mod text_equality;
