//! The section `[fetch]`.

use super::common::{HOUR, SOCKET};
use crate::fetch::AllowedAddress;
use crate::form::{Count, Flag, List, Map, Optional, Parsed, Password, Path, Ports, Size, Span, Through};
use crate::values::{Credentials, MediaRange, OriginPattern, PortRange, Proxy, is_host_pattern};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

section! {
    /// How pages are fetched.
    fetch: Fetch {
        /// Most open connections.
        connections: usize = Count::new(1, 1_000_000),
        /// Longest time to connect, including TLS.
        connect_timeout: Duration = TIMEOUT,
        /// Longest time for one request, including the body.
        total_timeout: Duration = TIMEOUT,
        /// Longest silence in the middle of a response.
        idle_timeout: Duration = TIMEOUT,
        /// Memory for bodies that are being read or wait for their commit or the detector, in bytes.
        memory: u64 = Size(1 << 20, 1 << 40),
        /// Longest unpacked body, in bytes.
        max_body: u64 = Size(1 << 10, 7 << 20),
        /// Longest body on the wire, in bytes before decompression.
        max_packed_body: u64 = Size(1 << 10, 1 << 30),
        /// Most unpacked bytes per received byte, beyond the first 64 KiB unpacked.
        max_pack_ratio: u64 = Count::new(2, 1_000_000),
        /// Redirects followed for one request.
        max_redirects: u32 = Count::new(0, 50),
        /// Longest response header, in bytes.
        max_header: u64 = Size(1 << 10, 1 << 24),
        /// Whether results carry the heads of requests and responses.
        record_heads: bool = Flag,
        /// Whether they carry the exchanges for robots.txt, and the bodies of redirects and errors.
        record_failures: bool = Flag,
        /// Private addresses that may be contacted; see [`Fetch::allows_private`].
        allow_private_addresses: Vec<AllowedAddress> = List(Parsed(
            "networks, addresses or host names, such as [\"127.0.0.0/8\", \"::1\", \"intranet.example.org\"]",
            AllowedAddress::parse,
        )),
        /// Networks that are never contacted; see [`Fetch::denies_address`].
        deny_addresses: Vec<AllowedAddress> = List(Parsed(
            "networks or addresses, such as [\"203.0.114.0/24\", \"2600:1f14::/32\"]",
            AllowedAddress::parse_network,
        )),
        /// Host patterns resolved here instead of by DNS; see [`Fetch::resolve_override`].
        resolve: BTreeMap<String, SocketAddr> = Map {
            value: SOCKET,
            expected: "an address for each host pattern, such as { \"*.test\" = \"127.0.0.1:8080\" }",
            check_name: check_pattern,
        },
        /// Ports that may be connected to.
        ports: Vec<PortRange> = List(Ports),
        /// Accepted media types.
        content_types: Vec<MediaRange> = List(Parsed(
            "media types, such as [\"text/*\", \"application/pdf\"], or [\"*/*\"]",
            MediaRange::parse,
        )),
        /// Proxies by host pattern; see [`Fetch::proxy_for`].
        proxy: BTreeMap<String, Proxy> = Map {
            value: Through,
            expected: "a proxy for each host pattern, such as { \"*.example.org\" = \"http://10.0.0.1:3128\" }",
            check_name: check_pattern,
        },
        /// Whether names that do not resolve here are left to a proxy, which may resolve them to private addresses.
        proxy_resolves_names: bool = Flag,
        /// User names and passwords by scheme, host pattern and port; see [`Fetch::credentials_for`].
        authentication: BTreeMap<String, Credentials> = Map {
            value: Password,
            expected: "a name and password for each host pattern, such as { \"example.org\" = \"user:password\" }",
            check_name: check_origin,
        },
        /// Whether HTTP/2 is offered over TLS.
        http2: bool = Flag,
        /// Whether certificates are checked.
        tls_verify: bool = Flag,
        /// The browser that renders pages whose rule asks for it. Absent: one on `PATH`.
        browser: Option<PathBuf> = Optional(Path("a program, such as \"/usr/bin/chromium-headless-shell\"")),
        /// Longest time that the browser may be at work on a page, without the time that its requests take.
        render_timeout: Duration = TIMEOUT,
        /// PEM file with additional certificate authorities.
        extra_ca: Option<PathBuf> = Optional(Path("a file name, such as \"company-ca.pem\"")),
    }
}

const TIMEOUT: Span = Span(Duration::from_millis(1), HOUR);

fn check_origin(name: &str) -> Result<(), String> {
    let why = || format!("{name:?} is not a host name or pattern, such as \"a.test\" or \"http://a.test:8080\"");
    OriginPattern::parse(name).map(drop).ok_or_else(why)
}

fn check_pattern(pattern: &str) -> Result<(), String> {
    if is_host_pattern(pattern) { Ok(()) } else { Err(format!("{pattern:?} is not a host name or pattern")) }
}
