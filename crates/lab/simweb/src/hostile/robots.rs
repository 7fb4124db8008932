//! Malformed robots.txt files in front of a normal page.

use crate::hostile::script::{
    ReplyScript, ScriptStep, answer, answer_bytes, by_request, head, page, page_bytes, raw, steps,
};
use crate::hostile::{Expect, Misbehaviour};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const FIVE: Expect = Expect::page(5);
const FORBIDDEN: Expect = Expect::none("robots_disallowed");
const UNAVAILABLE: Expect = Expect::none("robots_unavailable");

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(body).and_then(|()| encoder.finish());
    packed.expect("memory takes all that is written")
}

fn to(location: &'static str) -> ReplyScript {
    by_request(move |asked| {
        let location = location.replace("{port}", &asked.port.to_string());
        vec![ScriptStep::Send(answer_bytes("302 Found", &format!("location: {location}\r\n")))]
    })
}

fn statuses(case: impl Fn(&str, ReplyScript, Expect) -> Misbehaviour) -> Vec<Misbehaviour> {
    vec![
        case("500", answer("500 Oops", ""), UNAVAILABLE),
        case("503", answer("503 Busy", "retry-after: 1000000000\r\n"), UNAVAILABLE),
        case("599", answer("599 What", ""), UNAVAILABLE),
        case("429", answer("429 Slow Down", ""), UNAVAILABLE),
        case("999", answer("999 Denied", ""), UNAVAILABLE),
        case("304-unasked", answer("304 Not Modified", ""), UNAVAILABLE),
        case("401", answer("401 Unauthorized", "www-authenticate: Basic realm=x\r\n"), FIVE),
        case("403", answer("403 Forbidden", ""), FIVE),
        case("410", answer("410 Gone", ""), FIVE),
        case("204", answer("204 No Content", ""), FIVE),
        case("no-http", raw("User-agent: *\nDisallow:\n"), UNAVAILABLE),
        case("no-bytes", steps(vec![]), UNAVAILABLE),
        case("reset", steps(vec![ScriptStep::Reset]), UNAVAILABLE),
        case("silent", steps(vec![ScriptStep::Hold]), UNAVAILABLE).stalling(),
        case("cut-off", raw([&head("content-length: 99\r\n")[..], b"User-agent: *\n"].concat()), UNAVAILABLE),
        case("loop", to("/robots.txt"), FIVE).asked_for_robots(6),
        case("to-file", to("file:///etc/passwd"), FIVE),
        case("to-loopback", to("http://127.0.0.1:{port}/robots.txt"), Expect::none("robots_unavailable")),
        case("to-no-tls", to("https://robots-to-no-tls.test/robots.txt"), Expect::none("tls_failed")),
    ]
}

fn files(case: impl Fn(&str, ReplyScript, Expect) -> Misbehaviour) -> Vec<Misbehaviour> {
    let file = |text: &str| page("", text);
    let line = "Disallow: /some/path/that/nobody/asks/for\n";
    let many = format!("User-agent: *\n{}", line.repeat((5 << 20) / line.len()));
    let groups: String = (0..20_000).map(|number| format!("User-agent: bot{number}\nDisallow: /\n")).collect();
    let endless = |first: &str| {
        let first = [&head("")[..], first.as_bytes()].concat();
        steps(vec![ScriptStep::Send(first), ScriptStep::Forever(b"Disallow: /elsewhere\n".repeat(200))])
    };
    let wide: Vec<u8> = "User-agent: *\nDisallow: /\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        case("of-5-mib", file(&many), FIVE),
        case("of-5-mib-forbidding-first", file(&many.replacen(line, "Disallow: /\n", 1)), FORBIDDEN),
        case("of-5-mib-forbidding-last", file(&format!("{many}Disallow: /\n")), FIVE),
        case("endless", endless("User-agent: *\n"), FIVE),
        case("endless-forbidding", endless("User-agent: *\nDisallow: /\n"), FORBIDDEN),
        case(
            "line-endless",
            steps(vec![
                ScriptStep::Send([&head("")[..], b"User-agent: "].concat()),
                ScriptStep::Forever(b"*".repeat(4_096)),
            ]),
            FIVE,
        ),
        case("is-html", page("", "<html><body>Disallow: nothing</body></html>"), FIVE),
        case("is-binary", page("", (0..=255).cycle().take(10_000).collect::<Vec<u8>>()), FIVE),
        case("is-utf-16", page("", wide), FIVE),
        case("of-nul-bytes", page("", vec![0; 10_000]), FIVE),
        case("empty", file(""), FIVE),
        case("mark-first", file("\u{feff}User-agent: *\nDisallow: /\n"), FORBIDDEN),
        case("carriage-returns-alone", file("User-agent: *\rDisallow: /\r"), FORBIDDEN),
        case("misspelt", file("useragent *\ndissallow: /\n"), FORBIDDEN),
        case("many-groups", file(&format!("{groups}User-agent: *\nDisallow:\n")), FIVE),
        // A backtracking matcher would take ages.
        case("wildcard-bomb", file(&format!("User-agent: *\nDisallow: /{}b\n", "*a".repeat(10_000))), FIVE)
            .url(format!("http://robots-wildcard-bomb.test/{}", "a".repeat(1_900))),
        case("wildcards-many", file(&format!("User-agent: *\n{}", "Disallow: /*a*a*a*a*a*b\n".repeat(5_000))), FIVE)
            .url(format!("http://robots-wildcards-many.test/{}", "a".repeat(500))),
        case("rule-of-400-kib", file(&format!("User-agent: *\nDisallow: /{}\n", "*".repeat(400_000))), FORBIDDEN),
        case("crawl-delay-10-to-the-9", file("User-agent: *\nCrawl-delay: 1000000000\n"), FIVE),
        case("crawl-delay-infinite", file("User-agent: *\nCrawl-delay: inf\n"), FIVE),
        case("crawl-delay-negative", file("User-agent: *\nCrawl-delay: -5\n"), FIVE),
        case("packed", page("content-encoding: gzip\r\n", gzip(b"User-agent: *\nDisallow: /\n")), FORBIDDEN),
        case("bomb", page("content-encoding: gzip\r\n", gzip(&vec![b'\n'; 10 << 20])), UNAVAILABLE),
        case("unknown-coding", page("content-encoding: x-klingon\r\n", "User-agent: *\nDisallow:\n"), FIVE),
        case("coding-that-is-not-read", page("content-encoding: compress\r\n", "\x1f\x1d\x10"), UNAVAILABLE),
    ]
}

/// A robots.txt that is elsewhere, or has crawlers ask for what another site forbids.
fn elsewhere() -> [Misbehaviour; 2] {
    let within = by_request(|asked| {
        vec![ScriptStep::Send(match asked.path.as_str() {
            "/rules" => page_bytes("", "User-agent: *\nDisallow: /\n"),
            _ => page_bytes("", "hello"),
        })]
    });
    let search = "robots-to-a-search.elsewhere.test";
    let amplifier = by_request(move |asked| {
        vec![ScriptStep::Send(if asked.head.contains(&format!("\r\nhost: {search}")) {
            page_bytes("", "User-agent: *\nDisallow: /search\n")
        } else {
            answer_bytes("302 Found", &format!("location: http://{search}/search?q=1\r\n"))
        })]
    });
    [
        Misbehaviour::new("robots-within-the-site", within, FORBIDDEN).robots(to("/rules")),
        Misbehaviour::new("robots-to-a-search", page("", "hello"), FIVE).robots(amplifier).asked_for_robots(2),
    ]
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    let case = |name: &str, robots: ReplyScript, expect: Expect| {
        let asked = usize::from(expect == FIVE);
        Misbehaviour::new(format!("robots-{name}"), page("", "hello"), expect).robots(robots).asked(asked)
    };
    statuses(case).into_iter().chain(files(case)).chain(elsewhere()).collect()
}
