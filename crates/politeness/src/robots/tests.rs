//! Groups, rules and the text of robots.txt.

use super::*;
use proptest::prelude::*;

const EXAMPLE: &str = "\u{feff}# shop\nUser-agent: *\nDisallow: /cart\nCrawl-delay: 2.5\n\nuser-agent: ExampleBot\r\n\
    USERAGENT: otherbot\rDisalow: /private # ours\nAllow: /private/open\nSitemap: https://a.test/s.xml\n\n\
    User-agent: examplebot/2.0\nDisallow /tmp\n";

#[test]
fn half_a_byte_order_mark_hides_no_rule() {
    let mark = b"\xef\xbb\xbf";
    for length in 0..=mark.len() {
        let robots = RobotsFile::parse(&[&mark[..length], b"User-agent: *\nDisallow: /"].concat());
        assert!(!robots.check("SomeBot", "/").allowed, "{length} bytes of the mark");
    }
}

#[test]
fn the_longest_matching_rule_of_all_groups_for_the_crawler_decides() {
    let robots = RobotsFile::parse(EXAMPLE.as_bytes());
    let check = |agent, path, allowed, line| {
        let verdict = robots.check(agent, path);
        assert_eq!((verdict.allowed, verdict.line), (allowed, line), "{agent} {path}");
    };
    check("SomeBot", "/cart/1", false, Some(3));
    check("SomeBot", "/private", true, None);
    check("ExampleBot", "/cart/1", true, None);
    check("examplebot", "/private/x", false, Some(8));
    check("ExampleBot", "/private/open", true, Some(9));
    check("ExampleBot", "/tmp/1", false, Some(13));
    check("OtherBot", "/tmp/1", true, None);
    assert_eq!(robots.check("ExampleBot", "/private").rule, Some("/private"));
}

#[test]
fn crawl_delay_belongs_to_a_group_and_sitemaps_to_the_file() {
    let robots = RobotsFile::parse(EXAMPLE.as_bytes());
    assert_eq!(robots.crawl_delay("SomeBot"), Some(Duration::from_millis(2_500)));
    assert_eq!(robots.crawl_delay("ExampleBot"), None);
    assert_eq!(robots.sitemaps(), ["https://a.test/s.xml"]);
    for nonsense in ["-1", "NaN", "inf", "soon", ""] {
        let file = format!("User-agent: *\nCrawl-delay: {nonsense}\n");
        assert_eq!(RobotsFile::parse(file.as_bytes()).crawl_delay("x"), None, "{nonsense}");
    }
}

#[test]
fn allow_wins_a_tie_and_robots_txt_itself_is_always_allowed() {
    let robots = RobotsFile::parse(b"User-agent: *\nDisallow: /a\nAllow: /a\nDisallow: /\n");
    assert!(robots.check("x", "/a").allowed);
    assert!(!robots.check("x", "").allowed);
    assert!(robots.check("x", "/robots.txt").allowed);
}

#[test]
fn a_rule_cut_off_at_the_size_limit_does_not_bind() {
    let mut file = b"User-agent: *\n".to_vec();
    file.resize(MAX_ROBOTS_BYTES - "Disallow: /".len(), b'#');
    file.splice(file.len() - 1.., *b"\n");
    file.extend_from_slice(b"Disallow: /private\n");
    assert!(RobotsFile::parse(&file).check("x", "/public").allowed);
}

/// Lines that are nearly right, with bytes that are no UTF-8 among them.
fn robots_like() -> impl Strategy<Value = Vec<u8>> {
    let key = prop::sample::select(vec!["User-agent", "Allow", "Disallow", "Crawl-delay", "Sitemap", "Host", "#"]);
    let value =
        prop_oneof!["[ab*]", "/[a%c3x*.$# ]{0,6}", "/index.html?", "[0-9]{1,3}(\\.[0-9]{1,3})?", Just(String::new()),];
    let raw = prop::collection::vec(prop::sample::select(vec![0xc3, 0xfc, b'/', 0x80]), 0..3);
    let line = (key, value, raw)
        .prop_map(|(key, value, raw)| [key.as_bytes(), b": ", value.as_bytes(), raw.as_slice(), b"\n"].concat());
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_a_robots_file(bytes in proptest::collection::vec(any::<u8>(), 0..300), path in ".{0,20}") {
        let _ = RobotsFile::parse(&bytes).check("x", &path);
    }

    #[test]
    fn a_file_written_again_says_the_same(file in robots_like(), path in "/[a%c3x*.]{0,6}") {
        let robots = RobotsFile::parse(&file);
        let again = RobotsFile::parse(robots.to_text().as_bytes());
        prop_assert_eq!(again.to_text(), robots.to_text());
        prop_assert_eq!(again.sitemaps(), robots.sitemaps());
        for agent in ["a", "b", "other"] {
            prop_assert_eq!(again.crawl_delay(agent), robots.crawl_delay(agent));
            let (one, other) = (again.check(agent, &path), robots.check(agent, &path));
            prop_assert_eq!(one.allowed, other.allowed, "{} for {}", path, agent);
        }
    }

    #[test]
    fn any_lines_are_a_robots_file(
        lines in proptest::collection::vec("(user-agent|allow|disallow|crawl-delay)[: ]{1,2}[*/a$%2]{0,6}", 0..20)
    ) {
        let _ = RobotsFile::parse(lines.join("\n").as_bytes()).check("a", "/a2%2a");
    }
}
