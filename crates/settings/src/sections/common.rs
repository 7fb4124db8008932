//! Forms and bounds shared by several sections.

use crate::form::Parsed;
use page::CanonicalUrl;
use std::net::SocketAddr;
use std::time::Duration;

pub(super) const SECOND: Duration = page::SECOND;
pub(super) const MINUTE: Duration = page::MINUTE;
pub(super) const HOUR: Duration = page::HOUR;
pub(super) const DAY: Duration = page::DAY;
pub(super) const YEAR: Duration = Duration::from_secs(365 * 86_400);
pub(super) const TEN_YEARS: Duration = Duration::from_secs(3_650 * 86_400);
pub(super) const SOCKET: Parsed<SocketAddr> =
    Parsed("an IP address with a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\"", |text| text.parse().ok());

/// Whether a text is an address of HTTP that a path can be added to. User name and password are not allowed.
pub(super) fn is_http_base(text: &str) -> bool {
    let is_http = text.starts_with("http://") || text.starts_with("https://");
    is_http && !text.contains(['@', '?', '#']) && CanonicalUrl::parse(text).is_ok()
}

pub(super) fn not_empty(text: &str) -> bool {
    !text.trim().is_empty()
}

/// The address of a server. User name and password are not allowed here; they have their own settings.
pub(super) fn is_endpoint(text: &str) -> bool {
    !text.contains('@') && CanonicalUrl::parse(text).is_ok()
}
