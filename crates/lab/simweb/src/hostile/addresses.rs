//! Addresses outside the public web, in every spelling. A crawler must send nothing there.

use crate::hostile::script::page;
use crate::hostile::{Expect, Misbehaviour};

pub(super) fn cases() -> Vec<Misbehaviour> {
    // {port} is the hostile server's own, which would answer.
    let hosts = [
        ("loopback", "127.0.0.1:{port}"),
        ("loopback-elsewhere", "127.255.255.254:{port}"),
        ("loopback-short", "127.1:{port}"),
        ("loopback-decimal", "2130706433:{port}"),
        ("loopback-hexadecimal", "0x7f000001:{port}"),
        ("loopback-octal", "0177.0.0.01:{port}"),
        ("loopback-mixed", "0x7f.0.0.1:{port}"),
        ("loopback-dot-behind", "127.0.0.1.:{port}"),
        ("loopback-full-width", "\u{ff11}\u{ff12}\u{ff17}.0.0.1:{port}"),
        ("loopback-circled", "\u{2460}\u{2461}\u{2466}.0.0.1:{port}"),
        ("loopback-ideographic-dots", "127\u{3002}0\u{3002}0\u{3002}1:{port}"),
        ("loopback-percent", "%31%32%37.0.0.1:{port}"),
        ("loopback-6", "[::1]:{port}"),
        ("loopback-6-long", "[0:0:0:0:0:0:0:1]:{port}"),
        ("loopback-mapped", "[::ffff:127.0.0.1]:{port}"),
        ("loopback-mapped-hexadecimal", "[::ffff:7f00:1]:{port}"),
        ("loopback-compatible", "[::127.0.0.1]:{port}"),
        ("loopback-nat64", "[64:ff9b::7f00:1]:{port}"),
        ("loopback-6to4", "[2002:7f00:1::1]:{port}"),
        ("loopback-teredo", "[2001:0:7f00:1::]:{port}"),
        ("localhost", "localhost:{port}"),
        ("localhost-in-capitals", "LOCALHOST:{port}"),
        ("any", "0.0.0.0:{port}"),
        ("any-short", "0:{port}"),
        ("any-6", "[::]:{port}"),
        ("private-10", "10.0.0.1"),
        ("private-172", "172.31.255.255"),
        ("private-192", "192.168.1.1"),
        ("private-6", "[fd12:3456::1]"),
        ("carrier", "100.64.0.1"),
        ("metadata", "169.254.169.254"),
        ("azure-wire-server", "168.63.129.16"),
        ("link-local-6", "[fe80::1]"),
        ("benchmark", "198.18.0.1"),
        ("documentation", "192.0.2.1"),
        ("documentation-6", "[2001:db8::1]"),
        ("multicast", "224.0.0.1"),
        ("multicast-6", "[ff02::1]"),
        ("broadcast", "255.255.255.255"),
        ("reserved", "240.0.0.1"),
    ];
    let case = |(name, host)| {
        let refused = Expect::none("address_refused");
        let case = Misbehaviour::new(format!("address-{name}"), page("", "hello"), refused);
        case.url(format!("http://{host}/")).asked_for_robots(0).asked(0)
    };
    hosts.into_iter().map(case).collect()
}
