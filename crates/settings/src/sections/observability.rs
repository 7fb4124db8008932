//! The section `[observability]`.

use super::common::not_empty;
use crate::form::{Choice, Text};

section! {
    /// Logging.
    observability: Observability {
        log_format: LogFormat = Choice(&[("text", LogFormat::Text), ("json", LogFormat::Json)]),
        /// Lowest level logged, optionally per module, in the syntax of `tracing_subscriber::EnvFilter`.
        log_filter: String = Text("a level, also per module, such as \"info\" or \"warn,fetcher=debug\"", not_empty),
    }
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}
