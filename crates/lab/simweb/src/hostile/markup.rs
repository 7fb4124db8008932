//! Markup made to exhaust a parser, and traps made to exhaust a crawler. To the fetcher it is bytes.

use crate::hostile::script::{ScriptStep, by_request, head, page, page_bytes, raw, steps};
use crate::hostile::{Expect, Misbehaviour};

/// A whole page of this type.
fn whole(name: &str, content_type: &str, body: impl AsRef<[u8]>) -> Misbehaviour {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", body.len());
    Misbehaviour::new(name, raw([head.as_bytes(), body].concat()), Expect::page(body.len() as u64))
}

/// Elements sent at once.
const AT_ONCE: usize = 1_000;

/// A page that repeats an element many times.
fn long(name: &str, element: &str, times: usize) -> Misbehaviour {
    let elements = ScriptStep::Repeat(element.repeat(AT_ONCE).into_bytes(), times.div_ceil(AT_ONCE));
    let reply = steps(vec![ScriptStep::Send(head("")), elements]);
    Misbehaviour::new(name, reply, Expect::cut_page())
}

/// Ten times ten entities: 10⁹ laughs from less than a kilobyte.
fn entity_bomb() -> String {
    let levels = (1..10).map(|level| format!("<!ENTITY l{level} \"{}\">", format!("&l{};", level - 1).repeat(10)));
    format!("<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY l0 \"lol\">{}]><l>&l9;</l>", levels.collect::<String>())
}

pub(super) fn cases() -> Vec<Misbehaviour> {
    let html = |name: &str, body: String| whole(name, "text/html; charset=utf-8", body);
    let quadratic = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a \"{}\">]><l>{}</l>",
        "x".repeat(50_000),
        "&a;".repeat(20_000)
    );
    let outside = "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><l>&x;</l>";
    let next_day = by_request(|asked| {
        let day: u64 = asked.path.trim_start_matches("/calendar/").parse().unwrap_or(0);
        vec![ScriptStep::Send(page_bytes("", format!("<a href=\"/calendar/{}\">next day</a>", day + 1)))]
    });
    let session = by_request(|asked| {
        vec![ScriptStep::Send(page_bytes("", format!("<a href=\"{0}?session={0}\">home</a>", asked.path)))]
    });
    vec![
        long("divs-of-10-mib", "<div>", 2 << 20),
        long("links-a-million", "<a href=\"/x\">x</a>", 1_000_000),
        long("tables-nested", "<table><tr><td>", 100_000),
        long("fonts-misnested", "<font><p><b></font>", 100_000),
        long("ends-without-beginnings", "</div></p></a>", 100_000),
        long("brackets-alone", "<", 1 << 20),
        long("entities-alone", "&amp;&#x41;&nosuch;", 100_000),
        long("word-of-a-mib", "x", 1 << 20),
        html("tag-never-closed", format!("<p {}", "x".repeat(200_000))),
        html("comment-never-closed", format!("<p>seen</p><!-- {}", "x".repeat(200_000))),
        html("script-never-closed", format!("<p>seen</p><script>{}", "x < y;".repeat(30_000))),
        html("title-never-closed", format!("<title>{}", "<p>x".repeat(30_000))),
        html("attributes-30000", format!("<p {}>", (0..20_000).map(|n| format!("a{n} ")).collect::<String>())),
        html("attribute-of-200-kib", format!("<a href=\"{}\">x</a>", "x".repeat(200_000))),
        html("attributes-alike", format!("<p {}>", "id=x ".repeat(20_000))),
        html("base-elsewhere", "<base href=\"javascript:alert(1)//\"><a href=\"x\">x</a>".into()),
        html("base-inward", "<base href=\"http://127.0.0.1/\"><a href=\"x\">x</a>".into()),
        html("meta-refresh-inward", "<meta http-equiv=refresh content=\"0;url=http://127.0.0.1/\">".into()),
        html("meta-charset-lies", "<meta charset=utf-16><p>hello</p>".into()),
        html("marks-stacked", format!("<p>o{}</p>", "\u{300}".repeat(50_000))),
        html("directions-turned", format!("<p>{}</p>", "\u{202e}\u{2066}".repeat(20_000))),
        html("nothing-visible", "\u{200b}\u{feff}".repeat(20_000)),
        whole("calendar-without-a-browser", "text/calendar", "BEGIN:VCALENDAR\r\n".repeat(10_000)),
        Misbehaviour::new("calendar-trap", next_day, Expect::some_page()).url("http://calendar-trap.test/calendar/1"),
        Misbehaviour::new("session-trap", session, Expect::some_page()),
        Misbehaviour::new("soft-404", page("", "<h1>404 Not Found</h1>"), Expect::page(22)),
        whole("xml-entity-bomb", "application/xml", entity_bomb()),
        whole("xml-entity-quadratic", "application/xml", quadratic),
        whole("xml-entity-outside", "application/xml", outside),
        whole("xml-nested", "application/xml", "<a>".repeat(60_000)),
        whole("xml-cut-off", "application/rss+xml", "<rss><channel><item><title>x"),
        whole("svg-with-script", "image/svg+xml", "<svg><script>alert(1)</script></svg>"),
        whole("json-nested", "application/json", "[".repeat(200_000)),
        whole("json-number-of-100-kib", "application/json", "9".repeat(100_000)),
        whole("json-cut-off", "application/json", "{\"a\":\"\\ud800"),
        whole("pdf-without-pages", "application/pdf", "%PDF-1.7\n%%EOF"),
    ]
}
