//! The section `[observability]`.

use super::common::not_empty;
use crate::form::{Choice, Text};

section! {
    /// What an operator sees.
    observability: Observability {
        /// Form of log lines.
        log_format: LogFormat = Choice(&[("text", LogFormat::Text), ("json", LogFormat::Json)]),
        /// Least level logged, also per module, as `tracing_subscriber::EnvFilter` reads it.
        log_filter: String = Text("a level, also per module, such as \"info\" or \"warn,fetcher=debug\"", not_empty),
    }
}

/// Form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}
