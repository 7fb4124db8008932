//! Proxies that misbehave. The first request of a crawler to one is for a robots.txt.

use crate::hostile::script::{ReplyScript, ScriptStep, answer, head, page, raw, steps};
use crate::hostile::{Expect, Misbehaviour};

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// These bytes, and this step.
fn then(start: &[u8], step: ScriptStep) -> ReplyScript {
    steps(vec![ScriptStep::Send(start.to_vec()), step])
}

/// Answers to a request for a tunnel (CONNECT). Nothing is sent through one that is not secured.
fn tunnels() -> Vec<Misbehaviour> {
    let no_tunnel = Expect::none("connect_failed");
    let no_tls = Expect::none("tls_failed");
    let no_answer = Expect::none("robots_unavailable");
    let case = |name: &str, reply, expect: &Expect| {
        let case = Misbehaviour::new(format!("tunnel-{name}"), reply, expect.clone());
        let url = format!("https://{}.test/", case.name);
        case.url(url).asked_for_robots(0)
    };
    let endless = |start: &str, flood: &[u8]| then(start.as_bytes(), ScriptStep::Forever(flood.to_vec()));
    let password = "proxy-authenticate: Basic realm=\"give me your password\"\r\n";
    vec![
        case("refused", answer("403 Forbidden", ""), &no_tunnel),
        case("needs-a-password", answer("407 Proxy Authentication Required", password), &no_tunnel),
        case("limited", answer("429 Slow Down", "retry-after: 1000000000\r\n"), &no_tunnel),
        case("to-nobody", answer("502 Bad Gateway", ""), &no_tunnel),
        case("busy", answer("503 Busy", "retry-after: 1000000000\r\n"), &no_tunnel),
        case("elsewhere", answer("302 Found", "location: http://127.0.0.1/\r\n"), &no_tunnel),
        case("of-another-protocol", raw("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"), &no_tunnel),
        case("closed", steps(vec![]), &no_tunnel),
        case("reset", steps(vec![ScriptStep::Reset]), &no_tunnel),
        case("of-html", raw("<html>hello</html>"), &no_tunnel),
        case("of-mail", raw("220 mail.test ESMTP ready\r\n"), &no_tunnel),
        case("half-told", raw("HTTP/1.1 200 Conn"), &no_tunnel),
        case("half-told-then-silent", then(b"HTTP/1.1 200 Conn", ScriptStep::Hold), &no_answer).stalling(),
        case("silent", steps(vec![ScriptStep::Hold]), &no_answer).stalling(),
        case("of-headers", endless("HTTP/1.1 200 OK\r\n", &b"x-more: more\r\n".repeat(64)), &no_tunnel),
        case("of-a-header", endless("HTTP/1.1 200 OK\r\nx-more: ", &b"more".repeat(256)), &no_tunnel),
        case("of-early-hints", endless("", &b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(64)), &no_tunnel),
        case("refused-at-length", endless("HTTP/1.1 403 Forbidden\r\n\r\n", &b"x".repeat(8_192)), &no_tunnel),
        case("then-closed", raw(ESTABLISHED), &no_tls),
        case("then-reset", then(ESTABLISHED, ScriptStep::Reset), &no_tls),
        case("then-silent", then(ESTABLISHED, ScriptStep::Hold), &no_answer).stalling(),
        case("then-a-page", then(&[ESTABLISHED, &head(""), b"hello"].concat(), ScriptStep::Hold), &no_tls),
        case("with-a-body", page("", "hello"), &no_tls),
        case("with-chunks", raw([&head("transfer-encoding: chunked\r\n")[..], b"5\r\nhello\r\n"].concat()), &no_tls),
        case("then-a-flood", then(ESTABLISHED, ScriptStep::Forever(b"x".repeat(8_192))), &no_tls),
        // A handshake of the longest record, over and over.
        case(
            "then-a-flood-of-tls",
            then(ESTABLISHED, ScriptStep::Forever(b"\x16\x03\x03\x00\x00".repeat(1_000))),
            &no_tls,
        ),
    ]
}

/// Answers to a plain request, as the server's or the proxy's own.
fn plain() -> Vec<Misbehaviour> {
    let unavailable = Expect::none("robots_unavailable");
    let case = |name: &str, reply: ReplyScript, expect| {
        Misbehaviour::new(format!("proxy-{name}"), reply.clone(), expect).robots(reply)
    };
    vec![
        Misbehaviour::new("proxy-that-works", page("", "hello"), Expect::page(5)),
        case("refuses", answer("403 Forbidden", ""), Expect::answer("client_error", 403)),
        case("wants-a-password", answer("407 Proxy Authentication Required", ""), Expect::answer("client_error", 407)),
        case("finds-nobody", answer("502 Bad Gateway", ""), unavailable.clone()).asked(0),
        case("closes", steps(vec![]), unavailable.clone()).asked(0),
        case("talks-junk", raw("<html>hello</html>"), unavailable.clone()).asked(0),
        case("opens-a-tunnel-unasked", then(ESTABLISHED, ScriptStep::Hold), unavailable.clone()).asked(0).stalling(),
        case("hangs", steps(vec![ScriptStep::Hold]), unavailable).asked(0).stalling(),
    ]
}

/// Every misbehaviour of a proxy. A web of these is to be the proxy for all hosts.
pub fn proxy_misbehaviours() -> Vec<Misbehaviour> {
    tunnels().into_iter().chain(plain()).collect()
}
