//! The section `[trace]`.

use super::common::is_http_base;
use crate::form::{Flag, Number, Optional, Path, Text};
use std::path::PathBuf;

section! {
    /// Traces of single pages on their way round the loop, for a collector of OpenTelemetry.
    trace: Trace {
        /// Base address of the collector. `None`: the variables of OpenTelemetry decide, or there are no traces.
        otlp_endpoint: Option<String> =
            Optional(Text("the base address of a collector, such as \"http://otel-collector:4318\"", is_http_base)),
        /// File with header lines for the collector.
        otlp_headers_file: Option<PathBuf> = Optional(Path("a file name, such as \"/run/secrets/otlp-headers\"")),
        /// PEM file with the certificate authorities for the collector. `None` means those of Mozilla.
        otlp_ca_file: Option<PathBuf> = Optional(Path("a file name, such as \"collector-ca.pem\"")),
        /// Share of the fetches that are traced.
        sample_ratio: f64 = Number(0.0, 1.0),
        /// Whether traces contain the addresses of pages.
        urls: bool = Flag,
    }
}
