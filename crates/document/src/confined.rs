//! Bodies that are read in a process of their own, because no reader of them can be bounded from inside.

use std::fmt;

/// Reads bodies of formats that [`crate::Format`] leaves to a process with limits, such as PDF.
pub trait ReadConfined: fmt::Debug + Send + Sync {
    /// The body as HTML, in UTF-8.
    ///
    /// # Errors
    /// Why its digest counts instead.
    fn html(&self, body: &[u8]) -> Result<String, NotRead>;
}

/// Why the text of a document is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRead {
    /// It asks for a password.
    Encrypted,
    /// It breaks the rules of its format.
    Damaged,
    /// It has pictures only, or characters whose meaning it does not say.
    NoText,
    /// It has more pages, characters or text than are read.
    TooMuch,
    /// Its reader did not answer in time, or needed more time or memory than it may have.
    OverLimits,
    /// There is no process to read it in.
    NoReader,
}

impl NotRead {
    /// All reasons. Their order is that of their numbers between processes.
    pub const ALL: [Self; 6] =
        [Self::Encrypted, Self::Damaged, Self::NoText, Self::TooMuch, Self::OverLimits, Self::NoReader];
}
