use super::*;
use proptest::prelude::*;

#[test]
fn an_address_has_one_spelling() {
    let check = |text: &str, expected: &str| {
        let url = CanonicalUrl::parse(text).unwrap();
        assert_eq!((url.as_str(), CanonicalUrl::parse(expected)), (expected, Ok(url.clone())), "{text}");
    };
    check("HTTP://Example.ORG:80/a/../b?x=1#top", "http://example.org/b?x=1");
    check(" https://user:secret@example.org ", "https://example.org/");
    check("http://127.0.0.1:8080", "http://127.0.0.1:8080/");
    check("https://bücher.example/", "https://xn--bcher-kva.example/");
    check("http://example.org.?", "http://example.org/");
    check("http://Example.org../", "http://example.org/");
    check("http://0x7f.1../", "http://127.0.0.1/");
    check("http://example.org/%7euser/%c3%bc%2F?a=%5a", "http://example.org/~user/%C3%BC%2F?a=Z");
}

#[test]
fn an_address_is_taken_apart() {
    let check = |text: &str, name: &str, port: u16, path: &str, query: Option<&str>| {
        let url = CanonicalUrl::parse(text).unwrap();
        assert_eq!((url.host_name(), url.port(), url.path(), url.query()), (name, port, path, query), "{text}");
    };
    check("https://example.org/a/b?c=/d?e", "example.org", 443, "/a/b", Some("c=/d?e"));
    check("http://example.org", "example.org", 80, "/", None);
    check("http://[::1]:8080/x", "::1", 8080, "/x", None);
    check("https://[::ffff:7f00:1]", "::ffff:7f00:1", 443, "/", None);
    // All notations of an IPv4 address are the same address.
    for text in ["http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/", "http://①27.0.0.1/"] {
        assert_eq!(CanonicalUrl::parse(text).unwrap().host_address(), Some([127, 0, 0, 1].into()), "{text}");
    }
    assert_eq!(CanonicalUrl::parse("http://a.test/").unwrap().host_address(), None);
}

#[test]
fn what_cannot_be_crawled_says_why() {
    let check = |text: &str, part: &str| {
        let message = CanonicalUrl::parse(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    };
    check("ftp://example.org/", "only http and https");
    check("example.org", "not a URL");
    check("http://example.org..2./", "not a URL");
    check("http://../", "no host");
    check("mailto:a@example.org", "scheme \"mailto\"");
    check(&format!("http://example.org/{}", "a".repeat(3_000)), "at most 2048");
}

#[test]
fn host_and_site_follow_the_public_suffix_list() {
    let check = |text: &str, host: &str, site: &str| {
        let url = CanonicalUrl::parse(text).unwrap();
        assert_eq!((url.host().as_str(), url.site_key().as_str()), (host, site), "{text}");
        assert_eq!((url.host().name(), url.host().site_key()), (HostName::of(&url), url.site_key()), "{text}");
    };
    check("https://www.example.co.uk/x", "www.example.co.uk", "example.co.uk");
    check("https://someone.github.io:8443/", "someone.github.io:8443", "someone.github.io");
    check("http://127.0.0.1:9/", "127.0.0.1:9", "127.0.0.1");
    check("http://[::1]:9/", "[::1]:9", "[::1]");
    check("http://localhost/", "localhost", "localhost");
    check("http://a.b.test/", "a.b.test", "b.test");
}

#[test]
fn a_host_has_one_name_whatever_scheme_and_port() {
    let name = |text: &str| HostName::of(&CanonicalUrl::parse(text).unwrap()).to_string();
    for text in ["http://a.test/", "https://a.test/x", "http://A.test.:8080/", "https://a.test:1/"] {
        assert_eq!(name(text), "a.test", "{text}");
    }
    assert_eq!([name("http://[::1]:9/"), name("https://[::1]/")], ["::1", "::1"]);
    assert_eq!(name("http://127.0.0.1:9/"), "127.0.0.1");
}

#[test]
fn a_page_id_is_pinned_and_round_trips() {
    let id = CanonicalUrl::parse("https://example.org/").unwrap().page_id();
    assert_eq!(id.to_string(), "4854567ae92fe62dc4b00756efcac36f");
    assert_eq!(id.to_string().parse(), Ok(id));
    assert!("xyz".parse::<PageId>().is_err());
}

proptest! {
    #[test]
    fn canonical_form_is_a_fixed_point(path in "([a-zA-Z0-9/._?=&%^|-]|%[0-9a-fA-F]{2}|[à-ü]){0,60}") {
        if let Ok(url) = CanonicalUrl::parse(&format!("http://Example.org/{path}")) {
            prop_assert_eq!(CanonicalUrl::parse(url.as_str()).unwrap(), url);
        }
    }
}

#[test]
fn a_host_is_below_another_by_whole_labels() {
    let check = |host: &str, other: &str, expected: bool| {
        let is_below = HostName::from_name(host).is_at_or_below(&HostName::from_name(other));
        assert_eq!(is_below, expected, "{host} {other}");
    };
    check("example.org", "example.org", true);
    check("www.example.org", "example.org", true);
    check("a.b.example.org", "b.example.org", true);
    check("notexample.org", "example.org", false);
    check("example.org", "www.example.org", false);
}
