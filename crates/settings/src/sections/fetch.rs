//! The section `[fetch]`.

use super::common::{DAY, HOUR, SOCKET};
use crate::fetch::AllowedAddress;
use crate::form::{Count, Flag, List, Map, Optional, Parsed, Password, Path, Ports, Size, Span, Through};
use crate::values::{Credentials, MediaRange, PortRange, Proxy, is_host_pattern};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

section! {
    /// How a page is got.
    fetch: Fetch {
        /// Most connections open at once.
        connections: usize = Count::new(1, 1_000_000),
        /// Longest wait for a connection, TLS included.
        connect_timeout: Duration = TIMEOUT,
        /// Longest time for one request, body included.
        total_timeout: Duration = TIMEOUT,
        /// Longest silence in the middle of an answer.
        idle_timeout: Duration = TIMEOUT,
        /// Longest decoded body, in bytes.
        max_body: u64 = Size(1 << 10, 7 << 20),
        /// Longest packed body received, in bytes before decompression.
        max_packed_body: u64 = Size(1 << 10, 1 << 30),
        /// Most decoded bytes per packed byte, from 64 KiB decoded on.
        max_pack_ratio: u64 = Count::new(2, 1_000_000),
        /// Redirects followed for one request.
        max_redirects: u32 = Count::new(0, 50),
        /// Longest response header, in bytes.
        max_header: u64 = Size(1 << 10, 1 << 24),
        /// Whether the heads of requests and responses travel with the results.
        record_heads: bool = Flag,
        /// Private addresses that may be reached all the same; see [`Fetch::allows_private`].
        allow_private_addresses: Vec<AllowedAddress> = List(Parsed(
            "networks, addresses or host names, such as [\"127.0.0.0/8\", \"::1\", \"intranet.example.org\"]",
            AllowedAddress::parse,
        )),
        /// Host patterns answered here instead of by DNS; see [`Fetch::resolve_override`].
        resolve: BTreeMap<String, SocketAddr> = Map {
            value: SOCKET,
            expected: "host patterns with an address each, such as { \"*.test\" = \"127.0.0.1:8080\" }",
            check_name: check_pattern,
        },
        /// Ports that may be connected to.
        ports: Vec<PortRange> = List(Ports),
        /// Kinds of content that are kept.
        content_types: Vec<MediaRange> = List(Parsed(
            "media types, such as [\"text/*\", \"application/pdf\"], or [\"*/*\"]",
            MediaRange::parse,
        )),
        /// Proxies by host pattern; see [`Fetch::proxy_for`].
        proxy: BTreeMap<String, Proxy> = Map {
            value: Through,
            expected: "host patterns with a proxy each, such as { \"*.example.org\" = \"http://10.0.0.1:3128\" }",
            check_name: check_pattern,
        },
        /// User names and passwords by host pattern; see [`Fetch::credentials_for`].
        authentication: BTreeMap<String, Credentials> = Map {
            value: Password,
            expected: "host patterns with a name and password each, such as { \"example.org\" = \"user:password\" }",
            check_name: check_pattern,
        },
        /// How long the addresses of a name hold.
        dns_ttl: Duration = Span(Duration::ZERO, DAY),
        /// How long it holds that a name has none.
        dns_negative_ttl: Duration = Span(Duration::ZERO, DAY),
        /// Most names remembered.
        dns_names: usize = Count::new(1, 10_000_000),
        /// Whether HTTP/2 is offered over TLS.
        http2: bool = Flag,
        /// Whether certificates are checked.
        tls_verify: bool = Flag,
        /// PEM file with further certificate authorities.
        extra_ca: Option<PathBuf> = Optional(Path("a file name, such as \"company-ca.pem\"")),
    }
}

const TIMEOUT: Span = Span(Duration::from_millis(1), HOUR);

fn check_pattern(pattern: &str) -> Result<(), String> {
    if is_host_pattern(pattern) { Ok(()) } else { Err(format!("{pattern:?} is not a host name or pattern")) }
}
