//! PDF documents of a writer of our own, and of some programs.

mod edits;
mod hostile;
mod programs;
mod reading;
mod writer;
