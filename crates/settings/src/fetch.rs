//! Exceptions for private addresses, and overrides of DNS.

use crate::sections::Fetch;
use crate::sites::for_host;
use crate::values::is_host_name;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// An exception to the rule that private addresses are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedAddress {
    /// A network such as `127.0.0.0/8`. A single address is a network with its full length as prefix.
    Network {
        /// Any address of the network.
        address: IpAddr,
        /// Prefix length, 0–32 or 0–128.
        prefix_bits: u8,
    },
    /// Any address that this host name resolves to. In lower case.
    Host(String),
}

impl AllowedAddress {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Network { address, prefix_bits: bits(address) });
        }
        if let Some((address, prefix)) = text.split_once('/') {
            let (address, prefix_bits) = (address.parse().ok()?, prefix.parse().ok()?);
            return (prefix_bits <= bits(address)).then_some(Self::Network { address, prefix_bits });
        }
        is_host_name(text).then(|| Self::Host(text.to_ascii_lowercase()))
    }

    pub(crate) fn parse_network(text: &str) -> Option<Self> {
        Self::parse(text).filter(|address| matches!(address, Self::Network { .. }))
    }

    fn permits(&self, host: &str, address: IpAddr) -> bool {
        match self {
            Self::Host(name) => name.eq_ignore_ascii_case(host),
            Self::Network { address: network, prefix_bits } => match (network, address) {
                (IpAddr::V4(network), IpAddr::V4(address)) => {
                    let differing = u32::from(*network) ^ u32::from(address);
                    differing.leading_zeros() >= u32::from(*prefix_bits)
                }
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    let differing = u128::from(*network) ^ u128::from(address);
                    differing.leading_zeros() >= u32::from(*prefix_bits)
                }
                _ => false,
            },
        }
    }
}

/// The operator's notation: `127.0.0.0/8`, `::1`, `intranet.example.org`.
impl fmt::Display for AllowedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(name) => f.write_str(name),
            Self::Network { address, prefix_bits } if *prefix_bits == bits(*address) => write!(f, "{address}"),
            Self::Network { address, prefix_bits } => write!(f, "{address}/{prefix_bits}"),
        }
    }
}

impl Fetch {
    /// Whether a private `address` may be contacted. `host` (name without port) resolved to it.
    pub fn allows_private(&self, host: &str, address: IpAddr) -> bool {
        self.allow_private_addresses.iter().any(|allowed| allowed.permits(host, address.to_canonical()))
    }

    /// Whether an address must not be contacted, although it may be public or allowed.
    pub fn denies_address(&self, address: IpAddr) -> bool {
        self.deny_addresses.iter().any(|denied| denied.permits("", address.to_canonical()))
    }

    /// Allows the private addresses of a host: those that its name resolves to, or the one that it is.
    pub fn allow_private_host(&mut self, host: &str) {
        let allowed = AllowedAddress::parse(host.trim_matches(['[', ']']));
        self.allow_private_addresses.extend(allowed);
    }

    /// The address configured for `host` (name without port), which replaces DNS. An exact entry wins over patterns,
    /// and the longest matching pattern over shorter ones. `*.test` matches `a.test` and `a.b.test`, not `test`; `*`
    /// matches everything.
    pub fn resolve_override(&self, host: &str) -> Option<SocketAddr> {
        for_host(&self.resolve, host).copied()
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn networks_are_denied_and_names_cannot_be() {
        let deny_addresses =
            ["203.0.114.0/24", "2600:1f14::/32"].map(|text| AllowedAddress::parse_network(text).unwrap());
        let fetch = Fetch { deny_addresses: deny_addresses.to_vec(), ..Settings::default().fetch };
        let check =
            |address: &str, expected| assert_eq!(fetch.denies_address(address.parse().unwrap()), expected, "{address}");
        check("203.0.114.7", true);
        check("::ffff:203.0.114.7", true);
        check("203.0.115.7", false);
        check("2600:1f14::1", true);
        check("2600:1f15::1", false);
        assert_eq!(AllowedAddress::parse_network("intranet.example.org"), None);
    }

    #[test]
    fn an_exception_permits_what_it_names_and_nothing_else() {
        let check = |rule: &str, host: &str, address: &str, expected: bool| {
            let fetch = Fetch {
                allow_private_addresses: vec![AllowedAddress::parse(rule).unwrap()],
                ..Settings::default().fetch
            };
            assert_eq!(fetch.allows_private(host, address.parse().unwrap()), expected, "{rule} {host} {address}");
        };
        check("127.0.0.0/8", "x", "127.9.9.9", true);
        check("127.0.0.0/8", "x", "::ffff:127.0.0.1", true);
        check("127.0.0.0/8", "x", "128.0.0.1", false);
        check("127.0.0.0/8", "x", "::1", false);
        check("10.1.2.3", "x", "10.1.2.3", true);
        check("10.1.2.3", "x", "10.1.2.4", false);
        check("::1", "x", "::1", true);
        check("fd00::/8", "x", "fd12::1", true);
        check("0.0.0.0/0", "x", "192.168.1.1", true);
        check("Intranet.example.org", "intranet.EXAMPLE.org", "10.0.0.1", true);
        check("intranet.example.org", "www.intranet.example.org", "10.0.0.1", false);
        for wrong in ["", "127.0.0", "10.0.0.0/33", "::/129", "a b", "http://x", "*.test", "a/8"] {
            assert_eq!(AllowedAddress::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_most_particular_pattern_resolves_a_name() {
        let resolve = [("*", 1), ("*.test", 2), ("*.b.test", 3), ("a.b.test", 4)];
        let address = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let resolve = resolve.map(|(pattern, port)| (pattern.to_owned(), address(port))).into();
        let fetch = Fetch { resolve, ..Settings::default().fetch };
        let check = |host: &str, port| assert_eq!(fetch.resolve_override(host), Some(address(port)), "{host}");
        check("example.org", 1);
        check("test", 1);
        check("a.test", 2);
        check("x.b.test", 3);
        check("A.B.test", 4);
        assert_eq!(Settings::default().fetch.resolve_override("a.test"), None);
    }
}
