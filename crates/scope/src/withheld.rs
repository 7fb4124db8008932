//! The headers of rules that are not sent, because they may be secrets and their pattern does not say where they may go.

use std::fmt;

/// Headers of a rule that requests for a page do not carry. Displays as the sentence that says so, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldHeaders {
    /// Name of the rule, or its number.
    pub rule: String,
    /// The names of the headers, with commas.
    pub headers: String,
    /// The pattern that names the page.
    pub pattern: String,
    /// The page.
    pub url: String,
    /// The pattern by which they would be sent.
    pub remedy: String,
}

impl fmt::Display for WithheldHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, headers, pattern, url, remedy } = self;
        write!(
            f,
            "rule {rule} does not send {headers} to {url}: headers may be secrets, and {pattern:?} does not name this scheme and port; \
             write {remedy:?} beside it in pages"
        )
    }
}
