//! The kinds of text that a server gives in a page's place.

use serde::Serialize;

/// The looks of a version that is not the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StandIn {
    /// The page's frame at most, without its text.
    Empty,
    Maintenance,
    /// A question for consent: cookies, privacy, age.
    Consent,
    Login,
    /// An error, a refusal, a test for robots.
    Error,
    /// None of these.
    OtherPage,
}
