//! Requests to the three doors: who is let in, what is taken, and what each answer means.

use daemon::pings::{MAX_PAGES, PingReply, PingRequest, Pings};
use messages::HintKind;
use page::{CanonicalUrl, DAY, HOUR, Timestamp};
use settings::{Layers, Settings};

const TOKEN: &str = "a-token-of-some-length";
const KEY: &str = "0123456789abcdef";
const SECRET: &str = "a-secret-of-some-length";
const TOPIC: &str = "https://feeds.test/news.xml";
const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

fn pings(further: &[(&str, &str)]) -> Option<Pings> {
    let overrides: Vec<_> = further.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Pings::new(&Settings::from_layers(Layers { files: &[], environment: [], overrides: &overrides }).unwrap())
}

fn all(further: &[(&str, &str)]) -> Pings {
    let indexnow = format!("{{ \"www.site.test\" = \"{KEY}\" }}");
    let (websub, secrets) = (format!("{{ news = \"{TOPIC}\" }}"), format!("{{ news = \"{SECRET}\" }}"));
    let doors: [(&str, &str); 4] = [
        ("hints.token", TOKEN),
        ("hints.indexnow", &indexnow),
        ("hints.websub", &websub),
        ("hints.websub_secrets", &secrets),
    ];
    pings(&[&doors, further].concat()).unwrap()
}

fn ask(pings: &Pings, method: &str, address: &str, header: (&str, &str), body: &str) -> PingReply {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    assert!(pings.serves(path), "{path}");
    let find = |name: &str| (name == header.0).then_some(header.1);
    pings.answer(&PingRequest { method, path, query, header: &find, body: body.as_bytes() }, NOW)
}

fn hints(reply: &PingReply) -> Vec<(&str, HintKind, Option<Timestamp>)> {
    reply.hints.iter().map(|hint| (hint.url.as_str(), hint.kind, hint.changed_at)).collect()
}

#[test]
fn doors_without_a_secret_are_shut() {
    assert!(pings(&[]).is_none());
    let only_token = pings(&[("hints.token", TOKEN)]).unwrap();
    assert!(only_token.serves("/hints") && !only_token.serves("/indexnow") && !only_token.serves("/websub/news"));
    assert!(!only_token.serves("/seeds") && !only_token.serves("/hints/"));
}

#[test]
fn an_operators_system_must_know_the_token() {
    let pings = all(&[]);
    let body = "{\"url\": \"http://a.test/\"}";
    for header in [
        ("authorization", "Bearer a-token-of-some-lengt"),
        ("authorization", "Bearer a-token-of-some-length-"),
        ("authorization", "Bearer"),
        ("authorization", "Basic a-token-of-some-length"),
        ("x-token", TOKEN),
    ] {
        let reply = ask(&pings, "POST", "/hints", header, body);
        assert_eq!((reply.status, reply.hints.len()), (401, 0), "{header:?}");
    }
    let reply = ask(&pings, "POST", "/hints", ("authorization", "bearer a-token-of-some-length"), body);
    assert_eq!((reply.status, hints(&reply)), (200, vec![("http://a.test/", HintKind::Ping, None)]));
    assert_eq!(ask(&pings, "GET", "/hints", ("authorization", TOKEN), "").status, 405);
    assert_eq!(ask(&pings, "DELETE", "/indexnow", ("authorization", TOKEN), "").status, 405);
}

fn operator(pings: &Pings, body: &str) -> PingReply {
    ask(pings, "POST", "/hints", ("authorization", &format!("Bearer {TOKEN}")), body)
}

#[test]
fn pages_come_as_an_object_an_array_or_line_by_line_and_what_is_wrong_is_named() {
    let pings = all(&[]);
    let hour = NOW - HOUR;
    let lines = format!(
        "{{\"url\": \"HTTP://A.test:80/x/../y?utm_source=z\", \"changed_at\": \"{hour}\"}}\n\
         {{\"url\": \"http://a.test/b\", \"changed_at\": {}}}\n\
         {{\"url\": \"no address\"}}\n{{\"changed_at\": 5}}\n{{\"url\": \"http://a.test/c\", \"changed_at\": \"soon\"}}\n\
         {{\"url\": \"http://a.test/d\", \"changed_at\": \"{}\"}}\n{{\"url\": \"http://a.test/e\", \"changed_at\": \"{}\"}}\n",
        hour.as_secs(),
        NOW + 3 * DAY,
        NOW + HOUR,
    );
    let reply = operator(&pings, &lines);
    assert_eq!(reply.status, 200);
    let expected = [("http://a.test/y", hour), ("http://a.test/b", hour), ("http://a.test/e", NOW)];
    assert_eq!(hints(&reply), expected.map(|(url, at)| (url, HintKind::Ping, Some(at))));
    let hint = &reply.hints[0];
    assert_eq!((hint.page_id, hint.hinted_at), (CanonicalUrl::parse("http://a.test/y").unwrap().page_id(), NOW));
    let reported: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!((&reported["taken"], &reported["refused"], reply.counts.refused), (&3.into(), &4.into(), 4));
    let reasons: Vec<_> =
        reported["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap()).collect();
    for (reason, start) in
        reasons.iter().zip(["3: no address", "4: missing field `url`", "5: changed_at", "6: changed_at"])
    {
        assert!(reason.starts_with(start), "{reason}");
    }
    assert_eq!(operator(&pings, "[{\"url\": \"http://a.test/\"}, {\"url\": \"http://b.test/\"}]").hints.len(), 2);
    assert_eq!(operator(&pings, "").hints.len(), 0);
}

#[test]
fn what_cannot_be_read_or_is_too_much_is_refused_as_a_whole() {
    let pings = all(&[("hints.pages_per_minute", "10000000")]);
    let reply = operator(&pings, "{\"url\": \"http://a.test/\"}\n{\"url\": ");
    assert_eq!((reply.status, reply.hints.len()), (400, 0));
    let many = "{\"url\":\"http://a.test/\"}\n".repeat(MAX_PAGES);
    assert_eq!(operator(&pings, &many).hints.len(), MAX_PAGES);
    let reply = operator(&pings, &format!("{many}{{\"url\":\"http://a.test/\"}}"));
    assert_eq!((reply.status, reply.hints.len()), (413, 0));
}

#[test]
fn each_sender_has_a_limit_of_its_own() {
    let pings = all(&[("hints.pages_per_minute", "2")]);
    let page = "{\"url\":\"http://a.test/\"}\n";
    let reply = operator(&pings, &page.repeat(3));
    assert_eq!((reply.status, reply.hints.len(), reply.counts.refused), (413, 0, 3), "more than ever fits");
    assert_eq!(operator(&pings, &page.repeat(2)).status, 200);
    let reply = operator(&pings, page);
    assert_eq!((reply.status, reply.hints.len()), (429, 0));
    assert_eq!(one("http://www.site.test/", KEY, &pings).status, 200, "another sender");
}

fn one(url: &str, key: &str, pings: &Pings) -> PingReply {
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair("url", url).append_pair("key", key).finish();
    ask(pings, "GET", &format!("/indexnow?{query}"), ("", ""), "")
}

#[test]
fn indexnow_takes_single_pages_of_hosts_whose_key_is_known() {
    let pings = all(&[]);
    let reply = one("http://www.site.test/a?x=ü&y", KEY, &pings);
    assert_eq!(reply.status, 200);
    assert_eq!(hints(&reply), [("http://www.site.test/a?x=%C3%BC&y", HintKind::Ping, None)]);
    assert_eq!(one("http://www.site.test/a", "0123456789abcdee", &pings).status, 403);
    assert_eq!(one("http://other.test/a", KEY, &pings).status, 403);
    assert_eq!(one("www.site.test", KEY, &pings).status, 400);
    assert_eq!(ask(&pings, "GET", "/indexnow?url=http://www.site.test/", ("", ""), "").status, 400);
}

#[test]
fn indexnow_takes_lists_of_one_host_whole_or_not_at_all() {
    let pings = all(&[("hints.pages_per_minute", "10000000")]);
    let post = |host: &str, key: &str, urls: &[&str]| {
        let body = serde_json::json!({ "host": host, "key": key, "keyLocation": "https://x/", "urlList": urls });
        ask(&pings, "POST", "/indexnow", ("content-type", "application/json; charset=utf-8"), &body.to_string())
    };
    let (a, b) = ("http://www.site.test/a", "https://www.site.test/b");
    let reply = post("WWW.site.test", KEY, &[a, b]);
    assert_eq!((reply.status, hints(&reply)), (200, vec![(a, HintKind::Ping, None), (b, HintKind::Ping, None)]));
    for (status, host, key, urls) in [
        (403, "www.site.test", "wrong-key", &[a][..]),
        (403, "other.test", KEY, &["http://other.test/"]),
        (422, "www.site.test", KEY, &[a, "http://site.test/"]),
        (422, "www.site.test", KEY, &[a, "no address"]),
        (422, "www.site.test", KEY, &[a; MAX_PAGES + 1]),
    ] {
        let reply = post(host, key, urls);
        assert_eq!((reply.status, reply.hints.len()), (status, 0), "{host} {key}");
    }
    assert_eq!(ask(&pings, "POST", "/indexnow", ("", ""), "{\"host\": 1}").status, 400);
}

#[test]
fn a_hub_is_reported_that_what_the_settings_name_is_wanted_and_nothing_else() {
    let pings = all(&[]);
    let verify = |name: &str, mode: &str, topic: &str| {
        let query = format!("hub.mode={mode}&hub.topic={topic}&hub.challenge=x%20y&hub.lease_seconds=864000");
        let reply = ask(&pings, "GET", &format!("/websub/{name}?{query}"), ("", ""), "");
        (reply.status, reply.body)
    };
    assert_eq!(verify("news", "subscribe", TOPIC), (200, "x y".to_owned()));
    assert_eq!(verify("news", "subscribe", "https://feeds.test/other.xml").0, 404);
    assert_eq!(verify("other", "subscribe", TOPIC).0, 404);
    assert_eq!(verify("news", "unsubscribe", TOPIC).0, 404);
    assert_eq!(verify("news", "denied", TOPIC), (200, String::new()));
    assert_eq!(ask(&pings, "GET", &format!("/websub/news?hub.topic={TOPIC}"), ("", ""), "").status, 400);
}

const FEED: &str = "<feed><entry><link href='/1'/><updated>2027-01-15T07:00:00Z</updated></entry>\
                    <entry><link href='https://www.feeds.test/2'/></entry>\
                    <entry><link href='https://elsewhere.test/3'/></entry></feed>";

/// Signatures of [`FEED`] with [`SECRET`], by Python's `hmac`.
const SIGNATURES: [&str; 4] = [
    "sha1=e8604a967b3abd6ad63a8cd93b6131396c192919",
    "sha256=dfe7ac43e6b5cbbe9c1f0fa89238ec08e08eb57c3c97435edd0dfe384f73b989",
    "sha384=09996e091b55fed685aaf7fdd028e6c7bccafc8fa38fe25e23f18d9e484e87374d34cdd33743b5028f1a570fdd56459c",
    "sha512=d9460279c410a4b4833ce5d6048bc007378c9de7e72034800b7afb0f3d6e8d5f0f9cbc58692a25250c2f4742776ab\
     57f4739151fb0c7159d257b90f96899e81f",
];

#[test]
fn a_signed_feed_hints_at_its_entries_and_itself() {
    let pings = all(&[]);
    for signature in SIGNATURES {
        let reply = ask(&pings, "POST", "/websub/news", ("x-hub-signature", signature), FEED);
        let dated = Timestamp::from_secs(1_799_996_400);
        let expected = [
            (TOPIC, HintKind::Websub, Some(NOW)),
            ("https://feeds.test/1", HintKind::Websub, Some(dated)),
            ("https://www.feeds.test/2", HintKind::Websub, None),
        ];
        assert_eq!((reply.status, hints(&reply)), (202, expected.to_vec()), "{signature}");
    }
}

#[test]
fn what_is_not_signed_as_it_should_be_is_ignored_and_the_sender_not_reported() {
    let pings = all(&[]);
    let good = ask(&pings, "POST", "/websub/news", ("x-hub-signature", SIGNATURES[1]), FEED);
    let short = &SIGNATURES[1][..SIGNATURES[1].len() - 2];
    for signature in [short, "sha256=", "sha256=zz", "md5=00", "", &SIGNATURES[1].replace("sha256", "sha1")] {
        let reply = ask(&pings, "POST", "/websub/news", ("x-hub-signature", signature), FEED);
        assert_eq!((reply.status, &reply.body), (good.status, &good.body), "{signature}");
        assert_eq!((reply.hints.len(), reply.counts.ignored), (0, 1), "{signature}");
    }
    let altered = ask(&pings, "POST", "/websub/news", ("x-hub-signature", SIGNATURES[1]), &FEED.replace('1', "4"));
    assert_eq!(altered.counts.ignored, 1);
    assert_eq!(ask(&pings, "POST", "/websub/gone", ("x-hub-signature", SIGNATURES[1]), FEED).status, 410);
}
