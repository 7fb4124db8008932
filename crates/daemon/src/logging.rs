//! Logs go to stderr, as text for people or as one JSON object per line for machines.

use settings::{LogFormat, Observability};
use tracing_subscriber::EnvFilter;

/// Starts logging. A second call changes nothing.
pub fn start(settings: &Observability) {
    let filter = EnvFilter::try_new(&settings.log_filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let colours = colours && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    let _ = match settings.log_format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}
