//! Decides which addresses belong to the public web. All others are refused unless the operator allows them by name. A
//! page must not be able to make the crawler talk to the machine it runs on, or to that machine's neighbours.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::LazyLock;

/// Whether an address is globally reachable. An address that embeds an IPv4 address (mapped, NAT64, 6to4) is judged by
/// the embedded address.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The IPv4 address that an address embeds and leads to: mapped, NAT64 or 6to4.
pub(crate) fn embedded(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(address) = address else { return None };
    let (high, low) = match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low),
        [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Some(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
}

/// Whether an interface of this machine has an address: then a socket can be bound to it. Services that trust this machine
/// listen there.
pub(crate) fn is_of_this_machine(address: IpAddr) -> bool {
    /// Some machines let sockets be bound to any address, of one family or of both. There binding says nothing.
    static BINDS_ANY_V4: LazyLock<bool> = LazyLock::new(|| can_bind(FOREIGN_V4));
    static BINDS_ANY_V6: LazyLock<bool> = LazyLock::new(|| can_bind(FOREIGN_V6));
    let address = address.to_canonical();
    let binds_any = if address.is_ipv4() { *BINDS_ANY_V4 } else { *BINDS_ANY_V6 };
    if binds_any { leads_back(address) } else { can_bind(address) }
}

/// Addresses of documentation (RFC 5737, RFC 3849), which no machine has.
const FOREIGN_V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const FOREIGN_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

fn can_bind(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// Whether packets to an address would leave from it. That holds for the first address of each interface. Nothing is sent.
fn leads_back(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let from = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    address.is_unspecified() || from.is_ok_and(|from| from.ip() == address)
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // IANA's special-purpose registry: the blocks that are not globally reachable.
    !(a == 0
        || a == 10
        || a == 127
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 169 && b == 254)
        || (a == 172 && (16..32).contains(&b))
        || (a == 192 && b == 168)
        || (a == 192 && b == 0 && (c == 0 || c == 2))
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        || (a == 198 && b == 51 && c == 100)
        || (a == 203 && b == 0 && c == 113)
        || serves_a_cloud(address))
}

/// Whether an address in public space serves only the machines of a cloud. Its answers are meant for the machine that asks.
fn serves_a_cloud(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    // Azure's wire server, which hands out credentials to the virtual machine that asks.
    address == Ipv4Addr::new(168, 63, 129, 16)
        // metadata.packet.net of Packet, later Equinix Metal. It sends a server its user data, without authentication.
        || address == Ipv4Addr::new(192, 80, 8, 124)
        // IBM Cloud's infrastructure services, and the private endpoints of its other services. The reference of its VPC
        // API lists both as reserved. They are reached over its private network only.
        || (a, b) == (161, 26)
        || (a == 166 && (8..12).contains(&b))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(embedded) = embedded(IpAddr::V6(address)) {
        return is_public(embedded);
    }
    match address.segments() {
        // Documentation, Teredo, benchmarking and other protocol assignments inside 2000::/3.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Only 2000::/3 is global unicast; loopback, unique local, link local and multicast lie outside.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_this_machine_are_known() {
        let check = |text: &str, expected| assert_eq!(is_of_this_machine(text.parse().unwrap()), expected, "{text}");
        check("127.0.0.1", true);
        check("::ffff:127.0.0.1", true);
        check("192.0.2.7", false);
        check("2001:db8::7", false);
        check("0.0.0.0", true);
        if can_bind(Ipv6Addr::LOCALHOST.into()) {
            check("::1", true);
            check("::", true);
        }
    }

    #[test]
    fn the_addresses_of_this_machine_are_known_where_any_can_be_bound() {
        let check = |text: &str, expected| assert_eq!(leads_back(text.parse().unwrap()), expected, "{text}");
        check("127.0.0.1", true);
        check("0.0.0.0", true);
        check("::", true);
        check("192.0.2.7", false);
        check("2001:db8::7", false);
        if can_bind(Ipv6Addr::LOCALHOST.into()) {
            check("::1", true);
        }
    }

    #[test]
    fn only_addresses_of_the_public_web_are_public() {
        let check = |text: &str, expected| assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "161.25.0.1",
            "161.27.0.1",
            "166.7.255.255",
            "166.12.0.1",
            "192.80.8.123",
            "2606:4700::1111",
        ] {
            check(address, true);
        }
        for address in [
            "0.0.0.0",
            "127.0.0.1",
            "127.8.9.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.2.1",
            "168.63.129.16",
            "::ffff:168.63.129.16",
            "192.80.8.124",
            "161.26.0.1",
            "166.8.0.1",
            "166.11.255.255",
            "64:ff9b::a11a:1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001::1",
            "::127.0.0.1",
        ] {
            check(address, false);
        }
        check("::ffff:1.1.1.1", true);
        check("64:ff9b::101:101", true);
    }
}
